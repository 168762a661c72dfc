// The sweeper's pace, by a clock of the test: how long a pass over a volume takes, and how long an
// expired key stays.
#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <chrono>

#include "keyway/server/net/sweeper.h"
#include "peer.h"

using namespace keyway;
using namespace keyway::server;

namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kSecond = 1000 * kMs;

/// Each part of a sweep takes as long as sweeper.h says of one, and nothing else takes time.
struct PartClock {
  static constexpr std::uint64_t kPartNs = 50'000;
  inline static std::uint64_t ns = 0;

  static SweepTimes read() {
    ns += kPartNs;
    return {ns, ns, ns};
  }
};

/// The time until the turns of a sweeper with this share of a core have removed `keys` keys.
std::uint64_t ns_until_removed(Session& session, std::uint64_t keys, std::uint32_t percent) {
  Sweeper sweeper(0, percent, PartClock::read);
  const std::uint64_t begin = PartClock::ns;
  for (std::uint64_t removed = 0; removed < keys && PartClock::ns - begin < 100 * kSecond;) {
    PartClock::ns += std::chrono::nanoseconds(Sweeper::kTurnsApart).count();
    removed += sweeper.turn(session);
  }
  return PartClock::ns - begin;
}

}  // namespace

TEST_CASE("sweeper: expired keys leave a volume within a second, at a hundredth of a core") {
  auto store = Store::open("local:?memory=16MiB&stripes=4096");
  REQUIRE(store.ok());
  Peer peer(*store);
  // They are in all stripes, so that each bucket is visited.
  constexpr std::uint64_t kKeys = 20'000;
  for (std::uint64_t i = 0; i < kKeys; ++i) peer.ask(fmt::format("set key{} v pxat 1", i));
  peer.ask("set stays v px 1000000");
  REQUIRE(*peer.session().size() == kKeys + 1);
  CHECK(ns_until_removed(peer.session(), kKeys, 1) <= kSecond);
  CHECK(*peer.session().size() == 1);
}

TEST_CASE("sweeper: it finds the few that have expired in a large volume within a second") {
  auto store = Store::open("local:?memory=512MiB&stripes=1048576");
  REQUIRE(store.ok());
  Peer peer(*store);
  const std::uint64_t stripes = peer.session().inspector().usage(0).stripes;
  REQUIRE(stripes >= 1 << 19);
  constexpr std::uint64_t kKeys = 10;
  for (std::uint64_t i = 0; i < kKeys; ++i) peer.ask(fmt::format("set key{} v pxat 1", i));
  CHECK(ns_until_removed(peer.session(), kKeys, 1) <= kSecond);
}

TEST_CASE("sweeper: it waits for half a second after an expiry, and no longer") {
  Store store = small_store();
  Peer peer(store);
  const std::uint64_t now = peer.session().now_ms("k");
  peer.ask(fmt::format("set k v pxat {}", now - 500));
  peer.ask(fmt::format("set l v pxat {}", now + 1'000'000));
  CHECK(ns_until_removed(peer.session(), 1, 10) <= kSecond / 2);
  CHECK(*peer.session().size() == 1);
}
