#include "spec.h"

// As machine_file.cc: one form of the library in a program.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "options.h"

namespace keyway::lockbench {
namespace {

/// One value as an option's words; false when it has no such form.
bool append_value(const std::string& name, const toml::node& value,
                  std::vector<std::string>& words) {
  if (const auto* text = value.as_string()) {
    words.push_back(fmt::format("--{}={}", name, text->get()));
  } else if (const auto* whole = value.as_integer()) {
    words.push_back(fmt::format("--{}={}", name, whole->get()));
  } else if (const auto* real = value.as_floating_point()) {
    words.push_back(fmt::format("--{}={}", name, real->get()));
  } else if (const auto* flag = value.as_boolean()) {
    if (flag->get()) words.push_back("--" + name);
  } else {
    return false;
  }
  return true;
}

}  // namespace

Result<std::vector<std::string>> parse_spec(const std::string& text, const std::string& origin) {
  const auto error_at = [&](const toml::source_region& where, const std::string& sentence) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}:{}: {}", origin, where.begin.line, sentence));
  };
  const toml::parse_result parsed = toml::parse(text, origin);
  if (!parsed) {
    return error_at(parsed.error().source(), fmt::format("{}; see lockbench --help for the options",
                                                         parsed.error().description()));
  }
  const std::vector<std::string> known = option_names();
  std::vector<std::string> words;
  for (const auto& [key, value] : parsed.table()) {
    const std::string name(key.str());
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return error_at(value.source(), fmt::format("there is no option '{}'; choose among {}", name,
                                                  fmt::join(known, ", ")));
    }
    bool understood = true;
    if (const auto* list = value.as_array()) {
      for (const toml::node& one : *list) understood = understood && append_value(name, one, words);
    } else {
      understood = append_value(name, value, words);
    }
    if (!understood) {
      return error_at(
          value.source(),
          fmt::format("'{}' must be a string, a number, true, false or a list of them", name));
    }
  }
  return words;
}

Result<std::vector<std::string>> read_spec(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return Status(Code::kInvalidArgument,
                  fmt::format("cannot read '{}': give --spec the path of a TOML file", path));
  }
  return parse_spec(text.str(), path);
}

}  // namespace keyway::lockbench
