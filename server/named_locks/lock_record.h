// LockRecord: the locks of one shard, as the bytes of an element of the lock store.
//
//   8 bytes   the last token given out in this shard
//   per lock  8 bytes: bits 15..0 bytes of the name, 39..16 holders, 63..40 waiters; the name
//   per claim 8 bytes: bits 31..0 rank, 32 a writer, 47..40 bytes of the address
//             8 bytes each: client, token, lease in ms, time in ms; the address
//   zeros     as many as there are
// A waiter takes as much as a holder, so that letting in needs no room (N6).
//
// *Thread safety.* Functions of their arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/server/named_locks/lock_state.h"

namespace keyway::server {

inline constexpr std::size_t kMaxNameBytes = 1024;
inline constexpr std::size_t kMaxAddressBytes = 128;  // a longer one is cut: it is for people

/// Shards of all names: as many as slots, so that a lock is at home where its name's slot is.
struct LockRecord {
  std::uint64_t last_token = 0;
  std::vector<LockState> locks;  // none of them free
  bool operator==(const LockRecord&) const = default;
};

void encode(const LockRecord& record, std::string& out);
/// Decodes bytes that encode() made, with or without zeros after them.
LockRecord decode(std::string_view bytes);

}  // namespace keyway::server
