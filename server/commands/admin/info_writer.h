// InfoWriter: the text of INFO, a field a line.
//
// *Thread safety.* One caller's.
// *Source.* Redis 7.0, server.c (genRedisInfoString, bytesToHuman).
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace keyway::server {

/// "936.67K"
std::string human_bytes(std::uint64_t bytes);

class InfoWriter {
 public:
  void section(std::string_view title);
  template <class Value>
  void field(std::string_view name, const Value& value) {
    fmt::format_to(std::back_inserter(text_), "{}:{}\r\n", name, value);
  }
  /// A number of bytes, and the same for people.
  void bytes(std::string_view name, std::uint64_t value);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace keyway::server
