// RW-Ticket: every order in which a few readers and writers can use it, and the order in which it
// lets them in.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/distributed/rw_ticket.h"
#include "keyway/locks/fabric/sim/sim_fabric.h"
#include "tests/sim/explored.h"
#include "tests/support/shaken_machine.h"

using namespace keyway;
using namespace keyway::lockcheck;
using test::kBuffers;
using test::kSmall;
using test::kTimed;
using test::kTwice;
using test::kWait;

namespace {

fabric::sim::ExploreReport ticket_explored(const LockShape& shape,
                                           const fabric::sim::ExploreOptions& options = {}) {
  return test::explored("rw-ticket", shape, options);
}

/// One of three agents has a deadline; the patient ones must be granted.
void explored_with_one_timed(LockShape shape) {
  for (std::uint32_t timed = 0; timed < 3; ++timed) {
    shape.manners = {kWait, kWait, kWait};
    shape.manners[timed] = kTimed;
    ticket_explored(shape);
  }
}

}  // namespace

TEST_CASE("rw-ticket: readers and writers, every order") {
  ticket_explored({.readers = 1, .writers = 1});
  ticket_explored({.readers = 0, .writers = 2, .ask_token = true});
  ticket_explored({.readers = 1, .writers = 1, .rounds = 2});
  ticket_explored({.readers = 2, .writers = 1});
  if (kSmall) return;
  ticket_explored({.readers = 1, .writers = 2});
  ticket_explored({.readers = 0, .writers = 3});
}

TEST_CASE("rw-ticket: one agent with a deadline among two patient ones, every order") {
  if (kSmall) {
    ticket_explored({.readers = 1, .writers = 1, .manners = {kWait, kTimed}});
    return;
  }
  explored_with_one_timed({.readers = 2, .writers = 1});
  explored_with_one_timed({.readers = 1, .writers = 2});
}

TEST_CASE("rw-ticket: deadlines that pass and tries that fail leave nothing behind") {
  for (const Manner manner : {Manner::kTimed, Manner::kTry}) {
    ticket_explored({.readers = 1, .writers = 1, .manner = manner});
    ticket_explored({.readers = 0, .writers = 2, .manner = manner});
    if (!kSmall) ticket_explored({.readers = 1, .writers = 1, .rounds = 2, .manner = manner});
  }
  ticket_explored({.readers = 2, .writers = 1, .manner = Manner::kTry});
}

// RT1: no later ticket passes an earlier one, so each other agent enters once at most meanwhile.
TEST_CASE("rw-ticket: first come, first served, for ever") {
  const auto bypass = [](const LockShape& shape) {
    const auto waiting = ticket_explored(shape).waiting.value();
    CHECK_FALSE(waiting.starvation);
    CHECK_FALSE(waiting.livelock);
    CHECK_FALSE(waiting.unbounded);
    return waiting.bypass;
  };
  CHECK(bypass({.readers = 1, .writers = 1, .forever = true}) == 1);
  CHECK(bypass({.readers = 0, .writers = 2, .forever = true}) == 1);
  if (!kSmall) CHECK(bypass({.readers = 2, .writers = 1, .forever = true}) == 2);
}

TEST_CASE("rw-ticket: two readers and a writer, with store buffers and with double stores") {
  for (const auto& options : {kBuffers, kTwice}) {
    ticket_explored({.readers = 1, .writers = 1, .rounds = 2}, options);
    if (!kSmall) ticket_explored({.readers = 2, .writers = 1}, options);
  }
}

TEST_CASE("rw-ticket: more agents, every order", "[.long][rw-ticket]") {
  ticket_explored({.readers = 1, .writers = 2, .forever = true});
  ticket_explored({.readers = 2, .writers = 2});
  for (const auto& options : {kBuffers, kTwice}) {
    ticket_explored({.readers = 1, .writers = 2}, options);
  }
}

TEST_CASE("rw-ticket: four agents, in random schedules") {
  for (const Manner manner : {Manner::kWait, Manner::kTimed}) {
    test::random_schedules("rw-ticket", {.readers = 2, .writers = 2, .manner = manner},
                           kSmall ? 200 : 5'000);
  }
}

namespace {

/// Agents draw tickets one after the other while agent 0 holds the lock exclusively: r readers, w
/// writers, t readers with a deadline that passes. Returns each agent as it enters, and in capitals
/// as it leaves. The first `batch` readers stay until all of them are inside.
std::string entries(std::string_view modes, std::size_t batch) {
  fabric::SegmentLayout layout;
  const locks::LockSite site{.line = {1, layout.reserve(locks::kLockLineBytes)}};
  const auto nodes = locks::NodeRegion::reserve(layout, 1, 4);
  const auto ranks = static_cast<std::uint32_t>(modes.size()) + 1;
  auto fabric = std::move(*fabric::SimFabric::create({.machine = test::shaken_machine(2, 2000),
                                                      .ranks = ranks,
                                                      .segment_bytes = layout.size(),
                                                      .agents_per_rank = 1}));
  const locks::RwTicket lock;
  std::string order;
  std::size_t inside = 0;
  std::ptrdiff_t given_up = 0;
  bool held = false;
  std::vector<std::uint32_t> homes(ranks);
  std::iota(homes.begin(), homes.end(), 0);
  fabric.run(homes, [&](std::uint32_t i) {
    auto ep = std::move(*fabric.endpoint(i));
    locks::LockAgent<fabric::SimEndpoint> agent(ep, nodes);
    const auto until = [&](auto&& condition) {
      ep.retry_until(condition, fabric::Backoff{1000, 20'000}, Deadline::never());
    };
    // All before this agent, or with agent 0 all, have drawn their tickets, or given up.
    const auto before = modes.substr(0, i == 0 ? modes.size() : i - 1);
    const auto timed = std::count(before.begin(), before.end(), 't');
    const auto drawn = [&] {
      return held && given_up == timed &&
             lock.dump(agent, site).queue.size() + static_cast<std::size_t>(timed) == before.size();
    };
    if (i == 0) {
      auto grant = lock.acquire(agent, site, locks::Mode::kWrite, Deadline::never());
      REQUIRE(grant.ok());
      held = true;
      until(drawn);
      CHECK(lock.dump(agent, site).holder == ep.agent());
      return lock.release(agent, site, *grant);
    }
    until(drawn);
    const char mode = modes[i - 1];
    const auto deadline = mode == 't' ? Deadline::now() : Deadline::never();
    auto grant =
        lock.acquire(agent, site, mode == 'w' ? locks::Mode::kWrite : locks::Mode::kRead, deadline);
    if (mode == 't') {
      CHECK(grant.code() == Code::kTimeout);
      ++given_up;
      return;
    }
    REQUIRE(grant.ok());
    order += mode;
    if (mode == 'r' && inside < batch) {
      ++inside;
      until([&] { return inside == batch; });
      CHECK(lock.dump(agent, site).readers >= 1);
    }
    order += static_cast<char>(mode - 'a' + 'A');
    lock.release(agent, site, *grant);
  });
  return order;
}

}  // namespace

TEST_CASE("rw-ticket: readers with consecutive tickets are inside together, others in order") {
  CHECK(entries("rrwr", 2) == "rrRRwWrR");
  CHECK(entries("wrrw", 2) == "wWrrRRwW");
}

TEST_CASE("rw-ticket: the tickets of agents that gave up are skipped") {
  CHECK(entries("rtrwtr", 2) == "rrRRwWrR");
}
