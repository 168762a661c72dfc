// The source of the secret of a store's hash: the operating system, or an option.
//
// *Why.* Each operation walks the chain of its key's bucket under the stripe's lock. A client that
// knows the hash can fill one bucket with thousands of keys, and delay all other clients.
#pragma once

#include <optional>
#include <string_view>

#include "keyway/kvstore/layout/siphash.h"
#include "keyway/locks/base/status.h"

namespace keyway::store {

/// 128 bits of the system's randomness. Early after the system's start it waits until there are
/// any. kUnavailable.
Result<HashSecret> draw_hash_secret();

/// A secret as an option gives it: 32 hexadecimal digits, those of `high` first.
std::optional<HashSecret> parse_hash_secret(std::string_view text);

}  // namespace keyway::store
