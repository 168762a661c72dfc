// Fibers: order, waiting for each other, exceptions, stacks.
#include "keyway/locks/fabric/fiber.h"

#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "keyway/locks/fabric/fiber_time.h"
#include "keyway/locks/fabric/time_slice.h"
#include "keyway/locks/fabric/wait.h"

namespace keyway::fabric {
namespace {

TEST_CASE("fibers run round robin") {
  std::string trace;
  run_fibers(3, [&](std::size_t i) {
    for (int step = 0; step < 3; ++step) {
      trace += static_cast<char>('a' + i);
      CHECK(this_fiber::yield());
    }
  });
  CHECK(trace == "abcabcabc");
}

TEST_CASE("fibers of unequal length all finish") {
  std::string trace;
  run_fibers(3, [&](std::size_t i) {
    for (std::size_t step = 0; step < i; ++step) {
      trace += static_cast<char>('a' + i);
      this_fiber::yield();
    }
  });
  CHECK(trace == "bcc");
  run_fibers(0, [](std::size_t) { FAIL("there is no fiber to run"); });
}

TEST_CASE("outside of fibers yield says so") {
  CHECK_FALSE(this_fiber::active());
  CHECK_FALSE(this_fiber::yield());
  run_fibers(1, [](std::size_t) { CHECK(this_fiber::active()); });
  CHECK_FALSE(this_fiber::active());
}

TEST_CASE("many fibers wait for each other in turn") {
  constexpr std::size_t kFibers = 200;
  std::size_t turn = kFibers;  // the last one goes first, so that all fibers must wait
  run_fibers(kFibers, [&](std::size_t i) {
    CHECK(wait_loop([&] { return turn == i + 1; }, [] {}, Deadline::never()));
    turn = i;
  });
  CHECK(turn == 0);
}

TEST_CASE("a pool runs its body at once, until it waits") {
  std::string trace;
  std::array<char, 2> names{};
  bool go = true;
  FiberPool pool(2, [&](std::size_t fiber) {
    trace += names[fiber];
    wait_loop([&] { return go; }, [] {}, Deadline::never());
    trace += static_cast<char>(names[fiber] - 'a' + 'A');
  });
  const auto run = [&](char name) {
    names[pool.next()] = name;
    pool.run();
  };
  CHECK(pool.size() == 2);
  run('x');
  CHECK(trace == "xX");
  CHECK(pool.busy() == 0);
  go = false;
  run('a');
  CHECK(pool.busy() == 1);
  run('b');
  pool.step();
  CHECK(trace == "xXab");
  go = true;
  CHECK(pool.busy() == 2);
  pool.step();
  CHECK(trace == "xXabAB");
  CHECK(pool.busy() == 0);
  std::string expected = trace;
  for (int i = 0; i < 1000; ++i) {
    run('c');
    expected += "cC";
  }
  CHECK(trace == expected);
}

TEST_CASE("a fiber that computes gives its turn when its slice is over, and not before") {
  std::string trace;
  const auto work = [&](std::size_t i) {
    for (int part = 0; part < 3; ++part) {
      trace += static_cast<char>('a' + i);
      this_fiber::yield_if_due();
    }
  };
  this_fiber::set_slice_ns(std::uint64_t{1} << 40);
  run_fibers(2, work);
  CHECK(trace == "aaabbb");
  trace.clear();
  this_fiber::set_slice_ns(0);
  run_fibers(2, work);
  CHECK(trace == "ababab");
  this_fiber::yield_if_due();  // off a fiber, nothing
  this_fiber::set_slice_ns(kSliceNs);
}

TEST_CASE("a pool's fibers know how long they have waited, and what for") {
  CHECK(this_fiber::waited().lock_ns == 0);
  bool go = false;
  const auto wait = [&] { wait_loop([&] { return go; }, [] {}, Deadline::never()); };
  std::array<this_fiber::Waited, 2> waited{};
  FiberPool pool(2, [&](std::size_t fiber) {
    const this_fiber::Waited before = this_fiber::waited();
    if (fiber == 1) {
      const this_fiber::NetworkWait network;
      wait();
    } else {
      wait();
    }
    waited[fiber] = this_fiber::waited() - before;
  });
  const std::uint64_t begin = steady_ns();
  pool.run();
  pool.run();
  while (steady_ns() < begin + 1'000'000) pool.step();
  go = true;
  pool.step();
  const std::uint64_t all = steady_ns() - begin;
  CHECK(waited[0].lock_ns > 0);
  CHECK(waited[0].lock_ns <= all);
  CHECK(waited[0].network_ns == 0);
  CHECK(waited[1].network_ns > 0);
  CHECK(waited[1].network_ns <= all);
  CHECK(waited[1].lock_ns == 0);
  waited = {};
  pool.run();
  pool.run();
  for (const auto& none : waited) CHECK(none.lock_ns + none.network_ns == 0);
}

TEST_CASE("a fiber that gives its turn in the middle of work does not wait, and gets on") {
  this_fiber::Waited waited;
  FiberPool pool(1, [&](std::size_t) {
    this_fiber::yield_now();
    waited = this_fiber::waited();
    this_fiber::yield();
  });
  const this_fiber::Progress before = this_fiber::progress();
  pool.run();
  const std::uint64_t begin = steady_ns();
  while (steady_ns() < begin + 100'000) continue;
  pool.step();
  CHECK(waited.lock_ns + waited.network_ns == 0);
  CHECK(this_fiber::progress().turns == before.turns + 1);
  pool.step();
  CHECK(this_fiber::progress().turns == before.turns + 1);
  CHECK(this_fiber::progress().network_waits == before.network_waits);
  this_fiber::yield_now();  // off a fiber there is no sibling to yield to
}

// F2: the thread yields between rounds, so a fiber can wait for another thread, also of a machine
// with a single processor.
TEST_CASE("a fiber waits for another thread's fiber") {
  std::atomic<int> turn{0};
  const auto side = [&](int parity) {
    run_fibers(2, [&](std::size_t i) {
      if (i == 1) return;
      for (int step = parity; step < 200; step += 2) {
        const auto mine = [&] { return turn.load(std::memory_order_acquire) == step; };
        REQUIRE(wait_loop(
            mine, [] {}, Deadline::never()));
        turn.store(step + 1, std::memory_order_release);
      }
    });
  };
  std::jthread other([&] { side(1); });
  side(0);
}

TEST_CASE("F1: an exception reaches the caller after every other fiber has returned") {
  std::size_t returned = 0;
  const auto run = [&] {
    run_fibers(4, [&](std::size_t i) {
      if (i == 1) throw std::runtime_error("fiber 1");
      for (int step = 0; step < 5; ++step) this_fiber::yield();
      ++returned;
    });
  };
  CHECK_THROWS_WITH(run(), "fiber 1");
  CHECK(returned == 3);
  CHECK_FALSE(this_fiber::active());
  CHECK_THROWS(run());  // a group after a failed one starts
}

// A guard's destructor may wait (a queue lock's release waits for a link), so a fiber can be
// switched out while an exception unwinds it, and its siblings throw and catch meanwhile.
TEST_CASE("exceptions in flight and handled belong to their fiber") {
  struct YieldsOnExit {
    ~YieldsOnExit() {
      for (int step = 0; step < 3; ++step) this_fiber::yield();
      in_flight = std::uncaught_exceptions();
    }
    int& in_flight;
  };
  std::array<int, 8> in_flight{};
  std::array<std::string, 8> caught;
  run_fibers(8, [&](std::size_t i) {
    for (std::size_t step = 0; step < i % 3; ++step) this_fiber::yield();
    try {
      const YieldsOnExit guard{in_flight[i]};
      throw std::runtime_error(std::to_string(i));
    } catch (const std::exception&) {
      for (std::size_t step = 0; step < 1 + i % 4; ++step) this_fiber::yield();
      try {
        throw;  // the exception that this fiber handles, not a sibling's
      } catch (const std::exception& mine) {
        caught[i] = mine.what();
      }
    }
    CHECK(std::uncaught_exceptions() == 0);
  });
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(caught[i] == std::to_string(i));
    CHECK(in_flight[i] == 1);
  }
}

// Deep frames with objects that escape: AddressSanitizer's fake stack and ThreadSanitizer's shadow
// stack must follow them through every switch.
int descend(int depth, std::array<int, 16>* above) {
  std::array<int, 16> here{};
  here[0] = depth + (above == nullptr ? 0 : (*above)[0]);
  this_fiber::yield();
  return depth == 0 ? here[0] : descend(depth - 1, &here);
}

TEST_CASE("fibers switch deep in their stacks and many groups follow each other") {
  for (int group = 0; group < 300; ++group) {
    int sum = 0;
    run_fibers(4, [&](std::size_t i) { sum += descend(static_cast<int>(10 + i), nullptr); });
    CHECK(sum == 55 + 66 + 78 + 91);
  }
}

TEST_CASE("a fiber's stack is as large as asked") {
  run_fibers(
      2,
      [](std::size_t) {
        volatile char large[400 * 1024];
        large[0] = 1;
        large[sizeof large - 1] = 2;
        CHECK(large[0] + large[sizeof large - 1] == 3);
      },
      600 * 1024);
}

}  // namespace
}  // namespace keyway::fabric
