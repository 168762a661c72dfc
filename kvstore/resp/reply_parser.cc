#include "keyway/kvstore/resp/reply_parser.h"

#include <fmt/core.h>

#include <limits>
#include <utility>

#include "keyway/kvstore/resp/numbers.h"
#include "keyway/locks/base/check.h"

namespace keyway::resp {
namespace {

constexpr std::size_t kLongestLine = 64 << 10;
constexpr std::int64_t kLongestString = 1LL << 40;  // ours or another server's: nothing is longer
constexpr std::int64_t kMaxElements = std::numeric_limits<std::int64_t>::max() / 2;

bool has_elements(Kind kind) {
  return kind == Kind::kArray || kind == Kind::kMap || kind == Kind::kSet || kind == Kind::kPush;
}

}  // namespace

ReplyParser::Step ReplyParser::parse(std::string_view bytes) {
  KW_CHECK(error_.empty());
  missing_ = 0;
  if (consumed_ != 0) {  // has been dropped, and with it all that was found
    at_ -= consumed_;
    searched_ -= consumed_;
    consumed_ = 0;
    found_.clear();
    nodes_.clear();
    complete_ = false;
  }
  while (!complete_) {
    const Step step = parse_node(bytes);
    if (step != Step::kReply) return step;
  }
  for (const Found& found : found_) {
    nodes_.push_back(found.reply);
    nodes_.back().text = bytes.substr(found.at, found.size);
    if (found.reply.kind != Kind::kVerbatim) continue;
    nodes_.back().format = nodes_.back().text.substr(0, 3);
    nodes_.back().text.remove_prefix(4);
  }
  consumed_ = at_;
  return Step::kReply;
}

/// kReply: a node has come.
ReplyParser::Step ReplyParser::parse_node(std::string_view bytes) {
  const std::size_t end = bytes.find('\r', searched_);
  if (end == std::string_view::npos || end + 2 > bytes.size()) {
    searched_ = end == std::string_view::npos ? bytes.size() : end;
    if (bytes.size() - at_ > kLongestLine) return fail("a line of a reply is too long");
    return Step::kMore;
  }
  if (end == at_ || bytes[end + 1] != '\n') return fail("a line of a reply has no type or no end");
  const char type = bytes[at_];
  const std::string_view line = bytes.substr(at_ + 1, end - at_ - 1);
  switch (type) {
    case '+':
    case '-':
    case '(': {
      const Kind kind = type == '+' ? Kind::kSimple : type == '-' ? Kind::kError : Kind::kBigNumber;
      return keep({.kind = kind}, at_ + 1, line.size(), end + 2);
    }
    case ':':
    case '_':
    case '#':
    case ',': return read_scalar(type, line, end + 2);
    case '$':
    case '!':
    case '=': return parse_text(bytes, type, line, end + 2);
    case '*':
    case '%':
    case '~':
    case '>':
    case '|': return begin(type, line, end + 2);
    default:
      return fail(
          fmt::format("a reply begins with the byte {:#04x}", static_cast<std::uint8_t>(type)));
  }
}

ReplyParser::Step ReplyParser::read_scalar(char type, std::string_view line, std::size_t next) {
  Reply reply;
  if (type == ':') {
    const auto value = parse_integer(line);
    if (!value) return fail("an integer of a reply is malformed");
    reply = {.kind = Kind::kInteger, .integer = *value};
  } else if (type == ',') {
    const auto value = parse_real(line);
    if (!value) return fail("a double of a reply is malformed");
    reply = {.kind = Kind::kReal, .real = *value};
  } else if (type == '#') {
    if (line != "t" && line != "f") return fail("a boolean of a reply is malformed");
    reply = {.kind = Kind::kBoolean, .integer = line == "t" ? 1 : 0};
  } else if (!line.empty()) {
    return fail("a null of a reply has a value");
  }
  const std::size_t kept = type == ',' ? line.size() : 0;
  return keep(reply, at_ + 1, kept, next);
}

ReplyParser::Step ReplyParser::parse_text(std::string_view bytes, char type, std::string_view line,
                                          std::size_t next) {
  const auto size = parse_integer(line);
  if (size && *size == -1 && type == '$') return keep({}, 0, 0, next);
  if (!size || *size < (type == '=' ? 4 : 0) || *size > kLongestString) {
    return fail("the length of a string is malformed");
  }
  const auto length = static_cast<std::size_t>(*size);
  if (bytes.size() - next < length + 2) {
    missing_ = length + 2 - (bytes.size() - next);
    return Step::kMore;
  }
  if (bytes.substr(next + length, 2) != "\r\n") return fail("a string is longer than it says");
  if (type == '=' && bytes[next + 3] != ':') return fail("a verbatim string has no format");
  const Kind kind = type == '$' ? Kind::kBulk : type == '!' ? Kind::kError : Kind::kVerbatim;
  return keep({.kind = kind}, next, length, next + length + 2);
}

ReplyParser::Step ReplyParser::begin(char type, std::string_view line, std::size_t next) {
  const auto count = parse_integer(line);
  if (count && *count == -1 && type == '*') return keep({}, 0, 0, next);
  if (!count || *count < 0 || *count > kMaxElements)
    return fail("a count of elements is malformed");
  if (open_.size() == kMaxDepth) return fail("a reply is nested too deep");
  const bool pairs = type == '%' || type == '|';
  const std::int64_t elements = pairs ? 2 * *count : *count;
  open_.push_back({static_cast<std::uint64_t>(elements), type == '|', found_.size()});
  if (type != '|') {
    const Kind kind = type == '*'   ? Kind::kArray
                      : type == '%' ? Kind::kMap
                      : type == '~' ? Kind::kSet
                                    : Kind::kPush;
    found_.push_back({.reply = {.kind = kind, .integer = elements}});
  }
  at_ = searched_ = next;
  if (elements == 0) close_complete_aggregates();
  return Step::kReply;
}

ReplyParser::Step ReplyParser::keep(const Reply& reply, std::size_t at, std::size_t size,
                                    std::size_t next) {
  found_.push_back({reply, at, size});
  at_ = searched_ = next;
  if (open_.empty()) {
    complete_ = true;
  } else {
    --open_.back().left;
    close_complete_aggregates();
  }
  return Step::kReply;
}

/// A complete element counts as one of the aggregate around it. An attribute does not count.
void ReplyParser::close_complete_aggregates() {
  while (!open_.empty() && open_.back().left == 0) {
    const Open closed = open_.back();
    open_.pop_back();
    if (closed.attribute) {
      found_.resize(closed.first);
      return;
    }
    if (open_.empty()) {
      complete_ = true;
    } else {
      --open_.back().left;
    }
  }
}

ReplyParser::Step ReplyParser::fail(std::string sentence) {
  error_ = std::move(sentence);
  return Step::kError;
}

std::size_t extent(std::span<const Reply> nodes) {
  std::uint64_t left = 1;
  std::size_t at = 0;
  for (; left != 0; --left, ++at) {
    KW_CHECK(at < nodes.size());
    if (has_elements(nodes[at].kind)) left += static_cast<std::uint64_t>(nodes[at].integer);
  }
  return at;
}

}  // namespace keyway::resp
