#include "keyway/kvstore/resp/reply_writer.h"

#include <fmt/core.h>

#include <algorithm>
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

using HeadText = std::array<char, 24>;

/// A type and a number, on a line.
std::string_view head(HeadText& text, char type, std::uint64_t value) {
  text[0] = type;
  char* end = std::to_chars(&text[1], text.data() + text.size(), value).ptr;
  *end++ = '\r';
  *end++ = '\n';
  return {text.data(), static_cast<std::size_t>(end - text.data())};
}

}  // namespace

void ReplyWriter::back_to(std::size_t mark) {
  if (mark > out_.size()) return;
  out_.resize(mark);
  if (!dropped_) return;
  dropped_ = false;
  allowed_ = mark;  // the next reply requests its own
}

/// A buffer that grows is copied, and both copies are there meanwhile. Doubling alone would so take
/// twice the limit; a last step from below half of it to all of it does not.
bool ReplyWriter::make_room(std::size_t needed) {
  if (dropped_) return false;
  if (needed > allowed_) {
    allowed_ = budget_->allow(needed);
    if (needed > allowed_) {
      dropped_ = true;
      return false;
    }
  }
  if (needed <= out_.capacity()) return true;
  const std::size_t most = budget_ == nullptr ? kUnlimited : budget_->most();
  const std::size_t next = std::max(needed, 2 * out_.capacity());
  out_.reserve(next > most / 2 ? std::max(most, needed) : next);
  return true;
}

void ReplyWriter::append(std::string_view bytes) {
  if (fits(bytes.size())) out_ += bytes;
}

void ReplyWriter::put_before(std::size_t mark, std::string_view bytes) {
  if (fits(bytes.size())) out_.insert(mark, bytes);
}

void ReplyWriter::line(char type, std::string_view text) {
  KW_DCHECK(text.find_first_of(kEnd) == std::string_view::npos);
  if (!fits(1 + text.size() + kEnd.size())) return;
  out_ += type;
  out_ += text;
  out_ += kEnd;
}

void ReplyWriter::count(char type, std::uint64_t value) {
  HeadText text;
  append(head(text, type, value));
}

void ReplyWriter::error(std::string_view sentence) {
  if (!fits(1 + sentence.size() + kEnd.size())) return;
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
  HeadText text;
  const std::string_view size = head(text, '$', bytes.size());
  if (!fits(size.size() + bytes.size() + kEnd.size())) return;  // once: replies are many, and short
  out_ += size;
  out_ += bytes;
  out_ += kEnd;
}

/// Writes its length, and has room for all of it. False: it does not fit, and is dropped.
bool ReplyWriter::begin_bulk(std::size_t bytes) {
  HeadText text;
  const std::string_view size = head(text, '$', bytes);
  if (!fits(size.size() + bytes + kEnd.size())) return false;
  out_ += size;
  return true;
}

void ReplyWriter::end_bulk(std::string_view rest) {
  out_ += rest;
  out_ += kEnd;
}

void ReplyWriter::null() { append(is_resp3() ? "_\r\n" : "$-1\r\n"); }

void ReplyWriter::null_array() { append(is_resp3() ? "_\r\n" : "*-1\r\n"); }

void ReplyWriter::boolean(bool value) {
  if (is_resp3()) {
    line('#', value ? "t" : "f");
  } else {
    integer(value ? 1 : 0);
  }
}

void ReplyWriter::real(double value) {
  if (is_resp3()) {
    line(',', text_of(value));
  } else {
    bulk(text_of(value));
  }
}

void ReplyWriter::big_number(std::string_view digits) {
  if (is_resp3()) {
    line('(', digits);
  } else {
    bulk(digits);
  }
}

void ReplyWriter::verbatim(std::string_view format, std::string_view text) {
  KW_CHECK(format.size() == 3);
  if (!is_resp3()) return bulk(text);
  count('=', text.size() + 4);
  if (!fits(format.size() + 1 + text.size() + kEnd.size())) return;
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
  if (is_resp3()) {
    count('%', pairs);
  } else {
    count('*', 2 * pairs);
  }
}

void ReplyWriter::set(std::uint64_t elements) { count(is_resp3() ? '~' : '*', elements); }

void ReplyWriter::push(std::uint64_t elements) { count(is_resp3() ? '>' : '*', elements); }

}  // namespace keyway::resp
