// Edits that the owner of a key carries out: their costs and answers, and a slow owner.
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "keyway/kvstore/owner_service.h"
#include "keyway/locks/fabric/sim/sim_endpoint.h"
#include "tests/store/sim/sim_store.h"
#include "tests/support/slow_network.h"

using namespace keyway;
using namespace keyway::test;

namespace {

using PlainStore = SimStore<fabric::SimEndpoint>;
using PlainService = store::OwnerService<fabric::SimEndpoint>;
constexpr std::uint64_t kRoundTripNs = 2'000'000;  // in slow_network()
const std::string kValue(100, 'v');

/// Keys of rank 0, a session of rank 1, and whether rank 0 serves at present.
struct Caller {
  explicit Caller(PlainStore& made) : store(made), session(store.session(1)) {
    for (int i = 0; keys.size() < 16; ++i) {
      const std::string key = fmt::format("key {}", i);
      if (session->stripe_of(key).rank == 0) keys.push_back(key);
    }
  }
  /// Between ranks.
  std::uint64_t messages() const {
    const auto& levels = store.fabric().stats().rma;
    std::uint64_t all = 0;
    for (std::size_t i = 0; i + 1 < levels.size(); ++i) all += levels[i].counts.operations();
    return all;
  }
  store::RemoteWork counted() const { return session->remote_work(); }
  /// Whether edit() is one that the owner makes.
  bool by_owner(const std::function<bool()>& edit) {
    const std::uint64_t before = session->remote_work().edits_by_owners;
    return edit() && session->remote_work().edits_by_owners == before + 1;
  }
  void rest(std::uint64_t ns) {
    auto& ep = session->endpoint();
    const std::uint64_t until = ep.now_ns() + ns;
    ep.retry_until([&] { return ep.now_ns() >= until; }, {.min_ns = 1000, .max_ns = 1000},
                   Deadline::never());
  }
  std::string get(const std::string& key) {
    std::string value;
    const Status status = session->get(key, value);
    return status.ok() ? value : std::string(code_name(status.code()));
  }

  PlainStore& store;
  std::unique_ptr<PlainStore::Session> session;
  std::vector<std::string> keys;
  bool serves = true;
  bool idle = false;             // what the service says
  std::uint64_t open_looks = 0;  // after which it was not
};

/// An agent of rank 0 serves until body() has run on an agent of rank 1.
void run_served(const SimPlan& plan, const std::function<void(Caller&)>& body) {
  PlainStore store(plan);
  std::unique_ptr<Caller> caller;
  bool ended = false;
  store.fabric().run({0, 1}, [&](std::uint32_t me) {
    if (me == 1) {
      caller = std::make_unique<Caller>(store);
      body(*caller);
      caller->session.reset();
      ended = true;
      return;
    }
    const auto service = store.service(0);
    const fabric::Backoff often{.min_ns = 1000, .max_ns = 1000};
    const auto look = [&] {
      if (caller == nullptr) return ended;
      if (caller->serves) service->serve();
      caller->idle = service->idle();
      if (!caller->idle) ++caller->open_looks;
      return ended;
    };
    service->endpoint().retry_until(look, often, Deadline::never());
  });
}

SimPlan two_ranks(std::uint32_t slots) {
  return {.ranks = 2,
          .machine = slow_network(),
          .memory_bytes = 4 * store::kMinMemoryBytes,
          .call_slots = slots,
          .timeout = std::chrono::milliseconds(100)};
}

}  // namespace

TEST_CASE("owner: a read under the lock is one message each way") {
  run_served(two_ranks(1), [](Caller& caller) {
    auto& session = *caller.session;
    const std::string& key = caller.keys[0];
    CHECK(caller.get(key) == "NOT_FOUND");  // from now on it does not try without the lock at first
    const auto costs = [&](const std::string& expected) {
      const std::uint64_t began = caller.session->endpoint().now_ns();
      const std::uint64_t before = caller.messages();
      const store::RemoteWork counted = caller.counted();
      CHECK(caller.get(key) == expected);
      CHECK(caller.messages() - before == 2);
      CHECK(caller.session->endpoint().now_ns() - began < kRoundTripNs + kRoundTripNs / 10);
      CHECK(caller.counted().messages - counted.messages == 1);
      CHECK(caller.counted().round_trips - counted.round_trips == 1);
    };
    costs("NOT_FOUND");
    REQUIRE(session.put(key, "short", {}).ok());
    costs("short");
    REQUIRE(session.put(key, "", {}).ok());
    costs("");
    CHECK(session.optimistic_reads().by_owners == 4);
    std::string part;
    REQUIRE(session.put(key, "0123456789", {}).ok());
    REQUIRE(session.get_range(key, 3, 4, part).ok());
    CHECK(part == "3456");
    CHECK(session.info(key)->value_bytes == 10);
    CHECK(session.optimistic_reads().by_owners == 6);
    REQUIRE(session.put(key, "expires", {.expires_at_ms = 1ULL << 50}).ok());
    costs("expires");
    const std::string longest(store::AnswerValue::kMaxBytes, 'x');
    REQUIRE(session.put(key, longest, {.expires_at_ms = 1ULL << 50}).ok());
    costs(longest);
    CHECK(session.optimistic_reads().by_owners == 8);
    // Not by the owner: what is longer and not known.
    REQUIRE(session.put(key, longest + "x", {.expires_at_ms = 1ULL << 50}).ok());
    CHECK(caller.get(key) == longest + "x");
    CHECK(session.optimistic_reads().by_owners == 8);
  });
}

TEST_CASE("owner: an expiry is judged by the owner's time, which is then that of the operation") {
  run_served(two_ranks(1), [](Caller& caller) {
    auto& session = *caller.session;
    const std::string& key = caller.keys[0];
    const auto now_ms = [&] { return session.endpoint().wall_ms(); };
    const std::uint64_t expiry = now_ms() + 500;
    REQUIRE(session.put(key, kValue, {.expires_at_ms = expiry}).ok());
    std::uint64_t reads = session.optimistic_reads().by_owners;
    while (now_ms() + 50 < expiry) {
      const std::uint64_t begun = now_ms();
      const std::uint64_t messages = caller.messages();
      const auto info = session.info(key);
      REQUIRE(info.ok());
      CHECK(caller.messages() - messages == 2);
      CHECK(info->expires_at_ms == expiry);
      CHECK(info->now_ms >= begun);
      CHECK(info->now_ms <= now_ms());
      const auto word = caller.store.geometry().header(0) + store::kTimeOffset;  // T3
      CHECK(session.endpoint().load(fabric::rma, word) >= info->now_ms);
      ++reads;
      caller.rest(20'000'000);
    }
    REQUIRE(reads > 10);
    while (now_ms() <= expiry) caller.rest(1'000'000);
    CHECK(caller.get(key) == "NOT_FOUND");
    CHECK(session.info(key).code() == Code::kNotFound);
    CHECK(session.optimistic_reads().by_owners == reads + 2);
  });
}

TEST_CASE("owner: an edit is one message each way") {
  run_served(two_ranks(1), [](Caller& caller) {
    const auto costs = [&](const std::function<bool()>& edit) {
      const std::uint64_t began = caller.session->endpoint().now_ns();
      const std::uint64_t before = caller.messages();
      const store::RemoteWork counted = caller.counted();
      REQUIRE(edit());
      CHECK(caller.messages() - before == 2);
      CHECK(caller.session->endpoint().now_ns() - began < kRoundTripNs + kRoundTripNs / 10);
      CHECK(caller.counted().messages - counted.messages == 1);
      CHECK(caller.counted().round_trips - counted.round_trips == 1);
    };
    auto& session = *caller.session;
    const std::string& key = caller.keys[0];
    costs([&] { return session.put(key, kValue, {}).ok(); });           // new
    costs([&] { return session.put(key, kValue, {}).ok(); });           // in place
    costs([&] { return session.put(key, kValue + kValue, {}).ok(); });  // moves
    costs([&] { return session.append(key, "more").ok(); });
    costs([&] { return session.set_range(key, 3, "part").ok(); });
    costs([&] { return session.erase(key).ok(); });
    costs([&] { return session.increment(key, 5).ok(); });
    costs([&] { return session.compare_and_set(key, "5", "6").ok(); });
    costs([&] { return session.erase(caller.keys[1]) == Code::kNotFound; });
  });
}

TEST_CASE("owner: an edit answers as it does at home") {
  run_served(two_ranks(1), [](Caller& caller) {
    auto& session = *caller.session;
    const std::string& key = caller.keys[0];
    CHECK(session.erase(key) == Code::kNotFound);
    CHECK(session.put(key, "x", {.when = store::PutIf::kPresent}) == Code::kNotFound);
    CHECK(session.put(key, "10", {.when = store::PutIf::kAbsent}).ok());
    CHECK(session.put(key, "x", {.when = store::PutIf::kAbsent}) == Code::kExists);
    CHECK(*session.increment(key, -12'345'678'901'234) == 10 - 12'345'678'901'234);
    CHECK(caller.get(key) == "-12345678901224");
    CHECK(session.compare_and_set(key, "other", "x") == Code::kMismatch);
    CHECK(session.compare_and_set(key, "-12345678901224", "abc").ok());
    CHECK(session.increment(key, 1).code() == Code::kNotANumber);
    CHECK(*session.append(key, "defg") == 7);
    CHECK(*session.set_range(key, 9, "xyz") == 12);
    CHECK(caller.get(key) == std::string("abcdefg\0\0xyz", 12));
    CHECK(session.set_range(key, 0, "", store::PutIf::kAbsent).code() == Code::kExists);
    CHECK(session.erase(key).ok());
    CHECK(caller.get(key) == "NOT_FOUND");
    CHECK(session.remote_work().edits_by_owners == 12);
  });
}

TEST_CASE("owner: an expiry goes with a put, and may be kept") {
  run_served(two_ranks(1), [](Caller& caller) {
    auto& session = *caller.session;
    const std::string& key = caller.keys[0];
    REQUIRE(session.put(key, "a", {.expires_at_ms = 1'000'000}).ok());
    CHECK(session.info(key)->expires_at_ms == 1'000'000);
    REQUIRE(session.put(key, "b", {.keep_expiry = true}).ok());
    CHECK(session.info(key)->expires_at_ms == 1'000'000);
    REQUIRE(session.put(key, "c", {}).ok());
    CHECK(session.info(key)->expires_at_ms == store::kNoExpiry);
    CHECK(session.remote_work().edits_by_owners == 3);
  });
}

TEST_CASE("owner: what its answer names is read by one message") {
  SimPlan plan = two_ranks(1);
  plan.address_bytes = 1 << 20;
  run_served(plan, [](Caller& caller) {
    auto& session = *caller.session;
    const std::string& key = caller.keys[0];
    const auto is_read = [&](const std::string& value) {
      const std::uint64_t warm = session.optimistic_reads().warm;
      CHECK(caller.get(key) == value);
      CHECK(session.optimistic_reads().warm == warm + 1);
    };
    const std::string longer = kValue + kValue;
    // That of a read, too. After a key that is absent it does not try without the lock at first.
    const auto other = caller.store.session(0);
    REQUIRE(other->put(caller.keys[1], kValue, {}).ok());
    CHECK(caller.get(caller.keys[2]) == "NOT_FOUND");
    CHECK(caller.get(caller.keys[1]) == kValue);
    CHECK(session.optimistic_reads().by_owners == 2);
    CHECK(caller.get(caller.keys[1]) == kValue);
    CHECK(session.optimistic_reads().warm == 1);
    CHECK(caller.by_owner([&] { return session.put(key, kValue, {}).ok(); }));  // new
    is_read(kValue);
    CHECK(caller.by_owner([&] { return session.set_range(key, 0, "in place").ok(); }));
    is_read("in place" + kValue.substr(8));
    CHECK(caller.by_owner([&] { return session.put(key, longer, {}).ok(); }));  // moves
    is_read(longer);
    // It is refused, and the answer names the place nevertheless.
    CHECK(session.put(key, "x", {.when = store::PutIf::kAbsent}) == Code::kExists);
    is_read(longer);
  });
}

TEST_CASE("owner: a large value is the caller's to make and to free") {
  run_served(two_ranks(1), [](Caller& caller) {
    auto& session = *caller.session;
    const std::string& key = caller.keys[0];
    const std::string part = "part";
    CHECK(caller.by_owner([&] { return session.set_range(key, 60'000, part).ok(); }));
    CHECK_FALSE(caller.by_owner([&] { return session.set_range(key, 70'000, part).ok(); }));
    CHECK(*session.append(key, part) == 70'008);
    CHECK(session.remote_work().edits_by_owners == 1);
    // It does not grow here.
    CHECK(caller.by_owner([&] { return session.set_range(key, 60'000, "PART").ok(); }));
    std::string there(70'008, '\0');
    there.replace(60'000, 4, "PART").replace(70'000, 8, "partpart");
    CHECK(caller.get(key) == there);
    // To free it is the caller's as well.
    CHECK_FALSE(caller.by_owner([&] { return session.put(key, part, {}).ok(); }));
    CHECK(caller.get(key) == part);
    CHECK(caller.by_owner([&] { return session.erase(key).ok(); }));
  });
}

TEST_CASE("owner: what does not fit a slot is one-sided") {
  run_served(two_ranks(1), [](Caller& caller) {
    auto& session = *caller.session;
    const std::string large(store::kCallBytes, 'l');
    const std::uint64_t before = caller.messages();
    REQUIRE(session.put(caller.keys[0], large, {}).ok());
    CHECK(caller.messages() - before > 2);
    CHECK(caller.get(caller.keys[0]) == large);
    CHECK(session.compare_and_set(caller.keys[0], large, "small").ok());
    CHECK(caller.get(caller.keys[0]) == "small");
    const std::string long_key = "{" + caller.keys[0] + "}" + large;
    REQUIRE(session.put(long_key, "v", {}).ok());
    CHECK(caller.get(long_key) == "v");
    CHECK(session.remote_work().edits_by_owners == 0);
  });
}

TEST_CASE("owner: a full heap is the caller's to say") {
  run_served(two_ranks(1), [](Caller& caller) {
    Status status;
    const std::string value(900, 'v');
    std::uint64_t puts = 0;
    for (int i = 0; status.ok() && i < 100'000; ++i) {
      const std::string key = "{" + caller.keys[0] + "}" + std::to_string(i);
      status = caller.session->put(key, value, {});
      puts += status.ok() ? 1 : 0;
    }
    CHECK(status == Code::kOutOfSpace);
    CHECK(status.message().size() > 20);
    CHECK(puts > 1000);
    CHECK(caller.session->remote_work().edits_by_owners > 1000);
  });
}

TEST_CASE("owner: an edit of a locked stripe waits for it, and no longer than its caller") {
  run_served(two_ranks(1), [](Caller& caller) {
    auto& session = *caller.session;
    const std::string& key = caller.keys[0];
    REQUIRE(session.put(key, "before", {}).ok());
    const auto holder = caller.store.session(1);
    Status held;
    const auto hold = [&](const std::function<void()>& meanwhile) {
      const std::vector<std::string_view> keys = {key};
      REQUIRE(holder
                  ->modify_all(keys,
                               [&](auto) {
                                 meanwhile();
                                 return true;
                               },
                               {})
                  .ok());
    };
    caller.rest(kRoundTripNs);
    CHECK(caller.idle);
    const std::uint64_t open = caller.open_looks;
    hold([&] {
      const std::uint64_t began = session.endpoint().now_ns();
      held = session.put(key, "after", {});
      // All in one timeout, and then the last attempt, and a look at who has the lock.
      CHECK(session.endpoint().now_ns() - began <= 110'000'000);
    });
    CHECK(held == Code::kTimeout);
    CHECK(held.message().size() > 20);
    CHECK(caller.open_looks - open > 1000);  // an edit that waits is work
    CHECK(caller.get(key) == "before");
    CHECK(session.put(key, "after", {}).ok());
    CHECK(caller.get(key) == "after");
  });
}

TEST_CASE("owner: an edit that is not begun in time is taken back, and made one-sided") {
  run_served(two_ranks(1), [](Caller& caller) {
    auto& session = *caller.session;
    const std::string& key = caller.keys[0];
    REQUIRE(session.put(key, "before", {}).ok());
    caller.serves = false;
    // The patience, the way to take it back, and at most ten round trips for the edit itself.
    const std::uint64_t began = session.endpoint().now_ns();
    CHECK_FALSE(caller.by_owner([&] { return session.put(key, "after", {}).ok(); }));
    CHECK(session.endpoint().now_ns() - began <= 25'000'000 + 11 * kRoundTripNs);
    CHECK(caller.get(key) == "after");
    // The slot is taken, and nobody waits for it.
    const std::uint64_t again = session.endpoint().now_ns();
    CHECK_FALSE(caller.by_owner([&] { return session.put(key, "later", {}).ok(); }));
    CHECK(session.endpoint().now_ns() - again <= 10 * kRoundTripNs);
    caller.serves = true;
    caller.rest(3 * kRoundTripNs);
    CHECK(caller.get(key) == "later");
    CHECK(caller.by_owner([&] { return session.put(key, "at last", {}).ok(); }));
    CHECK(caller.get(key) == "at last");
  });
}

TEST_CASE("owner: an edit that is begun, but not answered, is in doubt") {
  run_served(two_ranks(1), [](Caller& caller) {
    auto& session = *caller.session;
    auto& ep = session.endpoint();
    const std::string& key = caller.keys[0];
    REQUIRE(session.put(key, "before", {}).ok());
    caller.serves = false;
    // As the owner does when it begins.
    ep.fetch_add(fabric::rma, caller.store.geometry().call_claim(0, 1, 0), 1);
    const std::uint64_t began = ep.now_ns();
    CHECK(session.put(key, "after", {}) == Code::kInDoubt);
    CHECK(ep.now_ns() - began <= 110'000'000);
    CHECK(caller.get(key) == "before");
    CHECK_FALSE(caller.by_owner([&] { return session.put(key, "one-sided", {}).ok(); }));
    caller.serves = true;
    caller.rest(3 * kRoundTripNs);
    CHECK(caller.get(key) == "one-sided");
    CHECK(caller.by_owner([&] { return session.put(key, "again", {}).ok(); }));
    CHECK(caller.get(key) == "again");
  });
}
