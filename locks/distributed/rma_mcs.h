// RMA-MCS: the MCS lock for machines of several levels. The lock stays near for a while.
//
// *What.* Mutual exclusion; readers are treated as writers. A tree with a queue for every element
// of the machine (queue_tree.h): a holder passes the lock to the next agent in its own element, up
// to t_l times in a row at each level, before another element gets it. Not first come, first
// served; free of starvation. Word 0 of the line is the tail of the root's queue; the tails of the
// other queues are satellites (satellite.h).
// *Thread safety.* As lock.h says.
// *Invariants.* T1 to T7 of queue_tree.h.
// *Source.* HPDC'16 sections 3.1 to 3.3 and 3.5, Listings 4 and 5; queue_tree.h lists the
// deviations. Levers: t_l2, t_l3, ...: how many times in a row an element of that level (2: the
// level below the whole machine) passes the lock on within itself; t_l for all of them. Levers for
// levels that a machine does not have are ignored.
#pragma once

#include "keyway/locks/distributed/footprint.h"
#include "keyway/locks/distributed/grant_record.h"
#include "keyway/locks/distributed/queue_tree.h"

namespace keyway::locks {

class RmaMcs {
 public:
  static constexpr std::string_view kName = "rma-mcs";
  static constexpr std::array kNames = {kName};
  static constexpr std::array<std::string_view, 1> kChecked = {"rma-mcs:t_l=1"};
  static constexpr std::array<Footprint, 0> kFootprints{};
  /// The paper does not give the value for RMA-MCS. For RMA-RW at level 2 it measures 10, 25 and
  /// 50, and 50 has the highest throughput (section 5.2.2, figure 4c).
  static constexpr std::uint64_t kDefaultPassings = 50;

  static Result<RmaMcs> make(LockParams params) {
    RmaMcs lock;
    auto passings = take_passings(params, kDefaultPassings);
    if (!passings.ok()) return passings.status();
    lock.most_passings_ = *passings;
    if (auto rest = params.require_all_taken(); !rest.ok()) return rest;
    return lock;
  }
  LockTraits traits() const {
    return {.name = kName, .queued = true, .starvation_free = true, .satellites = true};
  }

  template <fabric::Endpoint E>
  Result<Grant> acquire(LockAgent<E>& agent, const LockSite& site, Mode mode,
                        Deadline deadline) const {
    const auto hold = tree(agent, site).climb(WritersOnly(), deadline);
    if (hold.ok()) return granted(agent, mode, *hold);
    if (hold.code() != Code::kTimeout) return hold.status();
    ++agent.stats.timeouts;
    return timed_out(dump(agent, site));
  }

  template <fabric::Endpoint E>
  Result<Grant> try_acquire(LockAgent<E>& agent, const LockSite& site, Mode mode) const {
    const auto hold = tree(agent, site).try_climb(WritersOnly());
    if (hold.ok()) return granted(agent, mode, *hold);
    if (hold.code() == Code::kBusy) ++agent.stats.try_failures;
    return hold.status();
  }

  template <fabric::Endpoint E>
  void release(LockAgent<E>& agent, const LockSite& site, Grant& grant) const {
    agent.ep.flush(site.line.rank());  // L3
    tree(agent, site).descend(grant.payload.as<TreeHold>(), WritersOnly());
  }

  template <fabric::Endpoint E>
  LockDump dump(LockAgent<E>& agent, const LockSite& site) const {
    LockDump dump{.kind = std::string(kName)};
    dump.write_held = agent.ep.load(fabric::rma, site.line) != 0;
    dump_line(agent, site, dump);
    name_holder(agent, tree(agent, site).dump(dump.queue), dump);
    return dump;
  }

 private:
  template <fabric::Endpoint E>
  QueueTree<E> tree(LockAgent<E>& agent, const LockSite& site) const {
    return {agent, site, most_passings_};
  }
  template <fabric::Endpoint E>
  static Grant granted(LockAgent<E>& agent, Mode mode, const TreeHold& hold) {
    ++(mode == Mode::kRead ? agent.stats.reads : agent.stats.writes);
    return {.mode = mode, .token_known = false, .payload = hold};
  }

  MostPassings most_passings_{};
};

}  // namespace keyway::locks
