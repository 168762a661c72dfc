// N1-N6: every order in which a few clients can use a lock, step by step.
//
// From each state that can be reached every step of every client is taken, and the clock's; times
// and tokens are left out of what makes states the same, so there are few thousands of them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "keyway/server/named_locks/lock_record.h"

namespace keyway::server {
namespace {

constexpr std::size_t kMaxWaiters = 3;
constexpr std::uint64_t kLeaseMs = 10;

struct World {
  LockState lock;
  std::uint64_t now_ms = 1000;
  std::uint64_t last_token = 0;
  std::size_t bytes = 0;  // bytes_of() this
};

std::string shape_of(const World& world) {
  std::string text;
  for (const LockClaim& claim : world.lock.holders) {
    text += std::to_string(claim.who.client) + (claim.mode == LockMode::kWrite ? "W" : "R");
    text += claim.at_ms - world.now_ms > kLeaseMs / 2 ? "+" : "-";
    if (claim.lease_ms != kLeaseMs) text += "short";
  }
  text += '|';
  for (const LockClaim& claim : world.lock.waiters) {
    text += std::to_string(claim.who.client) + (claim.mode == LockMode::kWrite ? "W" : "R");
  }
  return text;
}

bool stands_in(const std::vector<LockClaim>& claims, ClientRef who) {
  return std::any_of(claims.begin(), claims.end(),
                     [&](const LockClaim& claim) { return claim.who == who; });
}

bool fits_beside(const std::vector<LockClaim>& holders, LockMode mode) {
  return holders.empty() || (mode == LockMode::kRead &&
                             std::all_of(holders.begin(), holders.end(), [](const LockClaim& held) {
                               return held.mode == LockMode::kRead;
                             }));
}

void check_state(const LockState& lock) {
  const bool alone = lock.holders.size() <= 1;
  for (const LockClaim& held : lock.holders) CHECK((alone || held.mode == LockMode::kRead));  // N1
  if (!lock.waiters.empty()) {                                                                // N2
    CHECK_FALSE(fits_beside(lock.holders, lock.waiters.front().mode));
  }
  std::set<std::uint64_t> clients;
  for (const auto* claims : {&lock.holders, &lock.waiters}) {
    for (const LockClaim& claim : *claims) CHECK(clients.insert(claim.who.client).second);
  }
}

/// The granted clients: those that hold after a step and did not before.
std::vector<LockClaim> let_in(const LockState& before, const LockState& after) {
  std::vector<LockClaim> found;
  for (const LockClaim& held : after.holders) {
    if (!stands_in(before.holders, held.who)) found.push_back(held);
  }
  return found;
}

std::uint64_t next_end(const LockState& lock) {
  std::uint64_t next = std::numeric_limits<std::uint64_t>::max();
  for (const LockClaim& held : lock.holders) next = std::min(next, held.at_ms);
  return next;
}

void check_step(const World& before, const World& after, const Turn& turn, ClientRef actor) {
  const auto granted = let_in(before.lock, after.lock);
  std::uint64_t token = before.last_token;
  std::size_t next = 0;
  for (const LockClaim& held : granted) {
    CHECK(held.token > token);  // N4
    token = held.token;
    CHECK(held.at_ms == after.now_ms + kLeaseMs);
    if (!stands_in(before.lock.waiters, held.who)) {  // N3: a newcomer
      CHECK(before.lock.waiters.empty());
      continue;
    }
    // N3: no earlier waiter is still waiting.
    while (before.lock.waiters[next].who != held.who) {
      CHECK_FALSE(stands_in(after.lock.waiters, before.lock.waiters[next].who));
      ++next;
    }
    CHECK(std::count(turn.wake.begin(), turn.wake.end(), held.who) == 1);  // N5
  }
  CHECK(after.last_token == token);
  if (!after.lock.waiters.empty()) {
    const ClientRef first = after.lock.waiters.front().who;
    const bool was = !before.lock.waiters.empty() && before.lock.waiters.front().who == first;
    if ((!was || next_end(after.lock) < next_end(before.lock)) && first != actor) {
      CHECK(std::count(turn.wake.begin(), turn.wake.end(), first) == 1);  // N5
    }
  }
  // A waiter keeps its place.
  std::vector<std::uint64_t> order;
  for (const LockClaim& claim : before.lock.waiters) {
    if (stands_in(after.lock.waiters, claim.who)) order.push_back(claim.who.client);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    CHECK(after.lock.waiters[i].who.client == order[i]);
  }
  if (!(before.lock == after.lock)) CHECK(turn.changed);
}

std::size_t bytes_of(const World& world) {
  std::string bytes;
  encode({.last_token = world.last_token, .locks = {world.lock}}, bytes);
  CHECK(decode(bytes) == LockRecord{world.last_token, {world.lock}});
  bytes.resize(bytes.size() + 20, '\0');
  CHECK(decode(bytes) == LockRecord{world.last_token, {world.lock}});
  return bytes.size();
}

/// The step itself checks its result, with the state before it.
struct Step {
  std::string name;
  ClientRef actor;
  bool may_grow = false;
  std::function<void(World&, Turn&)> take;
};

LockClaim claim_of(ClientRef who, LockMode mode) {
  return {.who = who,
          .mode = mode,
          .token = 0,
          .lease_ms = kLeaseMs,
          .at_ms = 0,
          .address = "127.0.0.1:" + std::to_string(who.client)};
}

void take_ask(World& world, Turn& turn, ClientRef who, LockMode mode, bool may_wait) {
  const LockState before = world.lock;
  const Standing standing = ask(world.lock, claim_of(who, mode), may_wait, kMaxWaiters, turn);
  if (stands_in(before.holders, who)) {
    CHECK(standing.kind == Standing::Kind::kHoldsAlready);
    CHECK(world.lock == before);
  } else if (before.waiters.empty() && fits_beside(before.holders, mode)) {
    CHECK(standing.kind == Standing::Kind::kGranted);
    CHECK(standing.token == turn.last_token);
  } else if (!may_wait) {
    CHECK(standing.kind == Standing::Kind::kBusy);
    CHECK(world.lock == before);
  } else if (before.waiters.size() == kMaxWaiters) {
    CHECK(standing.kind == Standing::Kind::kTooMany);
    CHECK(world.lock == before);
  } else {
    CHECK(standing.kind == Standing::Kind::kWaiting);
    CHECK(world.lock.waiters.back().who == who);
    CHECK((standing.look_at_ms > world.now_ms) == before.waiters.empty());
  }
}

void take_look(World& world, Turn& turn, ClientRef who, bool give_up) {
  const LockState before = world.lock;
  const Standing standing = look(world.lock, who, give_up, turn);
  if (stands_in(before.holders, who)) {
    CHECK(standing.kind == Standing::Kind::kGranted);
    const auto held = std::find_if(world.lock.holders.begin(), world.lock.holders.end(),
                                   [&](const LockClaim& claim) { return claim.who == who; });
    CHECK(standing.token == held->token);
    CHECK(held->at_ms == world.now_ms + held->lease_ms);
  } else if (stands_in(before.waiters, who) && !give_up) {
    CHECK(standing.kind == Standing::Kind::kWaiting);
    CHECK(world.lock == before);
    CHECK((standing.look_at_ms > world.now_ms) == (before.waiters.front().who == who));
  } else {
    CHECK(standing.kind == Standing::Kind::kBusy);
    CHECK_FALSE(stands_in(world.lock.waiters, who));
  }
}

/// `lease_ms`: renews for so long, 0 for as long as before; nothing: releases.
void take_end(World& world, Turn& turn, std::uint64_t token,
              std::optional<std::uint64_t> lease_ms) {
  const bool renews = lease_ms.has_value();
  const LockState before = world.lock;
  const auto held = std::find_if(before.holders.begin(), before.holders.end(),
                                 [&](const LockClaim& claim) { return claim.token == token; });
  const bool holds = held != before.holders.end();
  CHECK((renews ? renew(world.lock, token, *lease_ms, turn) : release(world.lock, token, turn)) ==
        holds);
  if (!holds) CHECK(world.lock == before);
  if (holds) CHECK(stands_in(world.lock.holders, held->who) == renews);
}

std::vector<Step> steps_of(ClientRef who, const World& world) {
  std::vector<Step> steps;
  const bool waits = stands_in(world.lock.waiters, who);
  for (const LockMode mode : {LockMode::kRead, LockMode::kWrite}) {
    for (const bool may_wait : {false, true}) {
      if (waits) continue;  // it has one request at a time
      steps.push_back({"ask", who, true,
                       [=](World& w, Turn& turn) { take_ask(w, turn, who, mode, may_wait); }});
    }
  }
  for (const bool give_up : {false, true}) {
    steps.push_back(
        {"look", who, false, [=](World& w, Turn& turn) { take_look(w, turn, who, give_up); }});
  }
  for (const LockClaim& held : world.lock.holders) {
    if (held.who != who) continue;
    using Lease = std::optional<std::uint64_t>;
    for (const Lease lease : {Lease(), Lease(0), Lease(kLeaseMs / 2)}) {
      for (const std::uint64_t wrong : {0, 1000}) {
        steps.push_back({lease ? "renew" : "release", who, false, [=](World& w, Turn& turn) {
                           take_end(w, turn, held.token + wrong, lease);
                         }});
      }
    }
  }
  steps.push_back({"leave", who, false, [=](World& w, Turn& turn) {
                     leave(w.lock, who, turn);
                     CHECK_FALSE(stands_in(w.lock.holders, who));
                     CHECK_FALSE(stands_in(w.lock.waiters, who));
                   }});
  return steps;
}

/// As lock_service.h makes one: first what has lapsed ends.
World taken(const World& before, const Step& step) {
  World after = before;
  Turn turn{.now_ms = after.now_ms, .last_token = after.last_token};
  end_lapsed(after.lock, turn);
  CHECK(std::none_of(after.lock.holders.begin(), after.lock.holders.end(),
                     [&](const LockClaim& held) { return held.at_ms <= after.now_ms; }));
  step.take(after, turn);
  after.last_token = turn.last_token;
  INFO(step.name << " by " << step.actor.client << " at " << shape_of(before) << " leaves "
                 << shape_of(after));
  check_state(after.lock);
  check_step(before, after, turn, step.actor);
  after.bytes = bytes_of(after);
  if (!step.may_grow) CHECK(after.bytes <= before.bytes);  // N6
  return after;
}

TEST_CASE("lock state: in every order of the steps of four clients") {
  std::set<std::string> seen;
  World first{.lock = {.name = "lock", .holders = {}, .waiters = {}}};
  first.bytes = bytes_of(first);
  std::deque<World> next{first};
  while (!next.empty()) {
    const World world = std::move(next.front());
    next.pop_front();
    if (!seen.insert(shape_of(world)).second) continue;
    for (const std::uint64_t ms : {kLeaseMs / 2, kLeaseMs}) {
      World later = world;
      later.now_ms += ms;
      const Step nothing{"time", {}, false, [](World&, Turn&) {}};
      next.push_back(taken(later, nothing));
    }
    for (std::uint64_t client = 1; client <= 4; ++client) {
      const ClientRef who{static_cast<std::uint32_t>(client % 2), client};
      for (const Step& step : steps_of(who, world)) next.push_back(taken(world, step));
    }
  }
  // No holder; a writer, or readers; up to three waiters: every state was seen.
  CHECK(seen.contains("|"));
  CHECK(seen.contains("1W+|2R3R4R"));
  CHECK(seen.contains("1W-|2R3W4R"));
  CHECK(seen.contains("4R+1R-2R-|3W"));
  CHECK(seen.size() > 5000);
}

}  // namespace
}  // namespace keyway::server
