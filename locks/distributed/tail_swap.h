// How an agent swaps itself into the tail of a queue.
//
// *What.* There are two ways. The fabric's swap is one atomic that never fails. The other is a
// compare-and-swap loop, as on RDMA verbs, which have no swap: SPAA'24 (Algorithm 3, line 3) and
// its RDMA MCS lock use it, with the value that a failed attempt returned as the next guess. That
// loop is lock-free and not wait-free, and as printed it can collapse: one of k agents at a tail
// succeeds and the others' attempts all fail, so the atomics of a join grow with k, they fill the
// card, and k grows with the duration of a join. So from the third attempt on we back off, and read
// the tail again before the next attempt: by then the last guess is old, and a read costs the card
// far less than an atomic that fails.
// *Thread safety.* Plain data.
#pragma once

#include <cstdint>

#include "keyway/locks/distributed/lock_params.h"
#include "keyway/locks/fabric/address.h"
#include "keyway/locks/fabric/endpoint.h"

namespace keyway::locks {

enum class TailSwap : std::uint8_t { kSwap, kCas };

struct TailRules {
  TailSwap how = TailSwap::kSwap;
  fabric::Backoff backoff;  // for kCas
};

/// From a round trip of RDMA to fifty of them: hundreds of agents that wait so do not fill a card.
inline constexpr fabric::Backoff kTailBackoff{2'000, 100'000};

/// swap=on|off, `fallback` when it is not there, and join_backoff_ns, the longest back-off of
/// swap=off; 0: none.
Result<TailRules> take_tail_rules(LockParams& params, TailSwap fallback);

/// The way of kCas; out of line, so that the other is short.
template <fabric::Endpoint E, class Words>
[[gnu::noinline]] fabric::WaitResult compare_swap_tail(E& ep, const Words& words,
                                                       const fabric::Backoff& backoff,
                                                       fabric::Address tail, std::uint64_t mine,
                                                       Deadline& deadline) {
  const std::uint64_t first = words.compare_swap(tail, 0, mine);
  if (first == 0 || words.compare_swap(tail, first, mine) == first) return {first, false};
  deadline = deadline.started(ep.now_ns());
  std::uint64_t guess = 0;
  const auto attempt = [&] {
    guess = words.load(tail);
    return words.compare_swap(tail, guess, mine) == guess;
  };
  const bool joined = ep.retry_until(attempt, backoff, deadline);
  return {guess, !joined};
}

/// `words` offers load(address), compare_swap(address, expected, desired) and swap(address, value).
/// The value is the old tail, 0 when the queue was empty; expired: the deadline, which a failed
/// attempt starts, has passed and the tail was not changed.
template <fabric::Endpoint E, class Words>
fabric::WaitResult swap_tail(E& ep, const Words& words, const TailRules& rules,
                             fabric::Address tail, std::uint64_t mine, Deadline& deadline) {
  if (rules.how == TailSwap::kSwap) return {words.swap(tail, mine), false};
  return compare_swap_tail(ep, words, rules.backoff, tail, mine, deadline);
}

}  // namespace keyway::locks
