// FaultyEndpoint: an agent of a simulated machine that has a fault, of the machine or planted.
//
// *What.* A SimEndpoint that stops before operations (an agent that loses its core, also while it
// holds a lock; a slow path), or that breaks the endpoint's contract in one way, to show that the
// store's checks find it. Without a fault it is a SimEndpoint. Determined by the seed, as
// everything here.
// *Thread safety.* As endpoint.h says.
#pragma once

#include <list>
#include <span>
#include <utility>
#include <vector>

#include "keyway/locks/base/rng.h"
#include "keyway/locks/fabric/sim/sim_fabric.h"

namespace keyway::test {

struct Faults {
  /// Before one operation in eight the agent stops for up to so long.
  double slow_ns = 0;
  /// Before every operation on a rank of which this is true, so long at most.
  bool (*is_late)(std::uint32_t rank) = nullptr;
  double late_ns = 0;
  /// Planted. Flushes of other ranks come back at once.
  bool forgets_flush = false;
  /// Planted. A wait and a failed attempt end as if they had succeeded: locks are entered unlocked.
  bool impatient = false;
};

/// Operations that are posted and not flushed. A base, so that it outlives the endpoint, which
/// completes its posted operations when it ends.
struct KeptBytes {
  std::list<std::vector<std::byte>> kept;
};

class FaultyEndpoint : KeptBytes, public fabric::SimEndpoint {
  using Base = fabric::SimEndpoint;
  using Address = fabric::Address;

 public:
  FaultyEndpoint(fabric::SimEndpoint inner, fabric::SimFabric& fabric, std::uint32_t agent,
                 const Faults& faults, std::uint64_t seed)
      : Base(std::move(inner)),
        fabric_(&fabric),
        agent_(agent),
        faults_(faults),
        rng_(seed * 1000 + agent) {}

  template <class C>
  std::uint64_t load(C c, Address a) {
    return stopped(a).load(c, a);
  }
  template <class C>
  void store(C c, Address a, std::uint64_t v) {
    stopped(a).store(c, a, v);
  }
  template <class C>
  std::uint64_t swap(C c, Address a, std::uint64_t v) {
    return stopped(a).swap(c, a, v);
  }
  template <class C>
  std::uint64_t fetch_add(C c, Address a, std::uint64_t v) {
    return stopped(a).fetch_add(c, a, v);
  }
  template <class C>
  std::uint64_t fetch_or(C c, Address a, std::uint64_t v) {
    return stopped(a).fetch_or(c, a, v);
  }
  template <class C>
  std::uint64_t compare_swap(C c, Address a, std::uint64_t expected, std::uint64_t desired) {
    return stopped(a).compare_swap(c, a, expected, desired);
  }
  template <class C>
  void read(C c, Address a, std::span<std::byte> out) {
    stopped(a).read(c, a, out);
  }
  template <class C>
  void write(C c, Address a, std::span<const std::byte> in) {
    stopped(a).write(c, a, in);
  }
  template <class C>
  void post_write(C c, Address a, std::span<const std::byte> in) {
    // Code that does not wait for the flush writes from a buffer that is used again: the bytes are
    // kept here instead, so that the defect is one of order alone.
    if (faults_.forgets_flush) in = kept.emplace_back(in.begin(), in.end());
    stopped(a).post_write(c, a, in);
  }
  template <class C>
  fabric::PendingBytes post_read(C c, Address a, std::span<std::byte> out) {
    // For the same reason: late bytes would arrive in a buffer that has gone.
    if (!faults_.forgets_flush) return stopped(a).post_read(c, a, out);
    stopped(a).read(c, a, out);
    return {a.rank(), 0, out};
  }

  fabric::Flushed flush(std::uint32_t rank) {
    if (faults_.forgets_flush && rank != Base::rank()) return {rank, ~std::uint64_t{0}};
    return Base::flush(rank);
  }
  template <class P>
  fabric::WaitResult wait_until(Address own_word, P&& predicate, Deadline deadline) {
    if (faults_.impatient) return {Base::load(fabric::rma, own_word), false};
    return Base::wait_until(own_word, predicate, deadline);
  }
  template <class A>
  bool retry_until(A&& attempt, const fabric::Backoff& backoff, Deadline deadline) {
    return Base::retry_until([&] { return attempt() || faults_.impatient; }, backoff, deadline);
  }

 private:
  /// The endpoint without the fault, some time later.
  Base& stopped(Address a) {
    double ns = 0;
    if (faults_.slow_ns > 0 && rng_.below(8) == 0) ns += rng_.unit() * faults_.slow_ns;
    if (faults_.is_late != nullptr && faults_.is_late(a.rank()))
      ns += rng_.unit() * faults_.late_ns;
    if (ns > 0) fabric_->spend(agent_, ns);
    return *this;
  }

  fabric::SimFabric* fabric_;
  std::uint32_t agent_;
  Faults faults_;
  Rng rng_;
};

static_assert(fabric::Endpoint<FaultyEndpoint>);

}  // namespace keyway::test
