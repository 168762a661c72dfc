// Sweeps find all expired elements, of all writers and all kinds of writes (K7).
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "keyway/locks/base/rng.h"
#include "tests/store/sim/clocked_session.h"
#include "tests/store/sim/sim_store.h"
#include "tests/support/shaken_machine.h"

using namespace keyway;
using namespace keyway::test;

namespace {

constexpr std::uint32_t kRanks = 2;
constexpr std::size_t kKeys = 60;
constexpr std::uint64_t kAbsent = ~0ULL;
constexpr std::uint64_t kBatchMs = 400;  // the delay of a sweep in parts, as client.h says

/// Two sessions on two nodes, so that each writes near and far, and what must be there.
class World {
 public:
  explicit World(std::uint64_t seed)
      : store_({.ranks = kRanks, .machine = shaken_machine(1, 0), .seed = seed}), rng_(seed) {
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      sessions_.push_back(store_.session(rank, [this] { return now_; }));
    }
    for (std::size_t i = 0; i < kKeys; ++i)
      own_keys_[sessions_[0]->stripe_of(name(i)).rank] = name(i);
  }

  void step() {
    now_ += rng_.below(60);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {  // each owner refreshes its clock
      CHECK(sessions_[rank]->now_ms(own_keys_[rank]) == now_);
    }
    const std::size_t i = rng_.below(kKeys);
    auto& session = *sessions_[rng_.below(kRanks)];
    switch (rng_.below(7)) {
      case 0: return write(session, i, store::kNoExpiry);
      case 1:
      case 2: return write(session, i, now_ + 1 + rng_.below(5000));
      case 3: return write_two(session, i, now_ + 1 + rng_.below(5000));
      case 4: return append(session, i);
      case 5: return change_expiry(session, i);
      default: return erase(session, i);
    }
  }

  void sweep_all() {
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      REQUIRE(any_session().sweep_expired(rank).ok());
    }
    CHECK(*any_session().size() == those_after(now_));
  }

  void sweep_in_parts() {
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      auto& session = any_session();
      std::uint64_t next = 0;
      do {
        const auto part = session.sweep_part(rank, next, 1);
        REQUIRE(part.ok());
        REQUIRE(part->skipped == 0);
        next = part->next;
      } while (next != 0);
    }
    CHECK(*any_session().size() <= those_after(now_ - kBatchMs));
    CHECK(*any_session().size() >= those_after(now_));
  }

 private:
  using Session = store::Session<ClockedEndpoint>;

  static std::string name(std::size_t i) { return "key " + std::to_string(i); }
  std::string value() { return std::string(1 + rng_.below(300), 'v'); }
  Session& any_session() { return *sessions_[rng_.below(kRanks)]; }
  bool there(std::size_t i) const {
    return expiries_[i] != kAbsent && (expiries_[i] == store::kNoExpiry || expiries_[i] > now_);
  }
  std::uint64_t those_after(std::uint64_t ms) const {
    return static_cast<std::uint64_t>(std::count_if(
        expiries_.begin(), expiries_.end(),
        [ms](std::uint64_t at) { return at != kAbsent && (at == store::kNoExpiry || at > ms); }));
  }

  void write(Session& session, std::size_t i, std::uint64_t at) {
    REQUIRE(session.put(name(i), value(), {.expires_at_ms = at}).ok());
    expiries_[i] = at;
  }
  void write_two(Session& session, std::size_t i, std::uint64_t at) {
    const std::size_t j = (i + 1) % kKeys;
    const std::string names[] = {name(i), name(j)};
    const std::string values[] = {value(), value()};
    const std::vector<std::pair<std::string_view, std::string_view>> pairs = {
        {names[0], values[0]}, {names[1], values[1]}};
    REQUIRE(session.put_all(pairs, {.expires_at_ms = at}).ok());
    expiries_[i] = expiries_[j] = at;
  }
  void append(Session& session, std::size_t i) {
    const bool was = there(i);
    REQUIRE(session.append(name(i), "more").ok());
    if (!was) expiries_[i] = store::kNoExpiry;
  }
  void change_expiry(Session& session, std::size_t i) {
    const bool was = there(i);
    const std::uint64_t at = now_ + 1 + rng_.below(3000);
    const Status status = session.set_expiry(name(i), at);
    REQUIRE(status.ok() == was);
    expiries_[i] = was ? at : kAbsent;
  }
  void erase(Session& session, std::size_t i) {
    const bool was = there(i);
    REQUIRE(session.erase(name(i)).ok() == was);
    expiries_[i] = kAbsent;
  }

  SimStore<ClockedEndpoint> store_;
  Rng rng_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<std::uint64_t> expiries_ = std::vector<std::uint64_t>(kKeys, kAbsent);
  std::array<std::string, kRanks> own_keys_;
  std::uint64_t now_ = 1'000'000;
};

}  // namespace

TEST_CASE("sweep: everything that has expired is found, whoever wrote it") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    World world(seed);
    for (int round = 0; round < 60; ++round) {
      for (int i = 0; i < 20; ++i) world.step();
      round % 2 == 0 ? world.sweep_all() : world.sweep_in_parts();
    }
  }
}
