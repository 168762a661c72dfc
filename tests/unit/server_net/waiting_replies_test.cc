// Replies that wait for their client: their order, their number, and what all may keep.
#include <atomic>
#include <catch2/catch.hpp>
#include <random>
#include <thread>
#include <vector>

#include "keyway/server/net/output_memory.h"
#include "keyway/server/net/reply_queue.h"

namespace keyway::server {
namespace {

TEST_CASE("reply queue: what was pushed is what is taken, in order, whatever the parts are") {
  constexpr std::size_t kKept = 50;
  std::mt19937 draw(1);
  const auto below = [&](std::size_t end) { return draw() % end; };
  ReplyQueue queue;
  std::string expected, found, made;
  for (int step = 0; step < 20'000; ++step) {
    CAPTURE(step);
    if (below(3) == 0) {
      made.assign(1 + below(100), static_cast<char>('a' + below(26)));
      const std::size_t sent = queue.empty() ? below(made.size()) : 0;
      expected += made.substr(sent);
      queue.push(made, sent);
      REQUIRE(made.empty());
    }
    const std::string_view front = queue.front();
    REQUIRE(front.empty() == queue.empty());
    REQUIRE(queue.empty() == (queue.pieces() == 0));
    const std::size_t part = below(front.size() + 1);
    found += front.substr(0, part);
    queue.taken(part, kKept);
    REQUIRE(found.size() + queue.bytes() == expected.size());
  }
  while (!queue.empty()) {
    found += queue.front();
    queue.taken(queue.front().size(), kKept);
  }
  CHECK(found == expected);
}

TEST_CASE("reply queue: R1, what is being sent stays where it is") {
  ReplyQueue queue;
  std::string made = "first";  // short: inside of the string
  queue.push(made);
  const char* const at = queue.front().data();
  for (int i = 0; i < 100; ++i) {
    made = "another";
    queue.push(made);
    REQUIRE(queue.front().data() == at);
  }
  queue.taken(2, 0);
  CHECK(queue.front() == "rst");
  CHECK(queue.front().data() == at + 2);
  CHECK(queue.pieces() == 101);
}

TEST_CASE("output memory: who keeps more than is left may not add to it (O1)") {
  OutputMemory memory(100);
  CHECK(memory.has_room(100));
  CHECK_FALSE(memory.has_room(101));
  memory.report(0, 50);
  CHECK(memory.has_room(50));
  CHECK_FALSE(memory.has_room(51));
  memory.report(0, 60);  // for another one; beyond the limit, as the last part may be
  CHECK_FALSE(memory.has_room(0));
  memory.report(50, 10);
  CHECK(memory.has_room(30));
  memory.report(10, 0);
  memory.report(60, 0);
  CHECK(memory.has_room(100));
}

TEST_CASE("output memory: a claim is told, or refused and not told (O1)") {
  OutputMemory memory(100);
  CHECK(memory.claim(0, 60));
  CHECK_FALSE(memory.claim(0, 41));  // for another one
  CHECK(memory.has_room(40));
  CHECK(memory.claim(60, 100));
  CHECK_FALSE(memory.claim(100, 101));
  memory.report(0, 30);  // beyond the limit
  CHECK_FALSE(memory.claim(100, 101));
  memory.report(30, 0);
  memory.report(100, 0);
  CHECK(memory.claim(0, 100));
}

TEST_CASE("output memory: claims of many threads never exceed the limit (O1)") {
  constexpr std::uint64_t kLimit = 1000;
  OutputMemory memory(kLimit);
  std::atomic<std::uint64_t> claimed{0};
  std::atomic<bool> exceeded{false};
  std::vector<std::thread> threads;
  for (std::uint64_t part : {300, 400, 500}) {
    threads.emplace_back([&, part] {
      for (int i = 0; i < 20'000; ++i) {
        if (!memory.claim(0, part)) continue;
        // relaxed, all: counts, which the join at the end orders.
        const std::uint64_t all = claimed.fetch_add(part, std::memory_order_relaxed) + part;
        if (all > kLimit) exceeded.store(true, std::memory_order_relaxed);
        claimed.fetch_sub(part, std::memory_order_relaxed);
        memory.report(part, 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(exceeded.load(std::memory_order_relaxed));
  CHECK(memory.claim(0, kLimit));  // all has been released
}

}  // namespace
}  // namespace keyway::server
