// SETBIT, GETBIT, BITCOUNT, BITPOS. Bit 0 is the highest of the first byte.

#include <bit>
#include <cstring>

#include "keyway/locks/base/words.h"
#include "keyway/locks/fabric/time_slice.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

constexpr std::string_view kBadOffset = "ERR bit offset is not an integer or out of range";

std::optional<std::uint64_t> bit_offset_or_error(const Call& call, std::size_t i) {
  const auto offset = integer_or_error(call, i, kBadOffset);
  if (!offset) return std::nullopt;
  if (*offset < 0 || *offset / 8 >= kMaxBytes) {
    call.error(kBadOffset);
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(*offset);
}

unsigned byte_at(std::string_view bytes, std::int64_t i) {
  return static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
}

constexpr unsigned bit_mask(std::uint64_t offset) { return 0x80U >> (offset & 7); }

bool bit_of(std::string_view value, std::uint64_t offset) {
  const std::uint64_t byte = offset / 8;
  return byte < value.size() &&
         (byte_at(value, static_cast<std::int64_t>(byte)) & bit_mask(offset)) != 0;
}

/// The bits of the i-th byte that are in a span of bits.
unsigned mask_of(const Span& bits, std::int64_t i) {
  unsigned mask = 0xff;
  if (i == bits.first / 8) mask &= 0xffU >> (bits.first & 7);
  if (i == bits.last / 8) mask &= 0xffU << (7 - (bits.last & 7));
  return mask;
}

std::uint64_t word_at(std::string_view bytes, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

template <class CountWord>
std::int64_t count_ones_by(std::string_view bytes, CountWord count_word) {
  std::int64_t ones = 0;
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) ones += count_word(word_at(bytes, i));
  for (; i < bytes.size(); ++i) ones += std::popcount(static_cast<unsigned char>(bytes[i]));
  return ones;
}

#if defined(__x86_64__)
/// The instruction is younger than the oldest processors that we are compiled for, and
/// std::popcount is a call of a function with a table there.
[[gnu::target("popcnt")]] std::int64_t count_ones_at_once(std::string_view bytes) {
  std::int64_t ones = 0;
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    ones += __builtin_popcountll(word);
  }
  for (; i < bytes.size(); ++i) ones += __builtin_popcount(static_cast<unsigned char>(bytes[i]));
  return ones;
}
#endif

std::int64_t count_ones(std::string_view bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("popcnt") != 0) return count_ones_at_once(bytes);
#endif
  return count_ones_by(bytes, [](std::uint64_t word) { return std::popcount(word); });
}

/// Others have their turn between parts.
std::int64_t count_ones(std::string_view value, const Span& bits) {
  const std::int64_t first = bits.first / 8;
  const std::int64_t last = bits.last / 8;
  std::int64_t ones = std::popcount(byte_at(value, first) & mask_of(bits, first));
  if (last != first) ones += std::popcount(byte_at(value, last) & mask_of(bits, last));
  if (last - first < 2) return ones;
  std::string_view between =
      value.substr(static_cast<std::size_t>(first) + 1, static_cast<std::size_t>(last - first) - 1);
  while (!between.empty()) {
    const std::string_view part = between.substr(0, fabric::kSliceBytes);
    ones += count_ones(part);
    between.remove_prefix(part.size());
    fabric::this_fiber::yield_if_due();
  }
  return ones;
}

/// The first bit of this kind in the span; -1 where there is none.
std::int64_t find_bit(std::string_view value, const Span& bits, bool one) {
  const std::int64_t last = bits.last / 8;
  const std::uint64_t without = one ? 0 : ~std::uint64_t{0};
  for (std::int64_t i = bits.first / 8; i <= last; ++i) {
    if (static_cast<std::size_t>(i) % fabric::kSliceBytes < 8) {
      fabric::this_fiber::yield_if_due();
    }
    // Only a part of the first byte and of the last one may belong to the range.
    if (i != bits.first / 8 && i + 8 <= last &&
        word_at(value, static_cast<std::size_t>(i)) == without) {
      i += 7;
      continue;
    }
    const unsigned byte = one ? byte_at(value, i) : ~byte_at(value, i);
    const unsigned found = byte & mask_of(bits, i);
    if (found != 0) return i * 8 + std::countl_zero(static_cast<std::uint8_t>(found));
  }
  return -1;
}

/// The positions that the words name.
struct Asked {
  std::int64_t start = 0;
  std::int64_t end = -1;
  bool ends = false;  // the end is given
  bool in_bits = false;
};

bool unit_or_error(const Call& call, std::size_t i, Asked& asked) {
  asked.in_bits = is_word(call.word(i), "bit");
  if (asked.in_bits || is_word(call.word(i), "byte")) return true;
  call.error(kSyntaxError);
  return false;
}

bool number_or_error(const Call& call, std::size_t i, std::int64_t& number) {
  const auto given = integer_or_error(call, i);
  number = given.value_or(0);
  return given.has_value();
}

/// BITPOS key bit [start [end [unit]]]. Among several errors Redis reports the unit's before the
/// end's.
std::optional<Asked> span_or_error(const Call& call) {
  Asked asked;
  asked.ends = call.count() > 4;
  if (call.count() > 6) {
    call.error(kSyntaxError);
    return std::nullopt;
  }
  if (call.count() > 3 && !number_or_error(call, 3, asked.start)) return std::nullopt;
  if (call.count() > 5 && !unit_or_error(call, 5, asked)) return std::nullopt;
  if (asked.ends && !number_or_error(call, 4, asked.end)) return std::nullopt;
  return asked;
}

/// BITCOUNT key [start end [unit]]. Redis reads the unit only when the span is not backwards.
std::optional<Asked> count_span_or_error(const Call& call) {
  Asked asked;
  if (call.count() == 3 || call.count() > 5) {
    call.error(kSyntaxError);
    return std::nullopt;
  }
  if (call.count() == 2) return asked;
  if (!number_or_error(call, 2, asked.start) || !number_or_error(call, 3, asked.end)) {
    return std::nullopt;
  }
  if (is_backwards(asked.start, asked.end)) return Asked{.start = 1, .end = 0};  // no bits
  if (call.count() == 5 && !unit_or_error(call, 4, asked)) return std::nullopt;
  return asked;
}

/// The requested bits.
std::optional<Span> bits_asked(const Asked& asked, std::size_t bytes) {
  const auto length = static_cast<std::int64_t>(bytes);
  if (asked.in_bits) return span_of(asked.start, asked.end, length * 8);
  const auto span = span_of(asked.start, asked.end, length);
  if (!span) return std::nullopt;
  return Span{span->first * 8, span->last * 8 + 7};
}

/// The bytes that hold these bits.
ValueRange bytes_around(const Span& bits) {
  const auto first = static_cast<std::uint64_t>(bits.first / 8);
  return {first, static_cast<std::uint64_t>(bits.last / 8) - first + 1};
}

/// Looks at bits of the value where it lies, without a copy. asked_of(length in bytes) names the
/// bits; look(bytes, bits, before) is shown the bytes around them, and how many bits lie before
/// these. Neither is called where there is no key, and look() is not where no bits are named.
/// Returns whether the key is there; replies with errors.
template <class AskedOf, class Look>
std::optional<bool> look_at_bits(const Call& call, AskedOf&& asked_of, Look&& look) {
  std::optional<Span> bits;
  const auto range_of = [&](std::uint64_t bytes) {
    bits = asked_of(bytes);
    return bits ? bytes_around(*bits) : ValueRange::none();
  };
  const Status status = call.session.read_part(call.key(), range_of, [&](const ElementPart& part) {
    if (!bits) return;
    const std::int64_t before = bits->first / 8 * 8;
    look(part.bytes, Span{bits->first - before, bits->last - before}, before);
  });
  if (!status.ok() && !is_absent(status)) {
    call.failed(status);
    return std::nullopt;
  }
  call.looked_up(status.ok());
  return status.ok();
}

void run_setbit(const Call& call) {
  const auto offset = bit_offset_or_error(call, 2);
  if (!offset) return;
  constexpr std::string_view kBadBit = "ERR bit is not an integer or out of range";
  const auto bit = integer_or_error(call, 3, kBadBit);
  if (!bit) return;
  if (*bit != 0 && *bit != 1) return call.error(kBadBit);
  const std::uint64_t at = *offset / 8;
  bool before = false;
  char byte = 0;
  const auto decide = [&](const ElementPart* old) -> Decision {
    byte = old == nullptr || old->bytes.empty() ? '\0' : old->bytes[0];
    before = bit_of({&byte, 1}, *offset & 7);
    const bool stays = old != nullptr && !old->bytes.empty() && before == (*bit == 1);
    if (stays) return {};
    const unsigned rest = static_cast<unsigned char>(byte) & ~bit_mask(*offset);
    byte = static_cast<char>(*bit == 1 ? rest | bit_mask(*offset) : rest);
    return Decision::overwrite(at, {&byte, 1},
                               old == nullptr ? store::kNoExpiry : old->expires_at_ms);
  };
  const Status status = call.session.modify_part(call.key(), {at, 1}, decide);
  if (!status.ok()) return call.failed(status);
  call.out.integer(before ? 1 : 0);
}

void run_getbit(const Call& call) {
  const auto offset = bit_offset_or_error(call, 2);
  if (!offset) return;
  std::string& byte = call.session.value();
  const Status status = call.session.get_range(call.key(), *offset / 8, 1, byte);
  if (!status.ok() && !is_absent(status)) return call.failed(status);
  call.looked_up(status.ok());
  call.out.integer(status.ok() && bit_of(byte, *offset & 7) ? 1 : 0);
}

/// Redis reads the other words only if the key exists.
void run_bitcount(const Call& call) {
  std::optional<Asked> asked;
  std::int64_t ones = 0;
  const auto asked_of = [&](std::uint64_t bytes) -> std::optional<Span> {
    asked = count_span_or_error(call);
    return asked ? bits_asked(*asked, bytes) : std::nullopt;
  };
  const auto count = [&](std::string_view bytes, const Span& bits, std::int64_t) {
    ones = count_ones(bytes, bits);
  };
  const auto there = look_at_bits(call, asked_of, count);
  if (there && (asked || !*there)) call.out.integer(ones);
}

void run_bitpos(const Call& call) {
  const auto bit = integer_or_error(call, 2);
  if (!bit) return;
  if (*bit != 0 && *bit != 1) return call.error("ERR The bit argument must be 1 or 0.");
  const bool one = *bit == 1;
  std::optional<Asked> asked;
  std::int64_t found = -1;
  const auto asked_of = [&](std::uint64_t bytes) -> std::optional<Span> {
    asked = span_or_error(call);
    if (!asked) return std::nullopt;
    const auto bits = bits_asked(*asked, bytes);
    // Behind a value of ones that is looked at to its end there is a zero.
    if (bits && !one && !asked->ends) found = static_cast<std::int64_t>(bytes) * 8;
    return bits;
  };
  const auto find = [&](std::string_view bytes, const Span& bits, std::int64_t before) {
    const std::int64_t at = find_bit(bytes, bits, one);
    if (at >= 0) found = before + at;
  };
  const auto there = look_at_bits(call, asked_of, find);
  if (!there) return;
  if (!*there) return call.out.integer(one ? -1 : 0);
  if (asked) call.out.integer(found);
}

}  // namespace

CommandRows commands_of_bits_bits() {
  static constexpr auto kRows = checked({
      {.name = "setbit",
       .arity = 4,
       .group = Group::kBitmap,
       .flags = kWrite | kDenyOom,
       .run = run_setbit,
       .keys = {1, 1, 1, "RW access update"},
       .arguments = "key offset bit",
       .summary = "Sets one bit of a value and returns its old value."},
      {.name = "getbit",
       .arity = 3,
       .group = Group::kBitmap,
       .flags = kReadOnly | kFast,
       .run = run_getbit,
       .keys = {1, 1, 1, "RO access"},
       .arguments = "key offset",
       .summary = "Returns one bit of a value."},
      {.name = "bitcount",
       .arity = -2,
       .group = Group::kBitmap,
       .flags = kReadOnly,
       .run = run_bitcount,
       .keys = {1, 1, 1, "RO access"},
       .arguments = "key [start end [BYTE | BIT]]",
       .summary = "Counts the bits of a value that are 1."},
      {.name = "bitpos",
       .arity = -3,
       .group = Group::kBitmap,
       .flags = kReadOnly,
       .run = run_bitpos,
       .keys = {1, 1, 1, "RO access"},
       .arguments = "key bit [start [end [BYTE | BIT]]]",
       .summary = "Returns the position of the first bit that is 0, or that is 1."},
  });
  return kRows;
}

}  // namespace keyway::server
