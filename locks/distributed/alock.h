// ALock: local agents use the `cpu` class only, remote agents `rma` only; no loopback.
//
// *What.* Mutual exclusion; readers are treated as writers. It consists of AlockCore and the
// grant's record. A dump names the holder and both queues. While one cohort waits, the other cohort
// gets at most its budget of grants in a row. Each queue is first come, first served. No agent
// starves. With swap=off, as in the paper (RDMA verbs have no swap), this holds for agents that
// have joined their queue; joining the remote queue is a loop that is only lock-free (tail_swap.h).
// *Thread safety.* As lock.h says.
// *Invariants.* A1 to A6 of alock_core.h, P1 to P3 of plain_queue.h.
// *Source.* SPAA'24; alock_core.h lists the deviations.
#pragma once

#include "keyway/locks/distributed/alock_core.h"
#include "keyway/locks/distributed/footprint.h"

namespace keyway::locks {

class ALock {
 public:
  static constexpr std::string_view kName = "alock";
  static constexpr std::array kNames = {kName};
  static constexpr std::array<std::string_view, 1> kChecked = {
      "alock:local_budget=1,remote_budget=1,swap=off"};
  /// Remote: the tail, then the victim and the other tail in one round trip, then the release.
  static constexpr std::array kFootprints = {
      Footprint{.kind = kName,
                .text = kName,
                .local_read = {.cpu = 3},
                .remote_read = {.far_rma = 3, .orders = 1},
                .local_write = {.cpu = 3},
                .remote_write = {.far_rma = 3, .orders = 1}}};

  static Result<ALock> make(LockParams params) {
    auto rules = AlockRules::take(params);
    if (!rules.ok()) return rules.status();
    if (auto rest = params.require_all_taken(); !rest.ok()) return rest;
    ALock lock;
    lock.rules_ = *rules;
    return lock;
  }
  LockTraits traits() const {
    return {.name = kName, .queued = true, .starvation_free = rules_.tail.how == TailSwap::kSwap};
  }

  template <fabric::Endpoint E>
  Result<Grant> acquire(LockAgent<E>& agent, const LockSite& site, Mode mode,
                        Deadline deadline) const {
    return granted(agent, site, mode, AlockCore<E>(rules_, agent, site.line).acquire(deadline));
  }
  template <fabric::Endpoint E>
  Result<Grant> try_acquire(LockAgent<E>& agent, const LockSite& site, Mode mode) const {
    return granted(agent, site, mode, AlockCore<E>(rules_, agent, site.line).try_acquire());
  }
  template <fabric::Endpoint E>
  void release(LockAgent<E>& agent, const LockSite& site, Grant& grant) const {
    AlockCore<E> core(rules_, agent, site.line);
    const auto hold = grant.payload.as<AlockHold>();
    if (core.release(hold.node(), hold.budget(), false, [] {})) {
      agent.stats.handed_over(agent.ep.is_local(site.line.rank()) ? agent.local_level : 1);
    }
  }

  template <fabric::Endpoint E>
  LockDump dump(LockAgent<E>& agent, const LockSite& site) const {
    LockDump dump{.kind = std::string(kName)};
    const ByClass words(agent.ep);
    dump.write_held = words.load(site.line + kLocalTailOffset) != 0 ||
                      words.load(site.line + kRemoteTailOffset) != 0;
    dump_cohorts(agent, site, dump);
    return dump;
  }

 private:
  template <fabric::Endpoint E>
  Result<Grant> granted(LockAgent<E>& agent, const LockSite& site, Mode mode,
                        Result<typename AlockCore<E>::Entry> entry) const {
    using Outcome = typename AlockCore<E>::Outcome;
    if (!entry.ok()) return entry.status();
    if (entry->outcome == Outcome::kBusy) {
      ++agent.stats.try_failures;
      return Code::kBusy;
    }
    if (entry->outcome == Outcome::kExpired) {
      ++agent.stats.timeouts;
      return timed_out(dump(agent, site));
    }
    ++(mode == Mode::kRead ? agent.stats.reads : agent.stats.writes);
    Grant grant{.mode = mode, .payload = entry->hold};
    record_grant(agent, site, grant, agent.nodes.address(entry->hold.node()).word());
    return grant;
  }

  AlockRules rules_;
};

}  // namespace keyway::locks
