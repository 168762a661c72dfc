// AnyLock: a lock kind chosen while running, by name. The list of kinds is here and nowhere else.
//
// *What.* A closed set in a std::variant: dispatch is a switch on its index, no virtual call.
// A new kind registers by one entry in Kinds (and, where one class has several names, by its
// name in kNames).
// *Thread safety.* Immutable, as every kind.
#pragma once

#include <array>
#include <string_view>
#include <variant>

#include "keyway/locks/distributed/alock.h"
#include "keyway/locks/distributed/alock_rw.h"
#include "keyway/locks/distributed/d_mcs.h"
#include "keyway/locks/distributed/fompi_rw.h"
#include "keyway/locks/distributed/fompi_spin.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/mcs_wp.h"
#include "keyway/locks/distributed/no_lock.h"
#include "keyway/locks/distributed/rma_mcs.h"
#include "keyway/locks/distributed/rma_rw.h"

namespace keyway::locks {

class AnyLock {
 public:
  using Kinds =
      std::variant<FompiRw, FompiSpin, DMcs, RmaMcs, RmaRw, ALock, ALockRw, McsWp, NoLock>;
  /// The kinds to choose from; `none` is not one of them, though make() knows it.
  static constexpr std::array kNames = {FompiRw::kName,   FompiRw::kNameWithBackoff,
                                        FompiSpin::kName, FompiSpin::kNameOfRdma,
                                        DMcs::kName,      DMcs::kNameOfRdma,
                                        RmaMcs::kName,    RmaRw::kName,
                                        ALock::kName,     ALockRw::kName,
                                        McsWp::kName};

  /// From text such as "gbh" or "d-mcs"; an unknown kind's error lists the known ones.
  static Result<AnyLock> make(std::string_view text);
  static Result<AnyLock> make(const LockParams& params);
  AnyLock() = default;  // fompi-rw with its defaults
  explicit AnyLock(Kinds kind) : kind_(kind) {}

  LockTraits traits() const {
    return std::visit([](const auto& kind) { return kind.traits(); }, kind_);
  }
  template <fabric::Endpoint E>
  Result<Grant> acquire(LockAgent<E>& agent, const LockSite& site, Mode mode,
                        Deadline deadline) const {
    return timed(agent, [&] {
      return std::visit([&](const auto& kind) { return kind.acquire(agent, site, mode, deadline); },
                        kind_);
    });
  }
  template <fabric::Endpoint E>
  Result<Grant> try_acquire(LockAgent<E>& agent, const LockSite& site, Mode mode) const {
    return timed(agent, [&] {
      return std::visit([&](const auto& kind) { return kind.try_acquire(agent, site, mode); },
                        kind_);
    });
  }
  template <fabric::Endpoint E>
  void release(LockAgent<E>& agent, const LockSite& site, Grant& grant) const {
    std::visit([&](const auto& kind) { kind.release(agent, site, grant); }, kind_);
    if (grant.timed_ns != 0) [[unlikely]] {
      agent.times->hold_ns.record(agent.ep.now_ns() - grant.timed_ns);
    }
  }
  template <fabric::Endpoint E>
  LockDump dump(LockAgent<E>& agent, const LockSite& site) const {
    return std::visit([&](const auto& kind) { return kind.dump(agent, site); }, kind_);
  }

 private:
  template <fabric::Endpoint E, class Take>
  static Result<Grant> timed(LockAgent<E>& agent, const Take& take) {
    if (agent.times == nullptr || !agent.times->samples()) [[likely]]
      return take();
    const std::uint64_t asked = agent.ep.now_ns();
    auto grant = take();
    if (!grant.ok()) return grant;
    grant->timed_ns = agent.ep.now_ns();
    agent.times->wait_ns.record(grant->timed_ns - asked);
    return grant;
  }

  Kinds kind_;
};

}  // namespace keyway::locks
