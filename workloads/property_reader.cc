#include "keyway/workloads/property_reader.h"

#include <charconv>
#include <fstream>

namespace keyway::workloads {
namespace {

template <class T>
bool parse_all(std::string_view text, T& out) {
  const auto end = std::from_chars(text.data(), text.data() + text.size(), out);
  return end.ec == std::errc() && end.ptr == text.data() + text.size();
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\f";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

void PropertyReader::refuse_unknown() {
  for (const auto& [name, entry] : properties_.entries()) {
    const std::string_view nearest = nearest_property(name);
    if (nearest == name) continue;
    fail(
        fmt::format("{}: unknown property '{}': did you mean '{}'? (kvload --properties lists all)",
                    entry.origin, name, nearest));
  }
}

void PropertyReader::text(std::string_view name, std::string& out) const {
  if (const auto* entry = properties_.find(name)) out = trimmed(entry->value);
}

void PropertyReader::flag(std::string_view name, bool& out) {
  choice(name, out, {{"true", true}, {"false", false}});
}

void PropertyReader::real(std::string_view name, double& out, double least, double most) {
  const auto* entry = properties_.find(name);
  if (entry == nullptr) return;
  double value = 0;
  if (!parse_all(trimmed(entry->value), value) || !(value >= least && value <= most)) {
    fail(fmt::format("{}: {}={} is out of range: set a number from {} to {}", entry->origin, name,
                     entry->value, least, most));
    return;
  }
  out = value;
}

void PropertyReader::number(std::string_view name, std::uint64_t& out, std::uint64_t least,
                            std::uint64_t most) {
  const auto* entry = properties_.find(name);
  if (entry == nullptr) return;
  std::uint64_t value = 0;
  if (!parse_all(trimmed(entry->value), value) || value < least || value > most) {
    fail(fmt::format("{}: {}={} is out of range: set a whole number from {} to {}", entry->origin,
                     name, entry->value, least, most));
    return;
  }
  out = value;
}

void PropertyReader::histogram(const std::string& path, LengthSpec& out) {
  std::ifstream file(path);
  const auto error_at = [&](std::size_t line, std::string_view what) {
    fail(fmt::format("fieldlengthhistogram={}: line {} {}", path, line, what));
  };
  std::string line;
  if (!file || !std::getline(file, line)) {
    fail(fmt::format("cannot read fieldlengthhistogram={}: give the path of a histogram file",
                     path));
    return;
  }
  constexpr std::string_view kHead = "BlockSize\t";
  if (!line.starts_with(kHead) ||
      !parse_all(trimmed(std::string_view(line).substr(kHead.size())), out.block) ||
      out.block == 0) {
    return error_at(1, "must be \"BlockSize\", a tab and the bytes of a block, at least 1");
  }
  constexpr std::uint64_t kMaxBuckets = 1 << 20;
  std::uint64_t sum = 0;
  for (std::size_t number = 2; std::getline(file, line); ++number) {
    if (trimmed(line).empty()) continue;
    const std::size_t tab = line.find('\t');
    std::uint64_t bucket = 0;
    std::uint64_t weight = 0;
    if (tab == std::string::npos || !parse_all(std::string_view(line).substr(0, tab), bucket) ||
        !parse_all(trimmed(std::string_view(line).substr(tab + 1)), weight) ||
        bucket >= kMaxBuckets || weight > (std::uint64_t{1} << 40)) {
      return error_at(number, "must be a bucket's number, a tab and its weight");
    }
    if (bucket >= out.weights.size()) out.weights.resize(bucket + 1);
    out.weights[bucket] = weight;
    sum += weight;
  }
  if (sum == 0) return error_at(2, "or a later one must give some bucket a weight");
  while (out.weights.back() == 0) out.weights.pop_back();
  out.min = out.block;
  out.max = out.block * out.weights.size();
}

}  // namespace keyway::workloads
