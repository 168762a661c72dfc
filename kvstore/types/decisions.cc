#include "keyway/kvstore/types/decisions.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace keyway::store {

Status refuse_key(std::uint64_t bytes) {
  return {Code::kInvalidArgument,
          fmt::format("a key has {} bytes; it must have 1 to {}", bytes, kMaxKeyBytes)};
}

Status refuse_value(std::uint64_t bytes) {
  return {Code::kInvalidArgument,
          fmt::format("a value has {} bytes; it may have at most {}", bytes, kMaxValueBytes)};
}

Status check_overwrite(std::uint64_t value_bytes, const Decision& decision) {
  // First by itself: its sum with a length could wrap around.
  if (decision.offset > kMaxValueBytes) return check_value(decision.offset);
  return check_value(overwritten_bytes(value_bytes, decision));
}

/// All of it may be long: the value that moves, the zeros, and the bytes.
void overwrite(std::string& value, const Decision& decision, const Parts& parts) {
  const std::uint64_t after = overwritten_bytes(value.size(), decision);
  if (after > value.capacity()) {
    std::string grown;
    grown.reserve(std::max(after, 2 * value.capacity()));  // as resize() does: appends are many
    for_each_part(value.size(), parts,
                  [&](std::size_t at, std::size_t n) { grown.append(value, at, n); });
    value.swap(grown);
  }
  const std::uint64_t gap = decision.offset - std::min(decision.offset, value.size());
  for_each_part(gap, parts, [&](std::size_t, std::size_t n) { value.append(n, '\0'); });
  for_each_part(decision.value.size(), parts, [&](std::size_t at, std::size_t n) {
    value.replace(decision.offset + at, n, decision.value, at, n);
  });
}

Status check_named_once(std::span<const std::string_view> keys) {
  std::vector<std::string_view> sorted(keys.begin(), keys.end());
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return {};
  return {Code::kInvalidArgument, "a transaction names a key twice; name each key once"};
}

}  // namespace keyway::store
