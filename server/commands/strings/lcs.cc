// LCS: the longest common subsequence of two values.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "keyway/locks/base/words.h"
#include "keyway/locks/fabric/time_slice.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"

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

/// The answer of Redis, which fills a table of the lengths L(i, j) of all pairs of prefixes and
/// walks back through it, from one bit for each pair. Neighbours in a row differ by 0 or 1, so a
/// row is a string of bits, and the next row follows from it by an addition: 64 pairs at a time.
/// *Source.* H. Hyyro, "Bit-parallel LCS-length computation revisited", AWOCA 2004. The walk is
/// ours.
class LcsRows {
 public:
  /// A row for each byte of `rows`, a bit for each byte of `bits`, the shorter one.
  LcsRows(std::string_view rows, std::string_view bits)
      : rows_(rows), bits_(bits), words_((bits.size() + 63) / 64), places_(256 * words_) {
    for (std::size_t i = 0; i < bits.size(); ++i) {
      places_[byte(bits[i]) * words_ + i / 64] |= std::uint64_t{1} << (i % 64);
    }
  }

  /// Without the rows: the length alone.
  std::uint32_t length() {
    if (words_ == 0) return 0;
    Row row(words_, kNone);
    for (std::size_t r = 0; r < rows_.size(); ++r) advance(row, rows_[r], r);
    return count(row.data(), bits_.size());
  }

  void keep_all() {
    if (words_ == 0) return;
    Row row(words_, kNone);
    kept_.reserve(rows_.size() * words_);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      advance(row, rows_[r], r);
      kept_.insert(kept_.end(), row.begin(), row.end());
    }
  }

  // For stored rows. Row 0 and column 0 are before the first byte. L(row, bits).
  std::uint32_t length_at(std::size_t row, std::size_t bits) const {
    return row == 0 || bits == 0 ? 0 : count(&kept_[(row - 1) * words_], bits);
  }
  /// L(row, bit) - L(row, bit - 1).
  bool grows_at(std::size_t row, std::size_t bit) const {
    const std::uint64_t word = kept_[(row - 1) * words_ + (bit - 1) / 64];
    return (word >> ((bit - 1) % 64) & 1) == 0;
  }

 private:
  using Row = std::vector<std::uint64_t>;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};  // a bit is 0 where the length grows
  static constexpr std::size_t kWordsOfSlice = 8 << 10;

  static std::size_t byte(char c) { return static_cast<unsigned char>(c); }

  void advance(Row& row, char c, std::size_t number) const {
    const std::uint64_t* places = &places_[byte(c) * words_];
    std::uint64_t carry = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      const std::uint64_t before = row[w];
      const std::uint64_t meets = before & places[w];
      std::uint64_t sum = before + carry;
      carry = sum < carry ? 1 : 0;
      sum += meets;
      carry |= sum < meets ? 1 : 0;
      row[w] = sum | (before & ~meets);
    }
    if (number % (kWordsOfSlice / std::min(words_, kWordsOfSlice)) == 0) {
      fabric::this_fiber::yield_if_due();
    }
  }

  /// How often a row has grown in its first `bits` bits.
  static std::uint32_t count(const std::uint64_t* row, std::size_t bits) {
    std::int64_t grown = 0;
    for (; bits >= 64; bits -= 64) grown += std::popcount(~*row++);
    if (bits != 0) grown += std::popcount(~*row << (64 - bits));
    return static_cast<std::uint32_t>(grown);
  }

  std::string_view rows_;
  std::string_view bits_;
  std::size_t words_;
  std::vector<std::uint64_t> places_;  // for each byte, the bits of its places
  Row kept_;                           // the rows, one after the other
};

/// The table L of a and b, whichever of them the bits are.
class LcsTable {
 public:
  LcsTable(std::string_view a, std::string_view b)
      : a_(a), b_(b), flat_(b.size() <= a.size()), rows_(flat_ ? a : b, flat_ ? b : a) {}

  std::uint32_t length() { return rows_.length(); }

  Lcs walk() {
    rows_.keep_all();
    Lcs found;
    std::size_t left = at(a_.size(), b_.size());
    found.bytes.resize(left);
    std::size_t steps = 0;
    for (std::size_t i = a_.size(), j = b_.size(); left > 0;) {
      if (++steps % kStepsOfSlice == 0) fabric::this_fiber::yield_if_due();
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
      } else if (is_above(i, j)) {
        --i;
      } else {
        --j;
      }
    }
    return found;
  }

 private:
  static constexpr std::size_t kStepsOfSlice = 256;

  std::uint32_t at(std::size_t i, std::size_t j) const {
    return flat_ ? rows_.length_at(i, j) : rows_.length_at(j, i);
  }

  /// L(i - 1, j) > L(i, j - 1), where the last bytes differ: then L(i, j) is the larger of these.
  bool is_above(std::size_t i, std::size_t j) const {
    if (flat_) return rows_.grows_at(i, j);
    return !rows_.grows_at(j, i) && at(i, j - 1) < at(i - 1, j);
  }

  std::string_view a_;
  std::string_view b_;
  bool flat_;  // the bits are those of b
  LcsRows rows_;
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

void run_lcs(const Call& call) {
  const auto options = options_or_error(call);
  if (!options) return;
  auto values = values_of(call.session, call.words.subspan(1, 2));
  if (!values.ok()) return call.failed(values.status());
  for (const auto& value : *values) call.looked_up(value.has_value());
  const std::string a = std::move((*values)[0]).value_or("");
  const std::string b = std::move((*values)[1]).value_or("");
  // Redis' limit on its table: the same requests are refused here.
  const std::uint64_t cells = (a.size() + 1) * (b.size() + 1);
  if (cells > static_cast<std::uint64_t>(kMaxBytes) / sizeof(std::uint32_t)) {
    return call.error(
        "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
  }
  LcsTable table(a, b);
  if (options->length) return call.out.integer(table.length());
  const Lcs found = table.walk();
  if (options->matches) return reply_matches(call, *options, found);
  call.out.bulk(found.bytes);
}

}  // namespace

CommandRows commands_of_strings_lcs() {
  static constexpr auto kRows = checked({
      {.name = "lcs",
       .arity = -3,
       .group = Group::kString,
       .flags = kReadOnly,
       .run = run_lcs,
       .keys = {1, 2, 1, "RO access"},
       .arguments = "key1 key2 [LEN] [IDX] [MINMATCHLEN length] [WITHMATCHLEN]",
       .summary = "Returns the longest common subsequence of two values."},
  });
  return kRows;
}

}  // namespace keyway::server
