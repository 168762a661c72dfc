// The 8-byte operations of a coherent processor, used by every endpoint that can reach memory
// directly. Orders: a load acquires, a store releases, a read-modify-write does both. Together
// they give E4 of endpoint.h; nothing here orders a store before a later load (Endpoint::fence).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "keyway/locks/base/check.h"

namespace keyway::fabric::words {

inline std::atomic_ref<std::uint64_t> word_at(std::byte* at) {
  KW_DCHECK((reinterpret_cast<std::uintptr_t>(at) & 7) == 0);
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at));
}

// acquire: sees what the agent that stored the value wrote before it.
inline std::uint64_t load(std::byte* at) { return word_at(at).load(std::memory_order_acquire); }
// release: publishes this agent's earlier writes to an agent that loads the value.
inline void store(std::byte* at, std::uint64_t value) {
  word_at(at).store(value, std::memory_order_release);
}
// acq_rel, here and below: the same kind of operation acquires a lock word and passes it on.
inline std::uint64_t swap(std::byte* at, std::uint64_t value) {
  return word_at(at).exchange(value, std::memory_order_acq_rel);
}
inline std::uint64_t fetch_add(std::byte* at, std::uint64_t value) {
  return word_at(at).fetch_add(value, std::memory_order_acq_rel);
}
inline std::uint64_t fetch_or(std::byte* at, std::uint64_t value) {
  return word_at(at).fetch_or(value, std::memory_order_acq_rel);
}
// A failed compare-and-swap still acquires: its result is a value that another agent published.
inline std::uint64_t compare_swap(std::byte* at, std::uint64_t expected, std::uint64_t desired) {
  word_at(at).compare_exchange_strong(expected, desired, std::memory_order_acq_rel,
                                      std::memory_order_acquire);
  return expected;
}

}  // namespace keyway::fabric::words
