// NoLock: the kind `none`. It excludes no agent: the floor against which benchmarks compare a lock.
//
// *What.* Every acquire succeeds at once and touches no word. A store opens with it only if the
// caller declares a benchmark (client/client.h); concurrent writers destroy data.
// *Thread safety.* As lock.h says; L1 and L4 do not hold.
// *Invariants.* L3 only: release completes the operations that the holder posted to the lock's home
// rank.
// *Source.* Design section 13: the floor first.
#pragma once

#include "keyway/locks/distributed/footprint.h"
#include "keyway/locks/distributed/lock_agent.h"

namespace keyway::locks {

class NoLock {
 public:
  static constexpr std::string_view kName = "none";
  static constexpr std::array kNames = {kName};
  static constexpr std::array<std::string_view, 0> kChecked{};
  static constexpr std::array<Footprint, 0> kFootprints{};
  static constexpr bool kExcludesNobody =
      true;  // so it cannot be switched, and AnyLock does not list it

  static Result<NoLock> make(LockParams params) {
    if (auto rest = params.require_all_taken(); !rest.ok()) return rest;
    return NoLock();
  }
  LockTraits traits() const { return {.name = kName, .readers_share = true}; }

  template <fabric::Endpoint E>
  Result<Grant> acquire(LockAgent<E>& agent, const LockSite&, Mode mode, Deadline) const {
    ++(mode == Mode::kRead ? agent.stats.reads : agent.stats.writes);
    return Grant{.mode = mode};
  }
  template <fabric::Endpoint E>
  Result<Grant> try_acquire(LockAgent<E>& agent, const LockSite& site, Mode mode) const {
    return acquire(agent, site, mode, Deadline::never());
  }
  template <fabric::Endpoint E>
  void release(LockAgent<E>& agent, const LockSite& site, Grant&) const {
    agent.ep.flush(site.line.rank());  // L3
  }
  template <fabric::Endpoint E>
  LockDump dump(LockAgent<E>&, const LockSite& site) const {
    return {.kind = std::string(kName), .line = site.line};
  }
};

}  // namespace keyway::locks
