// How an agent swaps itself into the tail of a queue.
//
// *What.* By the fabric's swap, or by compare-and-swap with the last value seen as the next guess,
// as on RDMA verbs, which have no swap: so do SPAA'24 (Algorithm 3, line 3) and its RDMA MCS lock.
// The loop is lock-free and not wait-free: an agent may miss its turn while others come and go.
// *Thread safety.* Plain data.
#pragma once

#include <cstdint>

#include "keyway/locks/fabric/address.h"

namespace keyway::locks {

enum class TailSwap : std::uint8_t { kSwap, kCas };

/// `words` offers compare_swap(address, expected, desired) and swap(address, value). Returns the
/// old tail, 0 when the queue was empty.
template <class Words>
std::uint64_t swap_tail(const Words& words, TailSwap how, fabric::Address tail,
                        std::uint64_t mine) {
  if (how == TailSwap::kSwap) return words.swap(tail, mine);
  std::uint64_t guess = 0;
  while (true) {
    const std::uint64_t seen = words.compare_swap(tail, guess, mine);
    if (seen == guess) return seen;
    guess = seen;
  }
}

}  // namespace keyway::locks
