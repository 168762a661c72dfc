#include "keyway/kvstore/resp/reply_writer.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>

#include "keyway/locks/base/check.h"

namespace keyway::resp {
namespace {

constexpr std::string_view kEnd = "\r\n";

/// As Redis 7.0 writes a double: 17 significant digits.
std::string text_of(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{:.17g}", value);
}

}  // namespace

void ReplyWriter::line(char type, std::string_view text) {
  KW_DCHECK(text.find_first_of(kEnd) == std::string_view::npos);
  out_ += type;
  out_ += text;
  out_ += kEnd;
}

/// One append: replies are many, and short.
void ReplyWriter::count(char type, std::uint64_t value) {
  std::array<char, 24> text;
  text[0] = type;
  char* end = std::to_chars(&text[1], text.data() + text.size(), value).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out_.append(text.data(), end);
}

void ReplyWriter::error(std::string_view sentence) {
  out_ += '-';
  for (const char c : sentence) out_ += c == '\r' || c == '\n' ? ' ' : c;
  out_ += kEnd;
}

void ReplyWriter::integer(std::int64_t value) {
  std::array<char, 24> digits;
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  line(':', {digits.data(), static_cast<std::size_t>(written.ptr - digits.data())});
}

void ReplyWriter::bulk(std::string_view bytes) {
  count('$', bytes.size());
  out_.reserve(out_.size() + bytes.size() + kEnd.size());  // once, where they are many
  out_ += bytes;
  out_ += kEnd;
}

void ReplyWriter::null() { out_ += is_3() ? "_\r\n" : "$-1\r\n"; }

void ReplyWriter::null_array() { out_ += is_3() ? "_\r\n" : "*-1\r\n"; }

void ReplyWriter::boolean(bool value) {
  if (is_3()) {
    line('#', value ? "t" : "f");
  } else {
    integer(value ? 1 : 0);
  }
}

void ReplyWriter::real(double value) {
  if (is_3()) {
    line(',', text_of(value));
  } else {
    bulk(text_of(value));
  }
}

void ReplyWriter::big_number(std::string_view digits) {
  if (is_3()) {
    line('(', digits);
  } else {
    bulk(digits);
  }
}

void ReplyWriter::verbatim(std::string_view format, std::string_view text) {
  KW_CHECK(format.size() == 3);
  if (!is_3()) return bulk(text);
  count('=', text.size() + 4);
  out_ += format;
  out_ += ':';
  out_ += text;
  out_ += kEnd;
}

std::string_view ReplyWriter::error_kind(std::size_t mark) const {
  KW_DCHECK(is_error(mark));
  const std::string_view sentence = std::string_view(out_).substr(mark + 1);
  return sentence.substr(0, sentence.find_first_of(" \r"));
}

void ReplyWriter::map(std::uint64_t pairs) {
  if (is_3()) {
    count('%', pairs);
  } else {
    count('*', 2 * pairs);
  }
}

void ReplyWriter::set(std::uint64_t elements) { count(is_3() ? '~' : '*', elements); }

void ReplyWriter::push(std::uint64_t elements) { count(is_3() ? '>' : '*', elements); }

}  // namespace keyway::resp
