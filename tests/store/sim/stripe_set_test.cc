// Several stripes locked by one operation, while others do the same: every order of two agents.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/layout/location.h"
#include "keyway/kvstore/stripes/stripe_gate.h"
#include "keyway/kvstore/stripes/stripe_set.h"
#include "keyway/locks/base/topology.h"
#include "keyway/locks/distributed/any_lock.h"
#include "keyway/locks/distributed/stripe_lock.h"
#include "keyway/locks/fabric/sim/explorer.h"
#include "keyway/locks/fabric/sim/explorer_hash.h"
#include "keyway/locks/fabric/sim/sim_endpoint.h"
#include "tests/store/sim/sim_store.h"

using namespace keyway;

namespace {

using E = fabric::SimEndpoint;
using fabric::sim::Standing;

/// An agent's one visit of some of rank 0's stripes.
struct Visit {
  std::vector<std::uint64_t> stripes;
  locks::Mode mode = locks::Mode::kWrite;
};

/// Each agent has a separate rank, and rank 0 has none. A writer increments the record of each of
/// its stripes in two steps; a reader wants to see no change.
class Visits final : public fabric::sim::Program {
 public:
  Visits(std::string_view lock, std::vector<Visit> visits)
      : visits_(std::move(visits)),
        topology_(Topology::from_nodes(alone(ranks()))),
        geometry_(*store::Geometry::plan({.memory_bytes = store::kMinMemoryBytes,
                                          .buckets = kStripes,
                                          .stripes = kStripes,
                                          .agents_per_rank = 1,
                                          .nodes_per_agent = 16,
                                          .satellite_kinds = has_satellites(lock) ? 1u : 0u,
                                          .ranks = ranks(),
                                          .hash_secret = {1, 1}})),
        lock_({*locks::AnyLock::make(lock)}) {}

  std::uint32_t agents() const override { return static_cast<std::uint32_t>(visits_.size()); }
  std::uint32_t ranks() const override { return agents() + 1; }
  std::uint64_t segment_bytes() const override { return geometry_.segment_bytes(); }
  void reset(fabric::sim::Execution& execution) override {
    execution_ = &execution;
    seats_.clear();
    standings_.assign(agents(), Standing::kOutside);
    for (std::uint32_t i = 0; i < agents(); ++i) {
      seats_.push_back(std::make_unique<Seat>(*this, execution, i));
    }
  }
  void run(std::uint32_t i) override {
    E& ep = seats_[i]->ep;
    standings_[i] = Standing::kWaiting;
    std::vector<store::Location> locations;
    for (const std::uint64_t stripe : visits_[i].stripes) {
      locations.push_back({.stripe = stripe, .rank = 0});
    }
    store::StripeSet<E> set(seats_[i]->gate, locations);
    if (!set.acquire(visits_[i].mode, seats_[i]->gate.begun()).ok())
      execution_->fail(i, "an acquire failed");
    standings_[i] = Standing::kInside;
    for (const std::uint64_t stripe : visits_[i].stripes) {
      const std::uint64_t seen = ep.load(fabric::rma, record(stripe));
      if (visits_[i].mode == locks::Mode::kWrite) {
        ep.post_store(fabric::rma, record(stripe), seen + 1);
      } else if (ep.load(fabric::rma, record(stripe)) != seen) {
        execution_->fail(i, "L1: a record changes under a reader");
      }
    }
    set.release();
    standings_[i] = Standing::kOutside;
    ep.flush_all();
  }
  std::string verdict() override {
    for (std::uint64_t stripe = 0; stripe < kStripes; ++stripe) {
      std::uint64_t writes = 0;
      for (const Visit& visit : visits_) {
        for (const std::uint64_t each : visit.stripes) {
          writes += each == stripe && visit.mode == locks::Mode::kWrite;
        }
      }
      E& ep = seats_[0]->ep;
      if (ep.load(fabric::rma, record(stripe)) != writes) return "L1: an increment is lost";
      auto grant = seats_[0]->gate.try_acquire(0, stripe, locks::Mode::kWrite);
      if (!grant.ok()) return "L2: all have gone and a stripe is not free";
      seats_[0]->gate.release(0, stripe, *grant);
    }
    return {};
  }
  std::string name(fabric::Address a) const override {
    return fmt::format("rank {} +{:#x}", a.rank(), a.offset());
  }
  Standing standing(std::uint32_t i) const override { return standings_[i]; }
  void close() { seats_.clear(); }

 private:
  static constexpr std::uint64_t kStripes = 3;
  struct Seat {
    E ep;
    locks::LockAgent<E> agent;
    store::StripeGate<E> gate;

    Seat(Visits& of, fabric::sim::Execution& execution, std::uint32_t i)
        : ep(execution, i, {i + 1, 0}, of.topology_),
          agent(ep, of.geometry_.nodes()),
          gate(agent, of.geometry_, of.lock_, Deadline::within(std::chrono::seconds(10))) {}
  };

  static bool has_satellites(std::string_view lock) {
    return locks::AnyLock::make(lock)->traits().satellites;
  }
  static std::vector<std::uint32_t> alone(std::uint32_t ranks) {
    std::vector<std::uint32_t> nodes(ranks);
    for (std::uint32_t i = 0; i < ranks; ++i) nodes[i] = i;
    return nodes;
  }
  fabric::Address record(std::uint64_t stripe) const { return geometry_.chunk(0, 0) + stripe * 8; }

  std::vector<Visit> visits_;
  Topology topology_;
  store::Geometry geometry_;
  locks::StripeLock lock_;
  fabric::sim::Execution* execution_ = nullptr;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::vector<Standing> standings_;
};

struct Visiting {
  Visiting(std::string_view lock, const std::vector<Visit>& visits) : program(lock, visits) {}
  ~Visiting() { program.close(); }
  void require_clean(const fabric::sim::ExploreReport& report) {
    INFO((report.violation ? report.violation->what + ", schedule " + report.violation->schedule
                           : ""));
    CHECK_FALSE(report.violation);
  }

  Visits program;
  fabric::sim::Explorer explorer{program, {.most_steps = 4000}};
};

constexpr locks::Mode kRead = locks::Mode::kRead;

}  // namespace

TEST_CASE("stripe set: two writers of the same stripes, every order") {
  for (const char* lock : {"gbh:lockall=off", "gbh:lockall=off,versions=on"}) {
    CAPTURE(lock);
    Visiting all(lock, {{{0, 1}}, {{0, 1}}});
    const auto report = all.explorer.exhaust(20'000'000);
    all.require_clean(report);
    CHECK(report.complete);
    CHECK(report.states > 1000);
  }
}

TEST_CASE("stripe set: a reader and a writer, every order") {
  Visiting all("gbh:lockall=off", {{{0, 1}, kRead}, {{0, 1}}});
  const auto report = all.explorer.exhaust(20'000'000);
  all.require_clean(report);
  CHECK(report.complete);
}

TEST_CASE("stripe set: agents that want each other's stripes, of every kind, by many orders") {
  for (const std::string_view lock : locks::AnyLock::kNames) {
    CAPTURE(lock);
    Visiting some(lock, {{{0, 1, 2}}, {{0, 1, 2}}, {{1, 2}, kRead}});
    some.require_clean(some.explorer.random(1, 3000));
    some.require_clean(some.explorer.pct(1, 3000, 4));
  }
}

// The nodes of waiters that gave up; confirming that they are free is a wait, at which bodies
// change places.
TEST_CASE("stripe set: nodes that have come back are taken once, by whichever body") {
  test::SimStore<E> store({.ranks = 1});
  const test::SimTeam team(store.fabric());
  team.run([&](std::uint32_t) {
    E ep = *store.fabric().endpoint(0);
    locks::NodePool<E> pool(ep, store.geometry().nodes());
    const std::size_t all = pool.free_nodes().size();
    for (std::size_t i = 0; i < all; ++i) pool.abandon(*pool.take());
    std::set<std::uint32_t> taken;
    ep.overlap(4, [&](std::size_t) {
      for (int i = 0; i < 3; ++i) {
        const auto node = pool.take();
        if (node.ok()) CHECK(taken.insert(*node).second);
      }
    });
    CHECK(taken.size() > 0);
    CHECK(taken.size() + pool.free_nodes().size() + pool.nodes_in_limbo().size() == all);
  });
}
