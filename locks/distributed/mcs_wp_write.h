// MCS-WP, the writers' side. Invariants W1 to W5: mcs_wp.h, which includes this file.
#pragma once

#include "keyway/locks/distributed/mcs_wp.h"

namespace keyway::locks {

template <fabric::Endpoint E>
Result<Grant> McsWp::acquire_write(LockAgent<E>& agent, const LockSite& site,
                                   Deadline deadline) const {
  auto queue = writers(agent, site);
  auto taken = queue.prepare();
  if (!taken.ok()) return taken.status();
  deadline = deadline.started(agent.ep.now_ns());
  const Entered entered = queue.enter(*taken, deadline);
  const bool first = entered.how == Entered::How::kFirst;
  if (!first) ++agent.stats.contended;
  if (entered.how != Entered::How::kExpired) {
    if (entered.payload == kTheLock) return granted_write(agent, *taken);
    if (enter_free(agent, site)) return granted_write(agent, *taken);
    if (first) ++agent.stats.contended;
    if (enter_from_front(agent, site, *taken, deadline)) {
      return granted_write(agent, *taken);
    }
  }
  ++agent.stats.timeouts;
  return timed_out(dump(agent, site));
}

template <fabric::Endpoint E>
Result<Grant> McsWp::try_write(LockAgent<E>& agent, const LockSite& site) {
  auto queue = writers(agent, site);
  auto taken = queue.prepare();
  if (!taken.ok()) return taken.status();
  if (queue.try_enter(*taken)) {
    if (enter_free(agent, site)) return granted_write(agent, *taken);
    queue.pass(agent.nodes.address(*taken), kTheFront);  // another writer may have joined behind us
  }
  agent.nodes.recycle(*taken);
  ++agent.stats.try_failures;
  return Code::kBusy;
}

template <fabric::Endpoint E>
void McsWp::release_write(LockAgent<E>& agent, const LockSite& site, std::uint32_t node) {
  if (writers(agent, site).pass(agent.nodes.address(node), kTheLock)) {
    agent.stats.handed_over(1);
  } else {  // W2
    const std::uint64_t state =
        agent.ep.fetch_add(fabric::rma, state_word(site), minus(kActive)) - kActive;
    if ((state & kWriters) != 0) {
      let_writer_in(agent, site, state);
    } else if (has_listed(state)) {
      let_readers_in(agent, site);
    }
  }
  agent.nodes.recycle(node);
}

template <fabric::Endpoint E>
bool McsWp::enter_free(LockAgent<E>& agent, const LockSite& site) {
  std::uint64_t state = 0;
  while ((state & kWriters) == 0 && readers(state) == 0) {
    const std::uint64_t seen =
        agent.ep.compare_swap(fabric::rma, state_word(site), state, state | kActive);
    if (seen == state) return true;
    state = seen;
  }
  return false;
}

template <fabric::Endpoint E>
bool McsWp::enter_from_front(LockAgent<E>& agent, const LockSite& site, std::uint32_t node,
                             Deadline deadline) {
  E& ep = agent.ep;
  const fabric::Address me = agent.nodes.address(node);
  writers(agent, site).stands_behind(me, 0);
  ep.post_store(fabric::rma, me + kStatusOffset, kNodeWaiting);  // the queue may have granted it
  ep.post_store(fabric::rma, front_word(site), me.word());
  ep.flush(me.rank());
  ep.flush(site.line.rank());  // W1: both must be in place before `waits` leads an agent here
  const std::uint64_t state = ep.fetch_add(fabric::rma, state_word(site), kWaits) + kWaits;
  if (claim(agent, site, state)) return true;  // the readers had left
  const auto waited = ep.wait_until(
      me + kStatusOffset, [](std::uint64_t status) { return status == kNodeGranted; }, deadline);
  return !waited.expired || !withdraw(agent, site, node);
}

template <fabric::Endpoint E>
bool McsWp::withdraw(LockAgent<E>& agent, const LockSite& site, std::uint32_t node) {
  E& ep = agent.ep;
  const fabric::Address me = agent.nodes.address(node);
  std::uint64_t state = ep.load(fabric::rma, state_word(site));
  while (true) {
    if ((state & kWaits) == 0) {  // claimed: the grant is on its way
      ep.wait_until(
          me + kStatusOffset, [](std::uint64_t status) { return status == kNodeGranted; },
          Deadline::never());
      return false;
    }
    const std::uint64_t seen =
        ep.compare_swap(fabric::rma, state_word(site), state, state - kWaits);
    if (seen == state) break;
    state = seen;
  }
  // The next writer takes our place, and with it our duty to the listed readers.
  if (!writers(agent, site).pass(me, kTheFront) && (state & kActive) == 0 && has_listed(state)) {
    let_readers_in(agent, site);
  }
  ep.store(fabric::rma, me + kStatusOffset, kNodeIdle);
  agent.nodes.recycle(node);
  return true;
}

template <fabric::Endpoint E>
bool McsWp::claim(LockAgent<E>& agent, const LockSite& site, std::uint64_t state) {
  while ((state & kWriters) == kWaits && readers(state) == 0) {
    const std::uint64_t seen =
        agent.ep.compare_swap(fabric::rma, state_word(site), state, state ^ kWriters);
    if (seen == state) return true;
    state = seen;  // its last changer must claim as well: one of us does
  }
  return false;
}

template <fabric::Endpoint E>
void McsWp::let_writer_in(LockAgent<E>& agent, const LockSite& site, std::uint64_t state) {
  E& ep = agent.ep;
  if (!claim(agent, site, state)) return;
  const auto front = fabric::Address::from_word(ep.load(fabric::rma, front_word(site)));
  ep.store(fabric::rma, front + kStatusOffset, kNodeGranted);
  agent.stats.handed_over(1);
}

}  // namespace keyway::locks
