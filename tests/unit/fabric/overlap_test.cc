// Bodies of one agent share their flushes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "keyway/locks/fabric/fiber.h"
#include "keyway/locks/fabric/overlap.h"

using namespace keyway;
using fabric::Overlap;

namespace {

/// An endpoint of which only the flushes are there: it writes down what happens.
struct Agent {
  Overlap overlap;
  std::vector<std::string> log;

  void run(std::size_t n, Overlap::Body body) {
    overlap.run(n, body,
                {[this](std::uint32_t rank) { log.push_back("flush " + std::to_string(rank)); },
                 [this] { log.push_back("flush all"); }});
  }
  std::ptrdiff_t flushes() const {
    return std::count_if(log.begin(), log.end(),
                         [](const std::string& what) { return what.starts_with("flush"); });
  }
};

/// Says that a stack is left.
struct Guard {
  int& left;
  ~Guard() { ++left; }
};

}  // namespace

TEST_CASE("overlap: bodies share the flushes of a rank") {
  Agent agent;
  std::vector<std::size_t> done;
  agent.run(8, [&](std::size_t i) {
    CHECK(agent.overlap.in_body());
    for (std::size_t n = 0; n <= i % 3; ++n) agent.overlap.flush(7);
    done.push_back(i);
  });
  CHECK_FALSE(agent.overlap.in_body());
  CHECK(agent.log == std::vector<std::string>(3, "flush 7"));
  CHECK(done == std::vector<std::size_t>{0, 3, 6, 1, 4, 7, 2, 5});
}

TEST_CASE("overlap: each rank is flushed once, or all are") {
  Agent agent;
  agent.run(6, [&](std::size_t i) { agent.overlap.flush(static_cast<std::uint32_t>(i % 2)); });
  CHECK(agent.log == std::vector<std::string>{"flush 0", "flush 1"});
  agent.log.clear();
  agent.run(3, [&](std::size_t i) { i == 1 ? agent.overlap.flush_all() : agent.overlap.flush(0); });
  CHECK(agent.log == std::vector<std::string>{"flush all"});
}

TEST_CASE("overlap: a wait begins once no body stands at a flush, a call at once") {
  Agent agent;
  agent.run(3, [&](std::size_t i) {
    if (i == 0) {
      const bool seen = agent.overlap.wait([&] { return agent.log.push_back("wait"), true; });
      CHECK(seen);
    } else if (i == 1) {
      agent.overlap.flush(1);
      agent.overlap.make([&] { agent.log.push_back("call"); });
      agent.overlap.flush(2);
    } else {
      agent.overlap.flush(1);
    }
  });
  CHECK(agent.log == std::vector<std::string>{"flush 1", "call", "flush 2", "wait"});
}

TEST_CASE("overlap: one body, or a run within a body, needs no stacks") {
  Agent agent;
  int runs = 0;
  agent.run(1, [&](std::size_t) {
    CHECK_FALSE(agent.overlap.in_body());
    ++runs;
  });
  agent.run(0, [&](std::size_t) { ++runs; });
  agent.run(2, [&](std::size_t) {
    agent.run(2, [&](std::size_t) {
      agent.overlap.flush(1);
      ++runs;
    });
  });
  CHECK(runs == 5);
  CHECK(agent.flushes() == 2);
}

TEST_CASE("overlap: an exception comes out once the other bodies have returned") {
  Agent agent;
  int returned = 0;
  const auto run = [&] {
    agent.run(4, [&](std::size_t i) {
      agent.overlap.flush(1);
      if (i == 1) throw std::runtime_error("one");
      agent.overlap.flush(1);
      ++returned;
    });
  };
  CHECK_THROWS_WITH(run(), "one");
  CHECK(returned == 3);
  CHECK(agent.flushes() == 2);
  agent.log.clear();
  agent.run(4, [&](std::size_t) { agent.overlap.flush(1); });  // the stacks are of use again
  CHECK(agent.flushes() == 1);
}

TEST_CASE("overlap: bodies leave their stacks with the agent") {
  Agent agent;
  int left = 0;
  int flushes = 0;
  const auto flush = [&](std::uint32_t) {
    if (++flushes == 2) throw std::runtime_error("the end");
  };
  const auto run = [&] {
    agent.overlap.run(5,
                      [&](std::size_t i) {
                        const Guard guard{left};
                        if (i == 4) return;
                        agent.overlap.flush(1);
                        agent.overlap.flush(1);
                        FAIL("a body goes on after the end");
                      },
                      {flush, [] {}});
  };
  CHECK_THROWS_WITH(run(), "the end");
  CHECK(left == 5);
  CHECK_FALSE(agent.overlap.in_body());
}

TEST_CASE("overlap: the agent's flush may yield to other fibers, which run bodies, too") {
  std::vector<std::string> order;
  fabric::run_fibers(2, [&](std::size_t fiber) {
    Overlap overlap;
    const auto flush = [&](std::uint32_t) {
      order.push_back("flush of " + std::to_string(fiber));
      fabric::this_fiber::yield();
    };
    overlap.run(3, [&](std::size_t) { overlap.flush(0), overlap.flush(0); }, {flush, [] {}});
  });
  CHECK(order == std::vector<std::string>{"flush of 0", "flush of 1", "flush of 0", "flush of 1"});
}
