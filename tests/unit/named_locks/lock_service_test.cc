// S1-S4: locks in a store, for clients of several ranks.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "keyway/kvstore/layout/key_hash.h"
#include "keyway/locks/base/clock.h"
#include "keyway/server/named_locks/lock_service.h"

namespace keyway::server {
namespace {

constexpr auto kGranted = Standing::Kind::kGranted;
constexpr auto kWaiting = Standing::Kind::kWaiting;
constexpr auto kBusy = Standing::Kind::kBusy;
constexpr std::uint64_t kLongMs = 60'000;

/// Records the clients that were woken.
class Bell final : public Waker {
 public:
  void wake(std::uint64_t client) override {
    const std::lock_guard guard(mutex_);
    woken_.push_back(client);
  }
  std::vector<std::uint64_t> take() {
    const std::lock_guard guard(mutex_);
    return std::exchange(woken_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::uint64_t> woken_;
};

/// A job of two ranks in one process.
struct Job {
  explicit Job(const std::string& uri = "local:?memory=16MiB&ranks=2", LockLimits limits = {})
      : store(Store::open(uri).value()), ranks{{store, 0, limits}, {store, 1, limits}} {
    for (LockService& rank : ranks) CHECK_FALSE(rank.collect_mail().value());
  }

  Standing ask(std::uint32_t rank, std::string_view name, std::uint64_t client, LockMode mode,
               bool may_wait = true, std::uint64_t lease_ms = kLongMs) {
    if (may_wait) ranks[rank].expect_wake(client, bells[rank]);
    LockClaim claim;
    claim.who.client = client;
    claim.mode = mode;
    claim.lease_ms = lease_ms;
    claim.address = "somewhere";
    return ranks[rank].ask(name, claim, may_wait).value();
  }

  Store store;
  LockService ranks[2];
  Bell bells[2];
};

TEST_CASE("locks: a name has one lock on all ranks, and what it does wakes the others") {
  Job job;
  const Standing first = job.ask(0, "n", 1, LockMode::kWrite);
  REQUIRE(first.kind == kGranted);
  CHECK(job.ask(1, "n", 2, LockMode::kRead).kind == kWaiting);
  CHECK(job.ask(1, "n", 3, LockMode::kRead).kind == kWaiting);
  CHECK(job.ask(0, "n", 4, LockMode::kRead).kind == kWaiting);
  CHECK(job.ask(1, "other", 5, LockMode::kWrite).kind == kGranted);
  CHECK(job.ranks[1].release("n", first.token).value() == TokenFit::kHolds);
  CHECK(job.bells[0].take().empty());
  CHECK(job.bells[1].take() == std::vector<std::uint64_t>{2, 3});
  CHECK(job.ranks[0].collect_mail().value());
  CHECK(job.bells[0].take() == std::vector<std::uint64_t>{4});
  for (const std::uint64_t client : {2, 3}) {
    CHECK(job.ranks[1].look("n", client, false).value().kind == kGranted);
  }
  const Standing last = job.ranks[0].look("n", 4, true).value();
  CHECK(last.kind == kGranted);
  CHECK(last.token > first.token + 2);
  CHECK(job.ranks[0].release("n", first.token).value() == TokenFit::kOthersHold);
  CHECK(job.ranks[0].release("other name", first.token).value() == TokenFit::kNobodyHolds);
}

TEST_CASE("locks: a client that goes leaves its place and its locks to others") {
  Job job;
  REQUIRE(job.ask(0, "n", 1, LockMode::kWrite).kind == kGranted);
  REQUIRE(job.ask(0, "n", 2, LockMode::kWrite).kind == kWaiting);
  REQUIRE(job.ask(1, "n", 3, LockMode::kWrite).kind == kWaiting);
  REQUIRE(job.ranks[0].leave("n", 2).ok());
  CHECK(job.ranks[1].look("n", 3, false).value().kind == kWaiting);
  job.ranks[1].collect_mail().value();
  job.bells[1].take();
  REQUIRE(job.ranks[0].leave("n", 1).ok());
  CHECK(job.ranks[1].collect_mail().value());
  CHECK(job.bells[1].take() == std::vector<std::uint64_t>{3});
  CHECK(job.ranks[1].look("n", 3, false).value().kind == kGranted);
  CHECK(job.ranks[0].look("n", 2, false).value().kind == kBusy);
}

TEST_CASE("locks: a lease that is over is somebody else's to take; one renewed is not") {
  Job job;
  const Standing held = job.ask(0, "n", 1, LockMode::kWrite, true, 1);
  REQUIRE(held.kind == kGranted);
  const std::uint64_t until = steady_ns() + 10'000'000'000;
  Standing other{};
  while ((other = job.ask(1, "n", 2, LockMode::kWrite, false)).kind == kBusy) {
    REQUIRE(steady_ns() < until);
  }
  CHECK(other.kind == kGranted);
  CHECK(other.token > held.token);
  CHECK(job.ranks[0].renew("n", held.token, kLongMs).value() == TokenFit::kOthersHold);
  CHECK(job.ranks[0].renew("n", other.token, 2 * kLongMs).value() == TokenFit::kHolds);
  const auto info = job.ranks[0].info("n").value();
  REQUIRE(info.lock.holders.size() == 1);
  CHECK(info.lock.holders[0].lease_ms == 2 * kLongMs);
  CHECK(info.lock.holders[0].at_ms > info.now_ms + kLongMs);
  CHECK(info.lock.holders[0].address == "somewhere");
}

TEST_CASE("S1: tokens grow over locks that were forgotten, and over stores") {
  std::uint64_t last = 0;
  for (int life = 0; life < 3; ++life) {
    Job job;
    for (int round = 0; round < 10; ++round) {
      const auto rank = static_cast<std::uint32_t>(round % 2);
      const Standing standing = job.ask(rank, "n", 1, LockMode::kWrite);
      REQUIRE(standing.kind == kGranted);
      CHECK(standing.token > last);
      last = standing.token;
      CHECK(job.ranks[rank].release("n", last).value() == TokenFit::kHolds);
      CHECK(job.ranks[0].info("n").value().lock.is_free());
    }
  }
}

TEST_CASE("locks: a lock is at home where its name's slot is") {
  Job job;
  for (int i = 0; i < 200; ++i) {
    const std::string name = "name " + std::to_string(i);
    const std::uint64_t before = job.store.session().value().inspector().report(0).value().elements;
    REQUIRE(job.ask(1, name, 1, LockMode::kRead).kind == kGranted);
    const std::uint64_t after = job.store.session().value().inspector().report(0).value().elements;
    CHECK(after - before <= 1);
    CHECK((after > before) == (job.store.owner_of(name) == 0));
  }
}

TEST_CASE("S2: locks that nobody holds take no memory but their shards' counts") {
  Job job;
  Session session = job.store.session().value();
  const auto used = [&] {
    std::uint64_t bytes = 0;
    for (const std::uint32_t rank : {0U, 1U})
      bytes += session.inspector().report(rank).value().live_bytes;
    return bytes;
  };
  const std::uint64_t before = used();
  for (int i = 0; i < 50'000; ++i) {
    const std::string name = "name " + std::to_string(i);
    const Standing standing = job.ask(0, name, 1, LockMode::kWrite, false);
    REQUIRE(standing.kind == kGranted);
    REQUIRE(job.ranks[1].release(name, standing.token).value() == TokenFit::kHolds);
  }
  CHECK(used() - before < 100'000);
  CHECK(*session.size() <= store::kSlots + 2);
}

TEST_CASE("S3: a full store refuses who asks, and hinders nobody who gives back") {
  Job job;
  std::vector<std::pair<std::string, std::uint64_t>> held;
  LockClaim claim;
  claim.who.client = 1;
  claim.mode = LockMode::kWrite;
  claim.lease_ms = kLongMs;
  claim.address = std::string(kMaxAddressBytes, 'a');
  REQUIRE(job.ask(0, "n", 1, LockMode::kWrite).kind == kGranted);
  for (std::uint64_t client = 2; client <= 5; ++client) {
    REQUIRE(job.ask(0, "n", client, LockMode::kWrite).kind == kWaiting);
  }
  while (true) {
    const std::string name = "name " + std::to_string(held.size()) + std::string(900, 'x');
    const auto standing = job.ranks[0].ask(name, claim, false);
    if (!standing.ok()) {
      CHECK(standing.status() == Code::kOutOfSpace);
      break;
    }
    held.emplace_back(name, standing->token);
  }
  CHECK(held.size() > 1000);
  // All that the heap still has goes to small elements, so that no block of any size is left.
  Session session = job.store.session().value();
  for (const std::size_t bytes : {8000, 1000, 200, 30}) {
    const std::string value(bytes, 'x');
    int number = 0;
    const auto key = [&] { return std::to_string(bytes) + "/" + std::to_string(++number); };
    while (session.put(key(), value).ok()) {
    }
  }
  REQUIRE(job.ranks[0].leave("n", 1).ok());
  for (std::uint64_t client = 2; client <= 5; ++client) {
    CHECK(job.ranks[0].look("n", client, false).value().kind == kGranted);
    CHECK(job.ranks[0].leave("n", client).ok());
  }
  for (const auto& [name, token] : held) {
    CHECK(job.ranks[1].release(name, token).value() == TokenFit::kHolds);
  }
}

TEST_CASE("locks: no more wait for a lock than may") {
  LockLimits limits;
  limits.waiters = 5;
  Job job("local:?memory=16MiB&ranks=2", limits);
  const Standing first = job.ask(0, "n", 1, LockMode::kWrite);
  for (std::uint64_t client = 2; client < 7; ++client) {
    CHECK(job.ask(client % 2, "n", client, LockMode::kWrite).kind == kWaiting);
  }
  CHECK(job.ask(0, "n", 9, LockMode::kRead).kind == Standing::Kind::kTooMany);
  CHECK(job.ranks[0].release("n", first.token).value() == TokenFit::kHolds);
  CHECK(job.ask(0, "n", 9, LockMode::kRead).kind == kWaiting);
}

TEST_CASE("locks: threads of two ranks exclude each other, and none waits for ever") {
  constexpr int kThreads = 4;
  constexpr int kRounds = 300;
  Job job;
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  std::mutex mutex;
  std::vector<std::uint64_t> tokens;
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      LockService& rank = job.ranks[thread % 2];
      for (int round = 0; round < kRounds; ++round) {
        Standing standing = job.ask(thread % 2, "n", thread + 1, LockMode::kWrite);
        while (standing.kind == kWaiting) {
          std::this_thread::yield();
          standing = rank.look("n", thread + 1, false).value();
        }
        // Both relaxed: a lost or added increment would still be detected, and the lock orders
        // them.
        if (inside.fetch_add(1, std::memory_order_relaxed) != 0) {
          overlaps.fetch_add(1, std::memory_order_relaxed);
        }
        {
          const std::lock_guard guard(mutex);
          tokens.push_back(standing.token);
        }
        inside.fetch_sub(1, std::memory_order_relaxed);
        static_cast<void>(rank.release("n", standing.token));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(overlaps == 0);
  CHECK(tokens.size() == kThreads * kRounds);
  CHECK(std::is_sorted(tokens.begin(), tokens.end(), std::less_equal<>()));
}

}  // namespace
}  // namespace keyway::server
