#include "keyway/kvstore/resp/line_words.h"

#include <optional>

namespace keyway::resp {
namespace {

// As isspace() in the C locale, and the end of a C string, at which sdssplitargs stops a word.
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; }

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return std::nullopt;
}

char escaped(char c) {
  switch (c) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'b': return '\b';
    case 'a': return '\a';
    default: return c;
  }
}

class LineReader {
 public:
  explicit LineReader(std::string_view line) : line_(line) {}

  bool skip_blanks() {
    while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
    return at_ < line_.size();
  }

  /// The word that begins here; nothing when its quotes are wrong.
  std::optional<std::string> word() {
    std::string word;
    while (at_ < line_.size() && !is_blank(line_[at_])) {
      const char c = line_[at_++];
      if (c != '"' && c != '\'') {
        word += c;
      } else if (!quoted(c, word)) {
        return std::nullopt;
      } else {
        break;
      }
    }
    return word;
  }

 private:
  bool quoted(char quote, std::string& word) {
    while (at_ < line_.size()) {
      const char c = line_[at_++];
      if (c == quote) return at_ == line_.size() || is_blank(line_[at_]);
      const bool escapes = c == '\\' && at_ < line_.size() && (quote == '"' || line_[at_] == quote);
      if (!escapes) {
        word += c;
      } else if (!hexadecimal(quote, word)) {
        word += quote == '"' ? escaped(line_[at_]) : line_[at_];
        ++at_;
      }
    }
    return false;  // not closed
  }

  /// xHH behind a backslash.
  bool hexadecimal(char quote, std::string& word) {
    if (quote != '"' || line_[at_] != 'x' || line_.size() - at_ < 3) return false;
    const auto high = hex_digit(line_[at_ + 1]);
    const auto low = hex_digit(line_[at_ + 2]);
    if (!high || !low) return false;
    word += static_cast<char>(*high << 4 | *low);
    at_ += 3;
    return true;
  }

  std::string_view line_;
  std::size_t at_ = 0;
};

}  // namespace

bool split_line(std::string_view line, std::vector<std::string>& words) {
  const std::size_t before = words.size();
  LineReader reader(line);
  while (reader.skip_blanks()) {
    auto word = reader.word();
    if (!word) {
      words.resize(before);
      return false;
    }
    words.push_back(std::move(*word));
  }
  return true;
}

}  // namespace keyway::resp
