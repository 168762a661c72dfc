// One process executes every operation, on all ranks, and compares with a model, while the others
// wait: remote operations are one-sided.
#include "job_store.h"
#include "keyway/locks/fabric/mpi/mpi_library.h"
#include "tests/store/model.h"

using namespace keyway;
using namespace keyway::test;

namespace {

/// Body on one process; the others meet it at the barrier.
void only_on(Store& store, std::uint32_t process, const std::function<void(Session&)>& body) {
  if (store.process() == process) {
    Session session = session_of(store);
    body(session);
  }
  store.barrier();
}

}  // namespace

TEST_CASE(
    "store over mpi: random operations of every kind against a model, from either end of the job") {
  const std::string shape = "memory=8MiB&sessions=2&locks_per_session=64&buckets=256&stripes=32";
  for (const char* path : {"&path=onesided", "&path=owner"}) {
    for (const bool last : {false, true}) {
      Store store = open_job_store(shape + path);
      only_on(store, last ? store.processes() - 1 : 0, [&](Session& s) {
        Modelled modelled(s, last ? 11 : 12);
        for (int i = 0; i < 80; ++i) modelled.step();
        modelled.check_all();
        CHECK(modelled.out_of_space() == 0);
        check_heap_at_rest(store, s);
      });
      check_job_heap(store);
    }
  }
}

// As many as a simulated network sees (tests/store/sim/read_costs_test.cc).
TEST_CASE("store over mpi: messages and round trips to other nodes are counted") {
  Store store =
      open_job_store("memory=8MiB&sessions=2&path=onesided&lock=gbh:lockall=off,versions=on");
  only_on(store, 0, [&](Session& s) {
    std::string key = "key";
    while (s.inspector().stripe_of(key).rank + 1 != store.ranks()) key += '.';
    const std::string value(100, 'v');
    std::string out;
    // The least of several: now and then a permit is renewed.
    const auto least = [&](const auto& operation) {
      RemoteWork fewest{.messages = ~0ULL, .round_trips = ~0ULL};
      for (int i = 0; i < 10; ++i) {
        const RemoteWork before = s.inspector().remote_work();
        REQUIRE(operation().ok());
        const RemoteWork after = s.inspector().remote_work();
        fewest.messages = std::min(fewest.messages, after.messages - before.messages);
        fewest.round_trips = std::min(fewest.round_trips, after.round_trips - before.round_trips);
      }
      return fewest;
    };
    const RemoteWork put = least([&] { return s.put(key, value); });
    const RemoteWork get = least([&] { return s.get(key, out); });
    if (s.inspector().remote_work().reads.all() == 0) return;  // the key is of this node
    CHECK(get.messages == 1);
    CHECK(get.round_trips == 1);
    CHECK(put.messages == 6);
    // Open MPI completes an unlock with a flush; MPICH answers it while the caller continues.
    CHECK(put.round_trips == (fabric::kOpenMpi ? 3 : 2));
  });
}

TEST_CASE("store over mpi: an edit by the owner is one message and one round trip") {
  Store store = open_job_store("memory=8MiB&sessions=2&path=owner");
  only_on(store, 0, [&](Session& s) {
    std::string key = "key";
    while (s.inspector().stripe_of(key).rank + 1 != store.ranks()) key += '.';
    for (int i = 0; i < 10; ++i) {
      const RemoteWork before = s.inspector().remote_work();
      REQUIRE(s.increment(key).ok());
      const RemoteWork after = s.inspector().remote_work();
      if (after.edits_by_owners == before.edits_by_owners) continue;  // of this node, or late
      CHECK(after.messages - before.messages == 1);
      CHECK(after.round_trips - before.round_trips == 1);
    }
  });
}

TEST_CASE("store over mpi: answers of owners are waits for their ranks") {
  Store store = open_job_store("memory=8MiB&sessions=2&path=owner");
  only_on(store, 0, [&](Session& s) {
    const std::uint32_t last = store.ranks() - 1;
    std::string key = "key";
    while (s.inspector().stripe_of(key).rank != last) key += '.';
    const std::uint64_t waits = store.rank_waits(last).waits;
    for (int i = 0; i < 10; ++i) REQUIRE(s.increment(key).ok());
    CHECK(store.rank_waits(last).waits - waits >= s.inspector().remote_work().edits_by_owners);
    CHECK(store.rank_waits(last).unanswered == 0);
    CHECK_FALSE(store.rank_waits(last).silent);
  });
}

TEST_CASE("store over mpi: a model in heaps that fill up") {
  const std::string shape =
      "memory=1MiB&sessions=2&locks_per_session=64&buckets=16&stripes=4&lock=d-mcs";
  for (const char* path : {"&path=onesided", "&path=owner"}) {
    Store store = open_job_store(shape + path);
    only_on(store, 0, [&](Session& s) {
      Modelled modelled(s, 4, 1'500'000);
      for (int i = 0; i < 300; ++i) modelled.step();
      modelled.check_all();
      CHECK(modelled.out_of_space() > 0);
      check_heap_at_rest(store, s);
    });
    check_job_heap(store);
  }
}

TEST_CASE("store over mpi: elements of any size are written and read from every rank") {
  Store store = open_job_store("memory=8MiB&sessions=2");
  constexpr std::size_t kSizes[] = {0, 1, 9, 10, 100, 16'300, 16'384, 40'000, 300'000};
  const std::uint32_t n = store.processes();
  const auto key_of = [](std::uint32_t process, std::size_t size) {
    return fmt::format("{} bytes from {}", size, process);
  };
  Session s = session_of(store);
  for (const std::size_t size : kSizes)
    REQUIRE(s.put(key_of(store.process(), size), pattern(size, store.process())).ok());
  store.barrier();
  for (std::uint32_t from = 0; from < n; ++from) {
    for (const std::size_t size : kSizes)
      REQUIRE(*s.get(key_of(from, size)) == pattern(size, from));
  }
  store.barrier();
  // Each rank erases the keys of the next one.
  for (const std::size_t size : kSizes)
    REQUIRE(s.erase(key_of((store.process() + 1) % n, size)).ok());
  store.barrier();
  CHECK(*s.size() == 0);
}

TEST_CASE("store over mpi: expiry, sweep, clear and scan reach every rank") {
  Store store = open_job_store("memory=4MiB&sessions=2&buckets=64&stripes=16");
  only_on(store, store.processes() - 1, [&](Session& s) {
    std::map<std::string, std::string> model;
    for (int i = 0; i < 200; ++i) {
      const std::string key = named("key number ", i);
      const std::string value = pattern(static_cast<std::size_t>(i % 50 == 0 ? 20'000 : i), 1);
      REQUIRE(s.put(key, value, {.expires_at_ms = i % 4 == 0 ? 1u : 0u}).ok());
      if (i % 4 != 0) model[key] = value;
    }
    CHECK(*s.size() == 200);
    std::map<std::string, std::string> shown;
    std::uint64_t cursor = 0;
    do {
      cursor = *s.scan(cursor, 13, [&](auto key, auto value) { shown.emplace(key, value); });
    } while (cursor != 0);
    CHECK(shown == model);
    std::uint64_t swept = 0;
    for (std::uint32_t rank = 0; rank < store.ranks(); ++rank)
      swept += *s.inspector().sweep_expired(rank);
    CHECK(swept == 50);
    CHECK(*s.size() == 150);
    check_heap_at_rest(store, s);
    REQUIRE(s.clear().ok());
    CHECK(*s.size() == 0);
    check_heap_at_rest(store, s);
  });
  check_job_heap(store);
}
