#include "keyway/kvstore/resp/request_parser.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "keyway/kvstore/resp/line_words.h"
#include "keyway/kvstore/resp/numbers.h"
#include "keyway/locks/base/check.h"
#include "keyway/locks/base/clear_and_shrink.h"

namespace keyway::resp {
namespace {

/// The capacity that a parser keeps for the next request; more is freed (Q1).
constexpr std::size_t kKeptWords = 1024;

/// The digits of a count and the end of its line, if all have arrived and are as a client writes
/// them; moves `at` behind them. Else kNoCount: the piecewise parser handles the rest.
constexpr std::uint32_t kNoCount = ~0U;
std::uint32_t take_count(const char*& at, const char* end) {
  constexpr std::ptrdiff_t kMaxDigits = 9;
  const char* const first = at;
  const char* const last = end - first > kMaxDigits ? first + kMaxDigits : end;
  std::uint32_t count = 0;
  while (at != last && *at >= '0' && *at <= '9') {
    count = count * 10 + static_cast<std::uint32_t>(*at++ - '0');
  }
  const bool as_written = at != first && (*first != '0' || at == first + 1);
  if (!as_written || end - at < 2 || *at != '\r') return kNoCount;
  at += 2;
  return count;
}

}  // namespace

void RequestParser::start_anew() {
  clear_and_shrink(pieces_, kKeptWords);
  clear_and_shrink(line_, kKeptWords);
  left_ = 0;
  word_ = kUnknown;
}

void RequestParser::rewind() {
  start_anew();
  at_ = searched_ = consumed_ = 0;
  missing_ = 0;
  error_.clear();
}

/// The common case: a complete and well-formed request. Otherwise false, and nothing has changed.
bool RequestParser::take_whole(std::string_view bytes, const RequestLimits& limits) {
  constexpr std::uint32_t kFewWords = 1024;
  if (!limits.trusted || bytes[at_] != '*') return false;
  const char* at = bytes.data() + at_ + 1;
  const char* const end = bytes.data() + bytes.size();
  const std::uint32_t count = take_count(at, end);
  if (count == 0 || count > kFewWords) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (at == end || *at != '$') break;
    const std::uint32_t size = take_count(++at, end);
    if (size == kNoCount || size > limits.word_bytes) break;
    if (static_cast<std::uint64_t>(end - at) < size + 2ULL) break;
    words_.emplace_back(at, size);
    at += size + 2ULL;
  }
  if (words_.size() != count) {
    words_.clear();
    return false;
  }
  at_ = searched_ = static_cast<std::size_t>(at - bytes.data());
  return true;
}

RequestParser::Step RequestParser::parse(std::string_view bytes, const RequestLimits& limits) {
  KW_CHECK(error_.empty());
  clear_and_shrink(words_, kKeptWords);
  missing_ = 0;
  if (consumed_ != 0) {  // has been dropped
    for (Piece& piece : pieces_) piece.at -= consumed_;
    at_ -= consumed_;
    searched_ -= consumed_;
    consumed_ = 0;
  }
  clear_and_shrink(line_, kKeptWords);
  while (at_ < bytes.size()) {
    if (left_ == 0 && take_whole(bytes, limits)) {
      consumed_ = at_;
      return Step::kRequest;
    }
    const bool array = left_ != 0 || bytes[at_] == '*';
    const Step step = array ? parse_array(bytes, limits) : parse_inline(bytes, limits);
    if (step != Step::kRequest) return step;
    consumed_ = at_;
    if (!words_.empty()) return Step::kRequest;
  }
  return Step::kMore;
}

RequestParser::Step RequestParser::parse_array(std::string_view bytes,
                                               const RequestLimits& limits) {
  if (left_ == 0) {
    const Step begun = begin_array(bytes, limits);
    if (begun != Step::kRequest || left_ == 0) return begun;
  }
  while (left_ != 0) {
    if (word_ == kUnknown) {
      const Step begun = begin_word(bytes, limits);
      if (begun != Step::kRequest) return begun;
    }
    const auto size = static_cast<std::size_t>(word_);
    const std::size_t needed = size + 2;  // the end of the line, which is not checked
    if (bytes.size() - at_ < needed) {
      missing_ = needed - (bytes.size() - at_);
      return Step::kMore;
    }
    pieces_.push_back({at_, size});
    at_ += needed;
    searched_ = at_;
    word_ = kUnknown;
    --left_;
  }
  for (const Piece& piece : pieces_) words_.push_back(bytes.substr(piece.at, piece.size));
  start_anew();
  return Step::kRequest;
}

RequestParser::Step RequestParser::begin_array(std::string_view bytes,
                                               const RequestLimits& limits) {
  std::string_view text;
  switch (line(bytes, limits, text)) {
    case Line::kMore: return Step::kMore;
    case Line::kTooLong: return fail("too big mbulk count string");
    case Line::kFound: break;
  }
  const auto count = parse_integer(text.substr(1));
  if (!count || *count > std::numeric_limits<int>::max()) return fail("invalid multibulk length");
  if (!limits.trusted && *count > kMaxStrangersWords) {
    return fail("unauthenticated multibulk length");
  }
  left_ = std::max<std::int64_t>(*count, 0);
  return Step::kRequest;
}

RequestParser::Step RequestParser::begin_word(std::string_view bytes, const RequestLimits& limits) {
  std::string_view text;
  switch (line(bytes, limits, text)) {
    case Line::kMore: return Step::kMore;
    case Line::kTooLong: return fail("too big bulk count string");
    case Line::kFound: break;
  }
  if (!text.starts_with('$')) {
    // The line may be empty: then the message shows its end.
    return fail(fmt::format("expected '$', got '{}'", text.empty() ? '\r' : text[0]));
  }
  const auto size = parse_integer(text.substr(1));
  if (!size || *size < 0 || static_cast<std::uint64_t>(*size) > limits.word_bytes) {
    return fail("invalid bulk length");
  }
  if (!limits.trusted && *size > kMaxStrangersBytes) return fail("unauthenticated bulk length");
  word_ = *size;
  return Step::kRequest;
}

RequestParser::Line RequestParser::line(std::string_view bytes, const RequestLimits& limits,
                                        std::string_view& text) {
  searched_ = std::max(searched_, at_);
  const std::size_t end = bytes.find('\r', searched_);
  if (end == std::string_view::npos) {
    searched_ = bytes.size();
    return bytes.size() - at_ > line_bytes(limits) ? Line::kTooLong : Line::kMore;
  }
  searched_ = end;
  if (end + 2 > bytes.size()) return Line::kMore;
  text = bytes.substr(at_, end - at_);
  at_ = searched_ = end + 2;
  return Line::kFound;
}

RequestParser::Step RequestParser::parse_inline(std::string_view bytes,
                                                const RequestLimits& limits) {
  searched_ = std::max(searched_, at_);
  const std::size_t end = bytes.find('\n', searched_);
  if (end == std::string_view::npos) {
    searched_ = bytes.size();
    if (bytes.size() - at_ <= line_bytes(limits)) return Step::kMore;
    return fail("too big inline request");
  }
  std::string_view text = bytes.substr(at_, end - at_);
  if (text.ends_with('\r')) text.remove_suffix(1);
  // Redis takes any line that has come whole.
  if (!limits.trusted && text.size() > line_bytes(limits)) return fail("too big inline request");
  at_ = searched_ = end + 1;
  start_anew();
  if (!split_line(text, line_)) return fail("unbalanced quotes in request");
  words_.assign(line_.begin(), line_.end());
  return Step::kRequest;
}

RequestParser::Step RequestParser::fail(std::string sentence) {
  error_ = "Protocol error: " + std::move(sentence);
  return Step::kError;
}

}  // namespace keyway::resp
