// Reads typed values out of Properties and keeps the first error, so that the code
// that reads a spec is a list of names and bounds. A property that is absent leaves
// its target, which holds the default, as it is.
#pragma once

#include <fmt/core.h>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "keyway/locks/base/status.h"
#include "keyway/workloads/properties.h"
#include "keyway/workloads/spec.h"

namespace keyway::workloads {

/// `text` without white space at both ends, which people leave in properties files.
std::string_view trimmed(std::string_view text);

class PropertyReader {
 public:
  explicit PropertyReader(const Properties& properties) : properties_(properties) {}

  const Status& status() const { return status_; }
  void fail(std::string sentence) {
    if (status_.ok()) status_ = Status(Code::kInvalidArgument, std::move(sentence));
  }

  /// Fails on a name that known_properties() does not list.
  void refuse_unknown();
  void text(std::string_view name, std::string& out) const;
  void flag(std::string_view name, bool& out);
  void real(std::string_view name, double& out, double least, double most);
  void number(std::string_view name, std::uint64_t& out, std::uint64_t least, std::uint64_t most);
  void number(std::string_view name, std::uint32_t& out, std::uint64_t least, std::uint64_t most) {
    std::uint64_t wide = out;
    number(name, wide, least, most);
    out = static_cast<std::uint32_t>(wide);
  }
  /// Reads YCSB's histogram file: "BlockSize<TAB>n", then "bucket<TAB>weight" lines.
  void histogram(const std::string& path, LengthSpec& out);

  template <class T>
  void choice(std::string_view name, T& out,
              std::initializer_list<std::pair<std::string_view, T>> values) {
    const Properties::Entry* entry = properties_.find(name);
    if (entry == nullptr) return;
    std::string names;
    for (const auto& [value_name, value] : values) {
      if (trimmed(entry->value) == value_name) {
        out = value;
        return;
      }
      names += names.empty() ? "" : ", ";
      names += value_name;
    }
    fail(fmt::format("{}: {}={} is unsupported: choose one of {}", entry->origin, name,
                     entry->value, names));
  }

 private:
  const Properties& properties_;
  Status status_;
};

}  // namespace keyway::workloads
