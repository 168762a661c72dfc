// Opening a store, sessions that run out, and every option that it must refuse.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "keyway/client/client.h"

using namespace keyway;

namespace {

void check_refused(std::string_view uri, std::string_view says) {
  const auto store = Store::open(uri);
  CAPTURE(uri);
  REQUIRE_FALSE(store.ok());
  CHECK(store.code() == Code::kInvalidArgument);
  const std::string message(store.status().message());
  CAPTURE(message);
  CHECK(message.find(says) != std::string::npos);
}

}  // namespace

TEST_CASE("open: options that make no sense are refused with a sentence") {
  check_refused("local:?memory=64KiB", "give at least");
  check_refused("local:?memory=1MiB", "give at least");  // 64 sessions' queue nodes fill it
  check_refused("local:?memory=64MiB&lock=rwlock", "no lock kind 'rwlock'; choose one of");
  check_refused("local:?memory=64MiB&lock=gbh:speed=9", "has no lever 'speed'");
  check_refused("local:?memory=64MiB&lock=gbh:lockall", "is not a lever=value pair");
  check_refused("local:?memory=64MiB&ranks=0", "ranks");
  check_refused("local:?memory=64MiB&stripes=0", "at least 1");
  check_refused("local:?memory=64MiB&sessions=0", "at least 1");
  check_refused("local:?memory=64MiB&element_bytes=0", "at least 1");
  check_refused("local:?memory=64MiB&buckets=288230376151711744", "buckets");
  check_refused("local:?memory=1GiB&sessions=70000&locks_per_session=1", "65535");
  check_refused("local:?memory=64MiB&topology=planets=9", "topology");
  check_refused("local:?memory=64MiB&addresses=1025GiB", "at most 1024GiB");
}

TEST_CASE("open: the store tells its shape") {
  auto store = Store::open("local:?memory=4MiB&ranks=3&stripes=8&lock=d-mcs");
  REQUIRE(store.ok());
  CHECK(store->ranks() == 3);
  CHECK(store->process() == 0);
  CHECK(store->processes() == 1);
  CHECK(store->options().stripes == 8);
  const std::string text = store->describe();
  CAPTURE(text);
  CHECK(text.find("3 rank") != std::string::npos);
  CHECK(text.find("d-mcs") != std::string::npos);
  CHECK(store->gather("me") == std::vector<std::string>{"me"});
  store->barrier();
  // CRC16 slots in equal runs: 12739 of 16384 belongs to the last of three ranks.
  CHECK(store->owner_of("123456789") == 2);
}

TEST_CASE("open: sessions run out with a sentence, and come back") {
  auto store = Store::open("local:?memory=4MiB&sessions=2&ranks=2");
  REQUIRE(store.ok());
  {
    auto a = store->session_at(1);
    auto b = store->session_at(1);
    REQUIRE(a.ok());
    REQUIRE(b.ok());
    const auto c = store->session_at(1);
    CHECK(c.code() == Code::kUnavailable);
    CHECK(store->session_at(0).ok());
  }
  CHECK(store->session_at(1).ok());
  CHECK(store->session_at(2).code() == Code::kInvalidArgument);
}

TEST_CASE("open: stores are apart, and sessions can be moved") {
  auto one = Store::open("local:?memory=4MiB");
  auto two = Store::open("local:?memory=4MiB");
  REQUIRE(one.ok());
  REQUIRE(two.ok());
  Session a = *one->session();
  Session b = *two->session();
  REQUIRE(a.put("k", "one").ok());
  CHECK(b.get("k").code() == Code::kNotFound);
  Session moved = std::move(a);
  CHECK(*moved.get("k") == "one");
  b = std::move(moved);  // two's session ends here
  CHECK(*b.get("k") == "one");
  CHECK(b.inspector().lock_report().find("shared") != std::string::npos);
}

TEST_CASE("open: the times of locks are taken when asked for") {
  auto quiet = Store::open("local:?memory=4MiB");
  auto timed = Store::open("local:?memory=4MiB&lock_times=2");
  REQUIRE(quiet.ok());
  REQUIRE(timed.ok());
  Session a = *quiet->session();
  Session b = *timed->session();
  for (int i = 0; i < 10; ++i) {
    REQUIRE(a.put("k", "v").ok());
    REQUIRE(b.put("k", "v").ok());
  }
  CHECK(a.inspector().lock_report().find("waited") == std::string::npos);
  CHECK(b.inspector().lock_report().find("waited") != std::string::npos);
}

TEST_CASE("open: the default lock of one process is GBH") {
  auto store = Store::open("local:?memory=4MiB&ranks=2");
  REQUIRE(store.ok());
  CHECK(store->options().lock == "gbh:lockall=off,versions=on");
  CHECK(Store::open("local:?memory=4MiB&lock=default").ok());
}

TEST_CASE("open: sessions hold as many queue locks as a part of the memory has room for") {
  const auto held = [](std::string_view uri) {
    auto store = Store::open(uri);
    REQUIRE(store.ok());
    return store->options().locks_per_session;
  };
  CHECK(held("local:?memory=64MiB&stripes=512&sessions=4") == 256);
  CHECK(held("local:?memory=64MiB&stripes=512&sessions=4&lock=d-mcs") == 512);
  CHECK(held("local:?memory=64MiB&stripes=512&sessions=4&lock=d-mcs&ranks=2") == 1024);
  CHECK(held("local:?memory=64MiB&stripes=512&sessions=64&lock=auto") == 512);
  CHECK(held("local:?memory=8MiB&sessions=4&lock=d-mcs") == 1024);
  CHECK(held("local:?memory=8MiB&lock=d-mcs") == 256);
  CHECK(held("local:?memory=8MiB&lock=d-mcs&locks_per_session=9") == 9);
}

TEST_CASE("open: a store without locks is for benchmarks that say so") {
  check_refused("local:?memory=64MiB&lock=none", "needs benchmark=on");
  CHECK(Store::open("local:?memory=4MiB&lock=none&benchmark=on").ok());
}

TEST_CASE("open: reads of one key take no lock, unless reads=locked") {
  constexpr std::uint64_t kReads = 20;
  for (const std::string more : {"", "&reads=locked"}) {
    INFO(more);
    auto store = Store::open("local:?memory=4MiB" + more);
    REQUIRE(store.ok());
    Session session = std::move(*store->session());
    REQUIRE(session.put("k", std::string(32, 'v')).ok());
    const LockCounts before = session.inspector().lock_counts();
    for (std::uint64_t i = 0; i < kReads; ++i) REQUIRE(session.get("k").ok());
    const LockCounts counts = session.inspector().lock_counts();
    CHECK(counts.not_needed - before.not_needed == (more.empty() ? kReads : 0));
    CHECK(counts.shared - before.shared == (more.empty() ? 0 : kReads));
  }
}

TEST_CASE("open: lock=auto has several kinds, and a stripe's can be changed under its sessions") {
  auto store = Store::open("local:?memory=4MiB&stripes=16&lock=auto&expect_reads=50");
  INFO(store.status().message());
  REQUIRE(store.ok());
  CHECK(store->describe().find("ns per acquisition") != std::string::npos);
  Session a = std::move(*store->session());
  Session b = std::move(*store->session());
  const auto kinds = a.inspector().lock_kinds(0);
  REQUIRE(kinds.size() >= 2);
  CHECK(kinds[0].stripes > 1);
  CHECK(kinds[1].stripes == 0);
  REQUIRE(a.put("k", "v").ok());
  const auto stripes = kinds[0].stripes;
  for (std::uint64_t stripe = 0; stripe < stripes; ++stripe) {
    REQUIRE(a.inspector().switch_lock(0, stripe, kinds[1].kind).ok());
  }
  CHECK(b.get("k").value() == "v");  // b has the old kind in mind
  CHECK(b.put("k", "w").ok());
  CHECK(a.get("k").value() == "w");
  const auto after = b.inspector().lock_kinds(0);
  CHECK(after[0].stripes == 0);
  CHECK(after[1].stripes == stripes);
  CHECK(after[1].switches == stripes);
  CHECK(a.inspector().switch_lock(0, 0, "no-such-kind").code() == Code::kInvalidArgument);
  CHECK(a.inspector().switch_lock(0, stripes, kinds[0].kind).code() == Code::kInvalidArgument);
  CHECK(a.inspector().switch_lock(7, 0, kinds[0].kind).code() == Code::kInvalidArgument);
}

TEST_CASE("open: one kind is one kind for good") {
  auto store = Store::open("local:?memory=4MiB&lock=d-mcs");
  REQUIRE(store.ok());
  Session session = std::move(*store->session());
  REQUIRE(session.inspector().lock_kinds(0).size() == 1);
  CHECK(session.inspector().lock_kinds(0)[0].kind == "d-mcs");
  CHECK(session.inspector().switch_lock(0, 0, "gbh").code() == Code::kInvalidArgument);
}
