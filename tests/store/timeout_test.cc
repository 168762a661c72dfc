// A lock that is not had in time: the operation ends, its message names the holder, and nothing is
// left behind.
#include <catch2/catch.hpp>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/session_shm.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/distributed/stripe_lock.h"

using namespace keyway;
using namespace keyway::store;
using fabric::ShmEndpoint;
using fabric::ShmFabric;

namespace {

struct Fixture {
  explicit Fixture(std::string_view kind)
      : geometry(*Geometry::plan(
            {.memory_bytes = 4 << 20, .buckets = 8, .stripes = 4, .agents_per_rank = 4})),
        lock(*locks::AnyLock::make(kind)),
        fabric(std::move(*ShmFabric::create(
            {.ranks = 2, .segment_bytes = geometry.segment_bytes(), .agents_per_rank = 4}))) {}
  Session<ShmEndpoint> session(std::uint32_t rank) {
    return {std::move(*fabric.endpoint(rank)),
            geometry,
            lock,
            {.timeout = std::chrono::milliseconds(50)}};
  }
  Geometry geometry;
  locks::StripeLock lock;
  ShmFabric fabric;
};

}  // namespace

TEST_CASE(
    "timeout: an operation that cannot have its lock says who holds it, and no harm is done") {
  for (const char* kind : {"gbh", "gbh:lockall=off", "fompi-rw", "fompi-spin", "d-mcs"}) {
    CAPTURE(kind);
    Fixture fixture(kind);
    Session<ShmEndpoint> s = fixture.session(0);
    REQUIRE(s.put("k", "v", {}).ok());
    REQUIRE(s.put("other", "w", {}).ok());

    // Another agent, of rank 1, stops in the middle of a write to k's stripe.
    ShmEndpoint ep = std::move(*fixture.fabric.endpoint(1));
    locks::LockAgent<ShmEndpoint> agent(ep, fixture.geometry.nodes());
    const std::uint32_t owner = s.owner_of("k");
    const auto stripe =
        fixture.geometry.stripe_of(fixture.geometry.bucket_of(fixture.geometry.hash_of("k")));
    const locks::LockSite site = fixture.geometry.lock_site(owner, stripe);
    auto held = fixture.lock.kind(0).acquire(agent, site, locks::Mode::kWrite, Deadline::now());
    REQUIRE(held.ok());
    // It has not changed anything yet: a single get does without the lock.
    std::string out;
    CHECK(s.get("k", out).ok());
    // In the middle of a change of several keys.
    const fabric::Address changes = fixture.geometry.changes(owner, stripe);
    ep.store(fabric::cpu, changes, ep.load(fabric::cpu, changes) + 1);
    const std::string holder = fmt::format("agent {}.{}", ep.agent().rank, ep.agent().slot);

    const auto check = [&](const Status& status) {
      CHECK(status == Code::kTimeout);
      CAPTURE(status.message());
      CHECK(status.message().find(holder) != std::string_view::npos);
      CHECK(status.message().find(fmt::format("rank {}", owner)) != std::string_view::npos);
    };
    check(s.get("k", out));
    check(s.put("k", "new", {}));
    check(s.erase("k"));
    const std::vector<std::string_view> keys = {"other", "k", "third"};
    std::vector<std::optional<std::string>> values;
    check(s.get_all(keys, values));
    check(s.transact(keys, [](auto) { return true; }));
    const std::vector<std::pair<std::string_view, std::string_view>> pairs = {{"other", "x"},
                                                                              {"k", "x"}};
    check(s.put_all(pairs, {}));
    check(s.scan(0, 100, [](auto, auto) {}).status());
    CHECK(s.lock_stats().timeouts == 7);

    ep.store(fabric::cpu, changes, ep.load(fabric::cpu, changes) + 1);
    fixture.lock.kind(0).release(agent, site, *held);
    CHECK(s.get("k", out).ok());
    CHECK(out == "v");
    CHECK(s.get("other", out).ok());
    CHECK(out == "w");                 // put_all wrote nothing
    CHECK(s.put_all(pairs, {}).ok());  // L2: locks that it had taken before it gave up are free
    CHECK(s.get("k", out).ok());
    CHECK(out == "x");
  }
}
