// A store on a simulated machine, and how the agents of a test run on it in virtual time.
//
// *What.* SimStore owns geometry, lock and fabric, and makes sessions: in an agent while it runs,
// or outside, where operations take no time. SimTeam runs an agent at every rank; SimBarrier is
// their meeting point. Nothing here depends on the host: a seed is a run.
// *Thread safety.* None: one thread simulates.
#pragma once

#include <fmt/core.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/owner/call_slots.h"
#include "keyway/kvstore/sim/session_sim.h"
#include "keyway/kvstore/volume/address_cache.h"
#include "keyway/locks/distributed/stripe_lock.h"
#include "keyway/locks/fabric/sim/sim_fabric.h"
#include "tests/store/sim/lock_kinds.h"
#include "tests/store/volumes.h"

namespace keyway::test {

/// The parameters of one run.
struct SimPlan {
  std::string_view lock = "gbh:lockall=off,versions=on";
  std::string_view other_lock = {};  // the kind to which its stripes may be switched, if any
  const store::KindChoice* choice = nullptr;  // its sessions switch them by themselves
  std::uint32_t ranks = 4;
  fabric::sim::Machine machine;
  std::uint64_t seed = 1;                               // for the machine, and for the keys' hash
  std::uint64_t memory_bytes = store::kMinMemoryBytes;  // per rank
  std::uint64_t address_bytes = 0;                      // per rank; 0: every read takes its lock
  std::uint64_t buckets = 16;                           // per rank
  std::uint32_t stripes = 4;                            // the same
  std::uint32_t call_slots = 0;  // per pair of ranks; 0: every edit is one-sided
  std::chrono::milliseconds timeout{10'000};
};

/// E is SimEndpoint, or one made of it that plants a fault.
template <class E>
class SimStore {
 public:
  using Session = store::Session<E>;

  explicit SimStore(const SimPlan& plan)
      : geometry_(*store::Geometry::plan(
            {.memory_bytes = plan.memory_bytes,
             .buckets = plan.buckets,
             .stripes = plan.stripes,
             .agents_per_rank = 2,
             .nodes_per_agent = 128,
             .lock_kinds = plan.other_lock.empty() ? 1u : 2u,
             .satellite_kinds = satellite_kinds(kinds_of(plan.lock, plan.other_lock)),
             .call_slots = plan.call_slots,
             .ranks = plan.ranks,
             .hash_secret = {plan.seed, plan.seed}})),
        lock_(kinds_of(plan.lock, plan.other_lock)),
        choice_(plan.choice),
        timeout_(plan.timeout),
        addresses_(plan.address_bytes == 0 ? 0 : plan.ranks),
        calls_(plan.call_slots == 0 ? 0 : plan.ranks),
        fabric_(std::move(*fabric::SimFabric::create({.machine = plan.machine,
                                                      .ranks = plan.ranks,
                                                      .segment_bytes = geometry_.segment_bytes(),
                                                      .agents_per_rank = 2,
                                                      .seed = plan.seed}))) {
    for (auto& cache : addresses_) {
      cache = std::make_unique<store::AddressCache>(plan.address_bytes);
    }
    for (auto& calls : calls_) {
      calls = std::make_unique<store::CallSlots>(plan.ranks, plan.call_slots);
    }
  }

  /// `more` goes to E behind its SimEndpoint.
  template <class... More>
  std::unique_ptr<Session> session(std::uint32_t rank, More&&... more) {
    return std::make_unique<Session>(
        E(std::move(*fabric_.endpoint(rank)), std::forward<More>(more)...), geometry_, lock_,
        store::SessionOptions{.timeout = timeout_,
                              .choice = choice_,
                              .addresses = addresses_.empty() ? nullptr : addresses_[rank].get(),
                              .calls = calls_.empty() ? nullptr : calls_[rank].get()});
  }
  /// The service of a rank for the others. An agent calls its serve().
  std::unique_ptr<store::OwnerService<fabric::SimEndpoint>> service(std::uint32_t rank) {
    return std::make_unique<store::OwnerService<fabric::SimEndpoint>>(
        std::move(*fabric_.endpoint(rank)), geometry_, lock_);
  }
  fabric::SimFabric& fabric() { return fabric_; }
  const store::Geometry& geometry() const { return geometry_; }
  std::uint32_t ranks() const { return fabric_.ranks(); }

 private:
  store::Geometry geometry_;
  locks::StripeLock lock_;
  const store::KindChoice* choice_;
  std::chrono::nanoseconds timeout_;
  std::vector<std::unique_ptr<store::AddressCache>> addresses_;  // by rank; empty: none
  std::vector<std::unique_ptr<store::CallSlots>> calls_;         // the same
  fabric::SimFabric fabric_;
};

/// The meeting point of a simulation's agents, as Barrier in team.h.
class SimBarrier {
 public:
  SimBarrier(fabric::SimFabric& fabric, std::uint32_t agents) : fabric_(fabric), agents_(agents) {}

  bool arrive_and_wait(std::uint32_t me) {
    ++arrived_;
    const std::uint64_t all = (arrived_ + agents_ - 1) / agents_ * agents_;
    while (failure_.empty() && arrived_ < all) fabric_.spend(me, kLookNs);
    return failure_.empty();
  }
  void fail(std::string what) {
    if (failure_.empty()) failure_ = std::move(what);
  }
  bool failed() const { return !failure_.empty(); }
  const std::string& failure() const { return failure_; }
  /// The next instant. Agents take turns, so this is finer than virtual time and never against it.
  std::uint64_t now() { return clock_++; }

 private:
  static constexpr double kLookNs = 1000;

  fabric::SimFabric& fabric_;
  std::uint64_t agents_;
  std::uint64_t arrived_ = 0;
  std::uint64_t clock_ = 1;
  std::string failure_;
};

/// An agent at every rank.
class SimTeam {
 public:
  explicit SimTeam(fabric::SimFabric& fabric) : fabric_(fabric) {}
  /// And, if the store has slots for calls, another one at every rank, which serves the others.
  template <class E>
  explicit SimTeam(SimStore<E>& store) : fabric_(store.fabric()) {
    if (store.geometry().call_slots() == 0) return;
    serve_ = [&store](std::uint32_t rank, const bool& ended) {
      const auto service = store.service(rank);
      service->endpoint().retry_until(
          [&] {
            service->serve();
            return ended;
          },
          {.min_ns = kServiceNs, .max_ns = kServiceNs}, Deadline::never());
    };
  }

  std::uint32_t agents() const { return fabric_.ranks(); }
  SimBarrier barrier() const { return {fabric_, agents()}; }
  template <class Body>
  void run(Body&& body) const {
    std::vector<std::uint32_t> homes;
    for (std::uint32_t rank = 0; rank < agents(); ++rank) homes.push_back(rank);
    if (serve_) homes.insert(homes.end(), homes.begin(), homes.begin() + agents());
    std::uint32_t left = agents();
    bool ended = false;
    fabric_.run(homes, [&](std::uint32_t me) {
      if (me >= agents()) return serve_(me - agents(), ended);
      body(me);
      ended = --left == 0;
    });
  }

 private:
  static constexpr std::uint64_t kServiceNs = 500;

  fabric::SimFabric& fabric_;
  std::function<void(std::uint32_t rank, const bool& ended)> serve_;
};

}  // namespace keyway::test
