// AnyLock: a lock kind selected by name at run time. This file has the only list of the kinds.
//
// *What.* A closed set in a std::variant: dispatch is a switch on its index, no virtual call. A new
// kind registers by its #include and one entry in Kinds. All other data about a kind comes from its
// own header (ListedKind): names, footprint, and the texts that tests run.
// *Thread safety.* Immutable, as every kind.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

#include "keyway/locks/distributed/alock.h"
#include "keyway/locks/distributed/alock_rw.h"
#include "keyway/locks/distributed/d_mcs.h"
#include "keyway/locks/distributed/fompi_rw.h"
#include "keyway/locks/distributed/fompi_spin.h"
#include "keyway/locks/distributed/footprint.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/mcs_wp.h"
#include "keyway/locks/distributed/no_lock.h"
#include "keyway/locks/distributed/rma_mcs.h"
#include "keyway/locks/distributed/rma_rw.h"
#include "keyway/locks/distributed/rw_ticket.h"

namespace keyway::locks {

/// The declarations that a kind's header must have.
template <class L>
concept ListedKind = requires {
  // The names by which make() knows it, as in `--lock NAME`.
  { L::kNames.at(0) } -> std::convertible_to<std::string_view>;
  // Texts with levers that change its protocol: the conformance suite runs them beside the names.
  { L::kChecked.begin() } -> std::convertible_to<const std::string_view*>;
  // At most one for each name; empty: lock=auto does not choose the kind.
  { L::kFootprints.begin() } -> std::convertible_to<const Footprint*>;
};

/// Joins several arrays.
template <class T, std::size_t... N>
constexpr auto joined(const std::array<T, N>&... parts) {
  std::array<T, (N + ... + 0)> all{};
  auto at = all.begin();
  ((at = std::copy(parts.begin(), parts.end(), at)), ...);
  return all;
}

/// A list of kinds. `none` is not among the listed names, but make() accepts it.
template <ListedKind... L>
struct KindList {
  using Variant = std::variant<L...>;

  template <class Kind>
  static constexpr auto listed_names() {
    if constexpr (requires { Kind::kExcludesNobody; }) {
      return std::array<std::string_view, 0>{};
    } else {
      return Kind::kNames;
    }
  }
  static constexpr auto kNames = joined(listed_names<L>()...);
  static constexpr auto kChecked = joined(listed_names<L>()..., L::kChecked...);
  static constexpr auto kFootprints = joined(L::kFootprints...);
};

class AnyLock {
 public:
  /// In the order in which lock=auto breaks ties.
  using List =
      KindList<RmaRw, ALock, ALockRw, FompiRw, FompiSpin, DMcs, RmaMcs, McsWp, RwTicket, NoLock>;
  using Kinds = List::Variant;
  static constexpr auto kNames = List::kNames;
  static constexpr auto kChecked = List::kChecked;
  static constexpr auto kFootprints = List::kFootprints;

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
  /// The same. A kind that can calls post_reads() to post reads of the lock's home rank together
  /// with its own operations; the grant's `read_first` says whether they were made under the lock.
  template <fabric::Endpoint E, class PostReads>
  [[gnu::hot]] Result<Grant> acquire(LockAgent<E>& agent, const LockSite& site, Mode mode,
                                     Deadline deadline, PostReads&& post_reads) const {
    const auto take = [&](const auto& kind) {
      if constexpr (requires { kind.acquire(agent, site, mode, deadline, post_reads); }) {
        return kind.acquire(agent, site, mode, deadline, post_reads);
      } else {
        return kind.acquire(agent, site, mode, deadline);
      }
    };
    return timed(agent, [&] { return std::visit(take, kind_); });
  }
  template <fabric::Endpoint E>
  Result<Grant> try_acquire(LockAgent<E>& agent, const LockSite& site, Mode mode) const {
    return timed(agent, [&] {
      return std::visit([&](const auto& kind) { return kind.try_acquire(agent, site, mode); },
                        kind_);
    });
  }
  template <fabric::Endpoint E>
  [[gnu::hot]] void release(LockAgent<E>& agent, const LockSite& site, Grant& grant) const {
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

  Kinds kind_ = FompiRw();
};

}  // namespace keyway::locks
