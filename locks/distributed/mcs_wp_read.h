// MCS-WP, the readers' side. Invariants W1 to W5: mcs_wp.h, which includes this file.
#pragma once

#include "keyway/locks/distributed/mcs_wp.h"

namespace keyway::locks {

template <fabric::Endpoint E>
Result<Grant> McsWp::acquire_read(LockAgent<E>& agent, const LockSite& site,
                                  Deadline deadline) const {
  E& ep = agent.ep;
  if ((ep.fetch_add(fabric::rma, state_word(site), kReader) & kWriters) == 0) {
    return granted_read(agent);
  }
  ++agent.stats.contended;
  auto taken = writers(agent, site).prepare();
  if (!taken.ok()) {
    leave(agent, site);
    return taken.status();
  }
  const fabric::Address me = agent.nodes.address(*taken);
  const std::uint64_t next = ep.swap(fabric::rma, list_word(site), me.word());
  ep.store(fabric::rma, me + kNextOffset, next);  // W5: the agent that steps over us needs it
  // W4: in one step from counted to listed, and a look at the writers' bits.
  constexpr std::uint64_t kChange = kListed - kReader;
  const std::uint64_t state = ep.fetch_add(fabric::rma, state_word(site), kChange) + kChange;
  if ((state & kWriters) == 0) {
    let_readers_in(agent, site);
  } else {
    let_writer_in(agent, site, state);
  }
  const auto waited = ep.wait_until(
      me + kStatusOffset, [](std::uint64_t status) { return status != kNodeWaiting; }, deadline);
  if (waited.expired && ep.compare_swap(fabric::rma, me + kStatusOffset, kNodeWaiting,
                                        kNodeAbandoned) == kNodeWaiting) {  // W5
    agent.nodes.abandon(*taken);
    ++agent.stats.timeouts;
    return timed_out(dump(agent, site));
  }
  grant_next(agent, site, next);
  agent.nodes.recycle(*taken);  // the granter was the last to access it
  return granted_read(agent);
}

/// Leaves a lock alone that writers have: tries that are repeated must not keep the claim waiting.
template <fabric::Endpoint E>
Result<Grant> McsWp::try_read(LockAgent<E>& agent, const LockSite& site) {
  E& ep = agent.ep;
  const std::uint64_t seen = ep.compare_swap(fabric::rma, state_word(site), 0, kReader);
  if (seen == 0) return granted_read(agent);
  if ((seen & kWriters) == 0) {
    if ((ep.fetch_add(fabric::rma, state_word(site), kReader) & kWriters) == 0) {
      return granted_read(agent);
    }
    leave(agent, site);
  }
  ++agent.stats.try_failures;
  return Code::kBusy;
}

template <fabric::Endpoint E>
void McsWp::leave(LockAgent<E>& agent, const LockSite& site) {
  const std::uint64_t state =
      agent.ep.fetch_add(fabric::rma, state_word(site), minus(kReader)) - kReader;
  let_writer_in(agent, site, state);
}

template <fabric::Endpoint E>
void McsWp::let_readers_in(LockAgent<E>& agent, const LockSite& site) {
  E& ep = agent.ep;
  if ((ep.fetch_add(fabric::rma, state_word(site), kReader) & kWriters) != 0) {
    return leave(agent, site);  // W4: the writer will find the readers listed
  }
  // W3: we are counted, and our count goes to the first of them.
  if (!hand_count(agent, site, ep.swap(fabric::rma, list_word(site), 0))) leave(agent, site);
}

template <fabric::Endpoint E>
void McsWp::grant_next(LockAgent<E>& agent, const LockSite& site, std::uint64_t next) {
  E& ep = agent.ep;
  if (next == 0) {
    ep.post_fetch_add(fabric::rma, state_word(site), minus(kListed));  // release() completes it
    return;
  }
  ep.fetch_add(fabric::rma, state_word(site), kReader - kListed);  // W3
  if (!hand_count(agent, site, next)) {
    ep.fetch_add(fabric::rma, state_word(site), minus(kReader));  // not the last: we are inside
  }
}

template <fabric::Endpoint E>
bool McsWp::hand_count(LockAgent<E>& agent, const LockSite& site, std::uint64_t first) {
  E& ep = agent.ep;
  while (first != 0) {
    const auto node = fabric::Address::from_word(first);
    if (ep.compare_swap(fabric::rma, node + kStatusOffset, kNodeWaiting, kNodeGranted) ==
        kNodeWaiting) {
      agent.stats.handed_over(1);
      return true;
    }
    first = ep.load(fabric::rma, node + kNextOffset);
    ep.store(fabric::rma, node + kStatusOffset, kNodeIdle);  // N1: its link has been read
    ep.fetch_add(fabric::rma, state_word(site), minus(kListed));
  }
  return false;
}

}  // namespace keyway::locks
