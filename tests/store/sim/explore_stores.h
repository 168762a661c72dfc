// Explorations of an ExploredStore, with bytes that move word by word in any order.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "tests/store/sim/explored_store.h"

namespace keyway::test {

inline constexpr std::uint64_t kMaxStates = 60'000'000;
// An order in which a reader always goes first has no end while it waits for a writer.
inline constexpr fabric::sim::ExploreOptions kTorn{.torn_bytes = true, .most_steps = 2000};
inline constexpr fabric::sim::ExploreOptions kTornAndTwice{
    .double_stores = true, .torn_bytes = true, .most_steps = 4000};

inline void require_clean(const fabric::sim::ExploreReport& report) {
  INFO((report.violation ? report.violation->what + ", schedule " + report.violation->schedule
                         : ""));
  if (std::getenv("KEYWAY_TEST_COUNTS") != nullptr) {
    WARN(fmt::format("{} states, {} executions, {} steps at most", report.states, report.executions,
                     report.longest));
  }
  CHECK_FALSE(report.violation);
}

/// A program and its explorer. The sessions end before the explorer's memory goes.
struct Exploration {
  explicit Exploration(const StoreShape& shape, const fabric::sim::ExploreOptions& options = kTorn)
      : program(shape), explorer(program, options) {}
  Exploration(const Exploration&) = delete;
  Exploration& operator=(const Exploration&) = delete;
  ~Exploration() { program.close(); }

  ExploredStore program;
  fabric::sim::Explorer explorer;
};

/// Every order.
inline void explore(const StoreShape& shape) {
  Exploration all(shape);
  const auto report = all.explorer.exhaust(kMaxStates);
  require_clean(report);
  CHECK(report.complete);
  CHECK(all.program.accepted() > 0);
}

struct Explored {
  std::uint64_t orders = 0;  // complete ones
  std::uint64_t ahead = 0;   // keys that were read ahead
};

/// Random orders, and as many by random priorities.
inline Explored explore_some(const StoreShape& shape, std::uint64_t executions,
                             const fabric::sim::ExploreOptions& options = kTorn) {
  Exploration some(shape, options);
  const auto random = some.explorer.random(1, executions);
  require_clean(random);
  const auto pct = some.explorer.pct(1, executions, 4);
  require_clean(pct);
  CHECK(some.program.accepted() > 0);
  return {.orders = random.executions + pct.executions - random.cut - pct.cut,
          .ahead = some.program.ahead()};
}

inline constexpr std::uint32_t kNobody = 0;

/// Every kind, with levers that bring out its parts among few agents.
inline constexpr const char* kLocks[] = {
    "gbh:lockall=off", "gbh",   "fompi-rw", "rma-rw:t_dc=1,t_r=2", "rma-mcs",  "d-mcs",
    "alock-rw",        "alock", "mcs-wp",   "fompi-spin",          "rdma-mcs", "rdma-spin",
    "rw-ticket"};

/// Two readers of both keys beside each of the writers, and beside a stranger that writes under the
/// shape's lock or, if there is another one, switches to it and back. Returns the number of
/// complete orders.
inline std::uint64_t explore_kinds(StoreShape shape, const std::vector<Script>& writers,
                                   std::uint64_t executions) {
  using namespace steps;
  shape.readers = {{get(0), get(1)}, {get_many(), get(0)}};
  shape.stranger = shape.other_lock.empty() ? Script{erase(2), put(2, kShort)}
                                            : Script{switch_to(1), put(2, kLong), switch_to(0)};
  std::uint64_t orders = 0;
  for (const Script& writer : writers) {
    shape.writer = writer;
    orders += explore_some(shape, executions).orders;
  }
  return orders;
}

/// A million orders of explore_beside(lock, other lock, executions) over all kinds.
template <class ExploreBeside>
void explore_million(ExploreBeside&& explore_beside) {
  constexpr std::uint64_t kOrders = 1'000'000;
  std::uint64_t orders = 0;
  for (const char* lock : kLocks) {
    for (const char* other_lock : {"", "gbh:lockall=off,versions=on"}) {
      orders += explore_beside(lock, other_lock, kOrders / std::size(kLocks) / 7);
    }
  }
  CHECK(orders >= kOrders);
}

}  // namespace keyway::test
