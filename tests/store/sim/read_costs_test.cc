// The cost of reads and writes of another node's keys, as the depth of dependent messages that the
// simulated network sees, and as messages.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/kvstore/volume/read_permit.h"
#include "tests/store/sim/far_sessions.h"

using namespace keyway;
using namespace keyway::test;

TEST_CASE("read costs: without addresses a get takes its lock") {
  run_far(0, [](FarSessions& far) {
    CHECK(far.get().round_trips == 3);  // lock, line, element: another session wrote last
    CHECK(far.get().round_trips == 2);  // lock with line, element
    CHECK(far.session->optimistic_reads().warm == 0);
  });
}

TEST_CASE("read costs: a cold get is two round trips, a warm one is one message") {
  run_far(kAddresses, [](FarSessions& far) {
    CHECK(far.get() == Cost{2, 3});  // line; element, and the permit
    CHECK(far.get() == Cost{1, 1});
    CHECK(far.get() == Cost{1, 1});
    const store::OptimisticReads& counts = far.session->optimistic_reads();
    CHECK(counts.cold == 1);
    CHECK(counts.warm == 2);
    CHECK(counts.refused == 0);
    CHECK(counts.repeated == 0);
  });
}

TEST_CASE("read costs: a batch is two round trips, and one when its keys are known") {
  run_far(kAddresses, [](FarSessions& far) {
    const std::vector<std::string_view> keys(far.keys.begin(), far.keys.end());
    std::vector<std::string> out(keys.size());
    std::vector<Code> codes(keys.size());
    const auto batch = [&] {
      far.session->get_many(keys, out, codes);
      return std::count(codes.begin(), codes.end(), Code::kOk) == std::ssize(codes) &&
             std::count(out.begin(), out.end(), kShort) == std::ssize(out);
    };
    // Lines, each once; elements. And the permit.
    CHECK(far.cost(batch) == Cost{2, far.store.geometry().buckets() + keys.size() + 1});
    CHECK(far.cost(batch) == Cost{1, keys.size()});
    CHECK(far.session->optimistic_reads().cold == keys.size());
    CHECK(far.session->optimistic_reads().warm == keys.size());
    REQUIRE(far.other->put(far.keys[3], kLonger, {}).ok());
    far.session->get_many(keys, out, codes);
    CHECK(out[3] == kLonger);
    CHECK(out[4] == kShort);
  });
}

TEST_CASE("read costs: what is read ahead costs its get nothing") {
  run_far(kAddresses, [](FarSessions& far) {
    const std::vector<std::string_view> keys(far.keys.begin(), far.keys.end());
    REQUIRE(keys.size() == 64);
    const auto ahead = [&] { return far.session->read_ahead(keys) == ~std::uint64_t{0}; };
    const auto get = [&](std::size_t i) {
      return far.cost([&] { return far.session->get(keys[i], far.value).ok(); });
    };
    CHECK(far.session->read_ahead(keys) == 0);  // their places are not known
    std::vector<std::string> out(keys.size());
    std::vector<Code> codes(keys.size());
    far.session->get_many(keys, out, codes);
    CHECK(far.cost(ahead) == Cost{1, keys.size()});
    for (std::size_t i = 0; i < keys.size(); ++i) CHECK(get(i) == Cost{0, 0});
    CHECK(get(0) == Cost{1, 1});  // once
    REQUIRE(ahead());
    REQUIRE(far.other->put(far.keys[3], kLonger, {}).ok());
    CHECK(get(3) == Cost{0, 0});
    CHECK(far.value == kShort);  // as it was when it was read
    CHECK(get(3).round_trips > 0);
    CHECK(far.value == kLonger);
    REQUIRE(far.session->put(far.keys[4], kLonger, {}).ok());
    CHECK(get(4).round_trips > 0);  // its own changes are not missed
    CHECK(far.value == kLonger);
    CHECK(far.session->read_ahead({}) == 0);
    CHECK(get(5) == Cost{1, 1});  // forgotten
    REQUIRE(ahead());
    REQUIRE(far.session->clear().ok());
    CHECK(far.session->get(keys[6], far.value) == Code::kNotFound);
  });
}

TEST_CASE("read costs: a permit is renewed with a get") {
  run_far(kAddresses, [](FarSessions& far) {
    far.get();
    std::uint64_t with_permit = 0;
    const std::uint64_t began = far.now();
    while (far.now() - began < 10 * store::kPermitNs) {
      const Cost cost = far.get();
      CHECK(cost.round_trips == 1);
      with_permit += cost.messages - 1;
    }
    CHECK(with_permit >= 10);
    CHECK(with_permit <= 21);
  });
}

TEST_CASE(
    "read costs: a session's first get of a rank is one round trip more, if the place is known") {
  run_far(kAddresses, [](FarSessions& far) {
    far.get();
    const auto first = far.store.session(1);
    std::string value;
    REQUIRE(first->get(far.keys[0], value).ok());
    CHECK(first->optimistic_reads().warm == 1);
    CHECK(first->remote_work().messages == 3);  // the element, twice, and the permit
    CHECK(first->remote_work().round_trips == 2);
    CHECK(first->optimistic_reads().repeated == 1);
  });
}

TEST_CASE("read costs: an element that changes in place stays known, one that moves does not") {
  run_far(kAddresses, [](FarSessions& far) {
    far.get();
    REQUIRE(far.other->put(far.keys[0], std::string(100, 'w'), {}).ok());
    CHECK(far.get().round_trips == 1);
    CHECK(far.value == std::string(100, 'w'));
    REQUIRE(far.other->put(far.keys[0], kLonger, {}).ok());
    CHECK(far.get().round_trips == 4);  // a look at the old place
    CHECK(far.value == kLonger);
    CHECK(far.get().round_trips == 1);
    REQUIRE(far.other->erase(far.keys[0]).ok());
    CHECK(far.session->get(far.keys[0], far.value) == Code::kNotFound);
  });
}

TEST_CASE("read costs: an element with an expiry, an inline one and a run take the lock") {
  run_far(kAddresses, [](FarSessions& far) {
    const store::PutOptions expires{.expires_at_ms = 1'000'000};
    REQUIRE(far.other->put(far.keys[0], kShort, expires).ok());
    REQUIRE(far.other->put(far.keys[1], "", {}).ok());
    REQUIRE(far.other->put(far.keys[2], std::string(100'000, 'r'), {}).ok());
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 3; ++i) CHECK(far.session->get(far.keys[i], far.value).ok());
    }
    CHECK(far.session->optimistic_reads().warm == 0);
    CHECK(far.session->optimistic_reads().cold == 0);
  });
}

TEST_CASE("read costs: writes") {
  run_far(kAddresses, [](FarSessions& far) {
    far.put(kLonger);  // leases a chunk
    far.put(kShort);
    far.put(kShort);  // one message more: the one before has needed an epoch
    // Lock, line and element; then holder and element, and the unlock, which nobody waits for.
    CHECK(far.put(kShort) == Cost{2, 6});
    far.put(kLonger);
    CHECK(far.put(kShort).round_trips == 3);  // the old element's mark comes before the line
    CHECK(far.put(kShort).round_trips == 2);  // where it is now is known
    REQUIRE(far.other->put(far.keys[0], kShort, {}).ok());
    CHECK(far.put(kShort).round_trips == 3);  // read again, as another session wrote last
  });
  run_far(0, [](FarSessions& far) {
    far.put(kShort);
    CHECK(far.put(kShort).round_trips == 3);  // lock with line, element, write
  });
}
