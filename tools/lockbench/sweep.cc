#include "sweep.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "invalid_argument.h"

namespace keyway::lockbench {
namespace {

constexpr std::size_t kMaxPoints = 100'000;

std::vector<std::string> split(std::string_view text) {
  const char separator = text.find(';') != std::string_view::npos ? ';' : ',';
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<double> number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Continues `values`, the last of which are the numbers `known`, up to `last`; false if `last` is
/// missed.
bool go_on(std::vector<std::string>& values, const std::vector<double>& known, double last) {
  const std::size_t n = known.size();
  const double step = known[n - 1] - known[n - 2];
  const double factor = known[n - 1] / known[n - 2];
  const bool by_factor = n >= 3 && std::abs(known[n - 2] / known[n - 3] - factor) < 1e-9 &&
                         std::abs(known[n - 2] - known[n - 3] - step) > 1e-9;
  double at = known[n - 1];
  while (values.size() < kMaxPoints) {
    const double next = by_factor ? at * factor : at + step;
    const double slack = 1e-9 * std::max(1.0, std::abs(last));
    if (!std::isfinite(next) || next == at || (next - last) * (next - at) > slack) return false;
    at = std::abs(next - last) <= slack ? last : next;
    values.push_back(fmt::format("{:.12g}", at));
    if (at == last) return true;
  }
  return false;
}

struct Sweep {
  std::string name;
  std::vector<std::string> values;
};

Result<std::vector<Sweep>> read_sweeps(const std::vector<std::string>& texts) {
  std::vector<Sweep> sweeps;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return invalid_argument(
          fmt::format("--sweep {} is malformed: write --sweep NAME=VALUES", text));
    }
    auto values = expand_values(text.substr(equals + 1));
    if (!values.ok()) return values.status();
    Sweep sweep{text.substr(0, equals), std::move(*values)};
    const auto same = std::find_if(sweeps.begin(), sweeps.end(),
                                   [&](const Sweep& s) { return s.name == sweep.name; });
    if (same != sweeps.end()) {
      *same = std::move(sweep);
    } else {
      sweeps.push_back(std::move(sweep));
    }
  }
  return sweeps;
}

/// The word that sets a value other than the lock and its levers.
Result<std::string> word_for(const std::string& name, const std::string& value) {
  static const std::vector<std::string> not_of_a_run = {"sweep", "json", "csv", "jobs", "set"};
  if (name.find('.') != std::string::npos) return fmt::format("--set={}={}", name, value);
  const std::string option = name == "P" ? "ranks" : name == "F_W" ? "fw" : name;
  static const std::vector<std::string> known = option_names();
  const auto among = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), option) != names.end();
  };
  if (!among(known) || among(not_of_a_run)) {
    return invalid_argument(
        fmt::format("--sweep {} is not known: give P, F_W, an option of a run, "
                    "lock.LEVER or a parameter of the machine",
                    name));
  }
  return fmt::format("--{}={}", option, value);
}

/// `run` with the point's values. The lock comes first, because its text continues with the levers.
Result<RunOptions> changed(RunOptions run, const Point& point) {
  for (const auto& [name, value] : point.values) {
    if (name == "lock") run.lock = value;
  }
  std::vector<std::string> more;
  for (const auto& [name, value] : point.values) {
    if (name.starts_with("lock.")) {
      const char join = run.lock.find(':') == std::string::npos ? ':' : ',';
      run.lock += fmt::format("{}{}={}", join, name.substr(5), value);
    } else if (name != "lock") {
      auto word = word_for(name, value);
      if (!word.ok()) return word.status();
      more.push_back(std::move(*word));
    }
  }
  std::vector<std::string> words = words_of(run);
  words.insert(words.end(), more.begin(), more.end());
  Parsed parsed = parse_words(words);
  if (!parsed.options) return invalid_argument(std::move(parsed.error));
  return std::move(parsed.options->run);
}

}  // namespace

std::string Point::name() const {
  std::string text;
  for (const auto& [name, value] : values) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

Result<std::vector<std::string>> expand_values(std::string_view text) {
  std::vector<std::string> values;
  std::vector<double> known;  // the numbers so far, while all are numbers
  const std::vector<std::string> parts = split(text);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty())
      return invalid_argument(fmt::format("--sweep: '{}' has an empty value", text));
    if (parts[i] != "...") {
      values.push_back(parts[i]);
      if (const auto value = number(parts[i])) known.push_back(*value);
      continue;
    }
    const auto last = i + 1 < parts.size() ? number(parts[i + 1]) : std::nullopt;
    if (known.size() < 2 || known.size() != values.size() || !last) {
      return invalid_argument(
          fmt::format("--sweep: '...' in '{}' stands between numbers, two before it and "
                      "one after, as in 8,16,32,...,1024",
                      text));
    }
    if (!go_on(values, known, *last)) {
      return invalid_argument(fmt::format(
          "--sweep: '{}' does not reach {} in the steps that it begins with", text, parts[i + 1]));
    }
    known.push_back(*last);
    ++i;
  }
  return values;
}

Result<std::vector<Point>> expand_grid(const Options& options) {
  const auto sweeps = read_sweeps(options.sweeps);
  if (!sweeps.ok()) return sweeps.status();
  std::vector<Point> points{{options.run, {}}};
  for (const Sweep& sweep : *sweeps) {
    if (points.size() * sweep.values.size() > kMaxPoints) {
      return invalid_argument(
          fmt::format("the sweeps make more than {} runs: give fewer values", kMaxPoints));
    }
    std::vector<Point> finer;
    for (const Point& point : points) {
      for (const std::string& value : sweep.values) {
        finer.push_back(point);
        finer.back().values.emplace_back(sweep.name, value);
      }
    }
    points = std::move(finer);
  }
  for (Point& point : points) {
    if (point.values.empty()) continue;
    auto run = changed(point.run, point);
    if (!run.ok()) return run.status();
    point.run = std::move(*run);
  }
  return points;
}

}  // namespace keyway::lockbench
