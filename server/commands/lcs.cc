// LCS: the longest common subsequence of two values.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "keyway/locks/base/words.h"
#include "keyway/server/commands/arguments.h"
#include "keyway/server/commands/handlers.h"

namespace keyway::server {
namespace {

struct LcsOptions {
  bool length = false;
  bool matches = false;
  bool match_lengths = false;
  std::int64_t least = 0;  // length of a match that is shown
};

std::optional<LcsOptions> options_or_error(const Call& call) {
  LcsOptions options;
  for (std::size_t i = 3; i < call.count(); ++i) {
    if (is_word(call.word(i), "idx")) {
      options.matches = true;
    } else if (is_word(call.word(i), "len")) {
      options.length = true;
    } else if (is_word(call.word(i), "withmatchlen")) {
      options.match_lengths = true;
    } else if (is_word(call.word(i), "minmatchlen") && i + 1 < call.count()) {
      const auto least = integer_or_error(call, ++i);
      if (!least) return std::nullopt;
      options.least = *least;
    } else {
      call.error(kSyntaxError);
      return std::nullopt;
    }
  }
  if (options.length && options.matches) {
    call.error("ERR If you want both the length and indexes, please just use IDX.");
    return std::nullopt;
  }
  return options;
}

/// A run of equal bytes, at these places of each string.
struct Match {
  std::uint64_t in_a = 0;
  std::uint64_t in_b = 0;
  std::uint64_t length = 0;
};

struct Lcs {
  std::string bytes;
  std::vector<Match> matches;  // the last first
};

/// The lengths for all pairs of prefixes, then one path back through them; where there are several,
/// that of Redis.
class LcsTable {
 public:
  LcsTable(std::string_view a, std::string_view b)
      : a_(a), b_(b), lengths_((a.size() + 1) * (b.size() + 1)) {
    for (std::size_t i = 1; i <= a.size(); ++i) {
      for (std::size_t j = 1; j <= b.size(); ++j) {
        at(i, j) =
            a[i - 1] == b[j - 1] ? at(i - 1, j - 1) + 1 : std::max(at(i - 1, j), at(i, j - 1));
      }
    }
  }

  std::uint32_t length() { return at(a_.size(), b_.size()); }

  Lcs walk() {
    Lcs found;
    found.bytes.resize(length());
    std::size_t left = length();
    for (std::size_t i = a_.size(), j = b_.size(); left > 0;) {
      if (a_[i - 1] == b_[j - 1]) {
        --i;
        --j;
        found.bytes[--left] = a_[i];
        Match* last = found.matches.empty() ? nullptr : &found.matches.back();
        if (last != nullptr && last->in_a == i + 1 && last->in_b == j + 1) {
          *last = {i, j, last->length + 1};
        } else {
          found.matches.push_back({i, j, 1});
        }
      } else if (at(i - 1, j) > at(i, j - 1)) {
        --i;
      } else {
        --j;
      }
    }
    return found;
  }

 private:
  std::uint32_t& at(std::size_t i, std::size_t j) { return lengths_[i * (b_.size() + 1) + j]; }

  std::string_view a_;
  std::string_view b_;
  std::vector<std::uint32_t> lengths_;
};

void reply_span(const Call& call, std::uint64_t first, std::uint64_t length) {
  call.out.array(2);
  call.out.integer(static_cast<std::int64_t>(first));
  call.out.integer(static_cast<std::int64_t>(first + length - 1));
}

void reply_matches(const Call& call, const LcsOptions& options, const Lcs& found) {
  std::vector<Match> shown = found.matches;
  std::erase_if(shown, [&](const Match& match) {
    return static_cast<std::int64_t>(match.length) < options.least;
  });
  call.out.map(2);
  call.out.bulk("matches");
  call.out.array(shown.size());
  for (const Match& match : shown) {
    call.out.array(options.match_lengths ? 3 : 2);
    reply_span(call, match.in_a, match.length);
    reply_span(call, match.in_b, match.length);
    if (options.match_lengths) call.out.integer(static_cast<std::int64_t>(match.length));
  }
  call.out.bulk("len");
  call.out.integer(static_cast<std::int64_t>(found.bytes.size()));
}

}  // namespace

void run_lcs(const Call& call) {
  const auto options = options_or_error(call);
  if (!options) return;
  const auto values = values_of(call.session, call.words.subspan(1, 2));
  if (!values.ok()) return call.failed(values.status());
  for (const auto& value : *values) call.looked_up(value.has_value());
  const std::string a = (*values)[0].value_or("");
  const std::string b = (*values)[1].value_or("");
  const std::uint64_t cells = (a.size() + 1) * (b.size() + 1);
  if (cells > static_cast<std::uint64_t>(kMostBytes) / sizeof(std::uint32_t)) {
    return call.error(
        "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
  }
  LcsTable table(a, b);
  if (options->length) return call.out.integer(table.length());
  const Lcs found = table.walk();
  if (options->matches) return reply_matches(call, *options, found);
  call.out.bulk(found.bytes);
}

}  // namespace keyway::server
