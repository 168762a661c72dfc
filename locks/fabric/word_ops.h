// The 8-byte operations of a coherent processor, used by every endpoint that can reach memory
// directly. Orders: a load acquires, a store releases, a read-modify-write does both. Together
// they give E4 of endpoint.h; nothing here orders a store before a later load (Endpoint::fence).
// Bytes are moved by the same loads and stores (E6), so an agent may look at bytes that another one
// changes, and then find out that it should not have.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

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

namespace detail {

/// Moves one unit, if that many bytes are left.
template <class Unit, class Move>
[[gnu::always_inline]] inline bool move_unit(std::byte*& at, std::size_t& left, std::size_t bytes,
                                             Move&& move) {
  if (left < sizeof(Unit)) return false;
  move(std::atomic_ref<Unit>(*reinterpret_cast<Unit*>(at)), bytes - left);
  at += sizeof(Unit);
  left -= sizeof(Unit);
  return true;
}

/// Calls move(unit, i) for each aligned word of some bytes, and for aligned parts of words before
/// the first and behind the last; `i` is the offset of the unit in the bytes.
template <class Move>
[[gnu::always_inline]] inline void for_each_unit(std::byte* at, std::size_t bytes, Move&& move) {
  std::size_t left = bytes;
  const auto reaches = [](const std::byte* place, std::size_t to) {
    return (reinterpret_cast<std::uintptr_t>(place) & (to - 1)) == 0;
  };
  if (!reaches(at, 8)) {
    if (!reaches(at, 2)) move_unit<std::uint8_t>(at, left, bytes, move);
    if (!reaches(at, 4)) move_unit<std::uint16_t>(at, left, bytes, move);
    if (!reaches(at, 8)) move_unit<std::uint32_t>(at, left, bytes, move);
  }
  // The compiler does not unroll loops of atomics. With one word a turn, a get of a local element
  // of 140 bytes takes 1707 instructions instead of 1649.
  while (left >= 4 * sizeof(std::uint64_t)) {
    for (int i = 0; i < 4; ++i) move_unit<std::uint64_t>(at, left, bytes, move);
  }
  while (move_unit<std::uint64_t>(at, left, bytes, move)) {
  }
  move_unit<std::uint32_t>(at, left, bytes, move);
  move_unit<std::uint16_t>(at, left, bytes, move);
  move_unit<std::uint8_t>(at, left, bytes, move);
}

}  // namespace detail

/// Copies shared bytes out. Every load acquires: a load after it sees what was stored before any of
/// the bytes that it has seen.
[[gnu::always_inline]] inline void load_bytes(std::byte* at, std::span<std::byte> out) {
  std::byte* const to = out.data();
  detail::for_each_unit(at, out.size(), [to](auto unit, std::size_t i) {
    const auto value = unit.load(std::memory_order_acquire);
    std::memcpy(to + i, &value, sizeof value);
  });
}
/// Copies bytes in. Every store releases: who sees one of the bytes sees what was stored before.
[[gnu::always_inline]] inline void store_bytes(std::byte* at, std::span<const std::byte> in) {
  const std::byte* const from = in.data();
  detail::for_each_unit(at, in.size(), [from](auto unit, std::size_t i) {
    typename decltype(unit)::value_type value;
    std::memcpy(&value, from + i, sizeof value);
    unit.store(value, std::memory_order_release);
  });
}

}  // namespace keyway::fabric::words
