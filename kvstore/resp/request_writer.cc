#include "keyway/kvstore/resp/request_writer.h"

#include <array>
#include <charconv>

#include "keyway/locks/base/check.h"

namespace keyway::resp {
namespace {

void append_line(std::string& out, char type, std::size_t number) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), number).ptr;
  out += type;
  out.append(digits.data(), end);
  out += "\r\n";
}

}  // namespace

void append_request(std::string& out, std::span<const std::string_view> words) {
  KW_CHECK(!words.empty());
  append_line(out, '*', words.size());
  for (const std::string_view word : words) {
    append_line(out, '$', word.size());
    out += word;
    out += "\r\n";
  }
}

}  // namespace keyway::resp
