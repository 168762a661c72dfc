#include "format/format.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "keyway/locks/base/words.h"

namespace keyway::kvctl {
namespace {

/// The letter behind a backslash that stands for this byte; 0 if there is none.
char letter_of(char c) {
  switch (c) {
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    case '\a': return 'a';
    case '\b': return 'b';
    case '\\':
    case '"': return c;
    default: return '\0';
  }
}

}  // namespace

void append_quoted(std::string_view bytes, std::string& out) {
  out += '"';
  for (const char c : bytes) {
    if (const char letter = letter_of(c); letter != '\0') {
      out += '\\';
      out += letter;
    } else if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  out += '"';
}

bool is_answered_in_lines(std::span<const std::string> words) {
  if (words.empty()) return false;
  if (same_word(words[0], "info") || same_word(words[0], "lolwut")) return true;
  using Two = std::array<std::string_view, 2>;
  constexpr std::array<Two, 9> kInLines = {{{"memory", "malloc-stats"},
                                            {"memory", "doctor"},
                                            {"latency", "graph"},
                                            {"latency", "doctor"},
                                            {"cluster", "nodes"},
                                            {"cluster", "info"},
                                            {"client", "list"},
                                            {"client", "info"},
                                            {"debug", "htstats"}}};
  if (words.size() < 2) return false;
  return std::any_of(kInLines.begin(), kInLines.end(), [&](const Two& two) {
    return same_word(words[0], two[0]) && same_word(words[1], two[1]);
  });
}

void append_reply(Nodes nodes, Style style, std::string& out) {
  switch (style) {
    case Style::kPretty: return append_pretty(nodes, out);
    case Style::kRaw: return append_raw(nodes, out);
    case Style::kCsv: return append_csv(nodes, out);
    case Style::kJson: return append_json(nodes, out);
  }
}

}  // namespace keyway::kvctl
