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

void overwrite(std::string& value, const Decision& decision) {
  value.resize(overwritten_bytes(value.size(), decision), '\0');
  value.replace(decision.offset, decision.value.size(), decision.value);
}

Status check_named_once(std::span<const std::string_view> keys) {
  std::vector<std::string_view> sorted(keys.begin(), keys.end());
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return {};
  return {Code::kInvalidArgument, "a transaction names a key twice; name each key once"};
}

}  // namespace keyway::store
