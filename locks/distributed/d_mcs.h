// D-MCS: the MCS queue lock in RMA memory. FIFO; each waiter polls a word on its own rank.
//
// *What.* Mutual exclusion; readers are treated as writers. Word 0 of the line is the tail: the
// address of the last waiter's node, 0 when free.
// *Thread safety.* As lock.h says.
// *Invariants.* D1 to D4 of mcs_queue.h.
// *Source.* HPDC'16 Listings 2 and 3; mcs_queue.h lists the deviations. As "rdma-mcs" it is
// SPAA'24's RDMA MCS lock (section 6): the same with compare-and-swap for the tail's swap, and it
// uses the network card also for local words of the lock and for local nodes of others, but not for
// the agent's own node. Joining its queue is only lock-free, so it guarantees no order. Levers:
// swap, join_backoff_ns (tail_swap.h).
#pragma once

#include "keyway/locks/distributed/footprint.h"
#include "keyway/locks/distributed/grant_record.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/mcs_queue.h"

namespace keyway::locks {

class DMcs {
 public:
  static constexpr std::string_view kName = "d-mcs";
  static constexpr std::string_view kNameOfRdma = "rdma-mcs";
  static constexpr std::array kNames = {kName, kNameOfRdma};
  static constexpr std::array<std::string_view, 0> kChecked{};
  static constexpr std::array kFootprints = {
      Footprint{.kind = kName,
                .text = kName,
                .local_read = {.near_rma = 3},
                .remote_read = {.near_rma = 1, .far_rma = 2},
                .local_write = {.near_rma = 3},
                .remote_write = {.near_rma = 1, .far_rma = 2}}};

  static Result<DMcs> make(LockParams params) {
    DMcs lock;
    if (params.kind() == kNameOfRdma) {
      auto tail = take_tail_rules(params, TailSwap::kCas);
      if (!tail.ok()) return tail.status();
      lock.rules_ = {.tail = *tail, .loopback = true};
      lock.name_ = kNameOfRdma;
    }
    if (auto rest = params.require_all_taken(); !rest.ok()) return rest;
    return lock;
  }
  LockTraits traits() const {
    const bool swaps = rules_.tail.how == TailSwap::kSwap;
    return {.name = name_, .fifo = swaps, .queued = true, .starvation_free = swaps};
  }

  template <fabric::Endpoint E>
  Result<Grant> acquire(LockAgent<E>& agent, const LockSite& site, Mode mode,
                        Deadline deadline) const {
    auto queue = queue_of(agent, site);
    auto node = queue.prepare();
    if (!node.ok()) return node.status();
    const Entered entered = queue.enter(*node, deadline);
    if (entered.how != Entered::How::kFirst) ++agent.stats.contended;
    if (entered.how == Entered::How::kExpired) {
      ++agent.stats.timeouts;
      return timed_out(dump(agent, site));
    }
    return granted(agent, mode, *node);
  }

  template <fabric::Endpoint E>
  Result<Grant> try_acquire(LockAgent<E>& agent, const LockSite& site, Mode mode) const {
    auto queue = queue_of(agent, site);
    auto node = queue.prepare();
    if (!node.ok()) return node.status();
    if (queue.try_enter(*node)) return granted(agent, mode, *node);
    agent.nodes.recycle(*node);
    ++agent.stats.try_failures;
    return Code::kBusy;
  }

  template <fabric::Endpoint E>
  void release(LockAgent<E>& agent, const LockSite& site, Grant& grant) const {
    agent.ep.flush(site.line.rank());  // L3
    const auto node = grant.payload.as<std::uint32_t>();
    if (queue_of(agent, site).pass(agent.nodes.address(node), 0)) agent.stats.handed_over(1);
    agent.nodes.recycle(node);
  }

  template <fabric::Endpoint E>
  LockDump dump(LockAgent<E>& agent, const LockSite& site) const {
    LockDump dump{.kind = std::string(name_)};
    dump.write_held = agent.ep.load(fabric::rma, site.line) != 0;
    dump_line(agent, site, dump);
    name_holder(agent, dump_queue(agent, site.line, dump.queue), dump);
    return dump;
  }

 private:
  template <fabric::Endpoint E>
  McsQueue<E, fabric::RmaClass> queue_of(LockAgent<E>& agent, const LockSite& site) const {
    return {agent, fabric::rma, site.line, rules_};
  }

  template <fabric::Endpoint E>
  static Grant granted(LockAgent<E>& agent, Mode mode, std::uint32_t node) {
    ++(mode == Mode::kRead ? agent.stats.reads : agent.stats.writes);
    return {.mode = mode, .token_known = false, .payload = node};
  }

  McsRules rules_;
  std::string_view name_ = kName;
};

}  // namespace keyway::locks
