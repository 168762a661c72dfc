// BITOP.

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "keyway/locks/base/words.h"
#include "keyway/locks/fabric/time_slice.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

enum class BitOperation : std::uint8_t { kAnd, kOr, kXor, kNot };

std::optional<BitOperation> operation_of(std::string_view word) {
  if (is_word(word, "and")) return BitOperation::kAnd;
  if (is_word(word, "or")) return BitOperation::kOr;
  if (is_word(word, "xor")) return BitOperation::kXor;
  if (is_word(word, "not")) return BitOperation::kNot;
  return std::nullopt;
}

/// target op= source, a word at a time.
template <class Operation>
void combine(std::span<char> target, std::string_view source, Operation operation) {
  std::size_t i = 0;
  for (; i + sizeof(std::uint64_t) <= source.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t words[2];
    std::memcpy(&words[0], &target[i], sizeof words[0]);
    std::memcpy(&words[1], &source[i], sizeof words[1]);
    words[0] = operation(words[0], words[1]);
    std::memcpy(&target[i], &words[0], sizeof words[0]);
  }
  for (; i < source.size(); ++i) target[i] = static_cast<char>(operation(target[i], source[i]));
}

void combine(BitOperation operation, std::span<char> target, std::string_view source) {
  switch (operation) {
    case BitOperation::kAnd:
      combine(target, source, [](auto a, auto b) { return a & b; });
      std::fill(target.begin() + static_cast<std::ptrdiff_t>(source.size()), target.end(), '\0');
      return;
    case BitOperation::kOr: return combine(target, source, [](auto a, auto b) { return a | b; });
    case BitOperation::kXor: return combine(target, source, [](auto a, auto b) { return a ^ b; });
    case BitOperation::kNot: return combine(target, source, [](auto, auto b) { return ~b; });
  }
}

std::string_view part_of(std::string_view source, std::size_t at, std::size_t bytes) {
  return at < source.size() ? source.substr(at, bytes) : std::string_view();
}

/// Combines byte strings, each of which continues with zeros to `length`. In parts, between which
/// others have their turn. Zeros for no string at all.
std::string combined(BitOperation operation, const std::vector<std::string_view>& sources,
                     std::size_t length) {
  std::string result;
  result.reserve(length);
  for (std::size_t at = 0; at < length; at += fabric::kSliceBytes) {
    const std::size_t bytes = std::min(fabric::kSliceBytes, length - at);
    result.resize(at + bytes, '\0');
    const std::span<char> target = std::span(result).subspan(at);
    bool first = operation != BitOperation::kNot;
    for (const std::string_view source : sources) {
      const std::string_view part = part_of(source, at, bytes);
      combine(std::exchange(first, false) ? BitOperation::kOr : operation, target, part);
      fabric::this_fiber::yield_if_due();
    }
  }
  return result;
}

/// The sources that matter, each once: AND and OR of a string with itself are the string, and a
/// pair of equal strings leaves XOR as it is. So the cost is bounded by what is stored, however
/// often a request names it.
std::vector<std::string_view> without_repetition(BitOperation operation,
                                                 std::span<const std::string_view> keys_values,
                                                 std::span<const std::size_t> times) {
  std::vector<std::string_view> sources;
  for (std::size_t i = 0; i < keys_values.size(); ++i) {
    const bool matters = operation == BitOperation::kXor ? times[i] % 2 == 1 : times[i] != 0;
    if (matters) sources.push_back(keys_values[i]);
  }
  return sources;
}

/// The keys of a transaction, each once, the destination first; and which of them each source is.
struct Places {
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);  // the key cannot be there
  std::vector<std::string_view> keys;
  std::vector<std::size_t> sources;
};

Places places_of(const Call& call) {
  Places places;
  places.keys.assign(call.words.begin() + 2, call.words.end());
  std::erase_if(places.keys, [&](std::string_view key) { return !is_storable(key); });
  std::sort(places.keys.begin(), places.keys.end());
  places.keys.erase(std::unique(places.keys.begin(), places.keys.end()), places.keys.end());
  for (const std::string_view key : call.words.subspan(2)) {
    const auto at = std::lower_bound(places.keys.begin(), places.keys.end(), key);
    const bool known = at != places.keys.end() && *at == key;
    places.sources.push_back(known ? static_cast<std::size_t>(at - places.keys.begin())
                                   : Places::kNowhere);
  }
  return places;
}

/// All keys at one instant.
void run_bitop(const Call& call) {
  const auto operation = operation_of(call.word(1));
  if (!operation) return call.error(kSyntaxError);
  if (*operation == BitOperation::kNot && call.count() != 4) {
    return call.error("ERR BITOP NOT must be called with a single source key.");
  }
  const Places places = places_of(call);
  std::size_t length = 0;
  std::size_t sources_there = 0;
  const auto body = [&](std::span<ElementDraft> drafts) {
    // For each key, and last for words that cannot be in the store: its value, and how often it is
    // named.
    std::vector<std::string_view> values(drafts.size() + 1);
    std::vector<std::size_t> times(drafts.size() + 1);
    sources_there = 0;
    std::size_t longest = 0;
    for (const std::size_t place : std::span(places.sources).subspan(1)) {
      const std::size_t at = std::min(place, drafts.size());
      const bool there = place != Places::kNowhere && drafts[at].there();
      sources_there += there ? 1 : 0;
      if (there) values[at] = drafts[at]->value;
      longest = std::max(longest, values[at].size());
      ++times[at];
    }
    const auto sources = without_repetition(*operation, values, times);
    std::string result = combined(*operation, sources, longest);
    length = result.size();
    const std::size_t destination = places.sources[0];
    if (destination == Places::kNowhere) return length == 0;
    if (length == 0) {
      drafts[destination].erase();
    } else {
      drafts[destination].write(std::move(result), store::kNoExpiry);
    }
    return true;
  };
  Status status = call.session.modify_all(places.keys, body);
  if (status == Code::kMismatch) status = call.session.put(call.word(2), {});  // says why not
  if (!status.ok()) return call.failed(status);
  call.looked_up(true, sources_there);
  call.looked_up(false, places.sources.size() - 1 - sources_there);
  call.out.integer(static_cast<std::int64_t>(length));
}

}  // namespace

CommandRows commands_of_bits_bitop() {
  static constexpr auto kRows = checked({
      {.name = "bitop",
       .arity = -4,
       .group = Group::kBitmap,
       .flags = kWrite | kDenyOom,
       .run = run_bitop,
       .keys = {2, -1, 1, "OW update;RO access"},
       .arguments = "AND | OR | XOR | NOT destination key [key ...]",
       .summary = "Combines the bits of several values and stores the result."},
  });
  return kRows;
}

}  // namespace keyway::server
