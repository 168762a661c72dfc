// The small pieces of a fabric: receipts, layouts, agent slots, back-off, waiting.
#include <catch2/catch.hpp>

#include <sys/resource.h>

#include <array>
#include <chrono>
#include <set>
#include <vector>

#include "keyway/locks/fabric/agent_slots.h"
#include "keyway/locks/fabric/backoff.h"
#include "keyway/locks/fabric/pending.h"
#include "keyway/locks/fabric/segment.h"
#include "keyway/locks/fabric/wait.h"
#include "keyway/locks/fabric/word_ops.h"
#include "tests/support/child.h"

namespace keyway::fabric {
namespace {

TEST_CASE("a receipt covers its rank up to its sequence") {
  const Flushed receipt(3, 10);
  CHECK(receipt.covers(3, 10));
  CHECK(receipt.covers(3, 0));
  CHECK_FALSE(receipt.covers(3, 11));
  CHECK_FALSE(receipt.covers(2, 10));
}

TEST_CASE("a pending value is read where the fabric puts it") {
  CHECK(Pending::known(1, 4, 42).value(Flushed(1, 4)) == 42);
  ResultSlot slot{.value = 0, .sequence = 5};
  const Pending later = Pending::at(2, 5, &slot);
  slot.value = 77;  // the network answers
  CHECK(later.value(Flushed(2, 5)) == 77);
  const std::array<std::byte, 3> bytes{};
  CHECK(PendingBytes(0, 1, bytes).bytes(Flushed(0, 2)).data() == bytes.data());
}

#ifdef KEYWAY_DCHECK
TEST_CASE("reading before the flush, or of another rank, is a broken invariant") {
  ResultSlot slot{.value = 1, .sequence = 5};
  const Pending later = Pending::at(2, 5, &slot);
  CHECK(test::run_in_child([&] { (void)later.value(Flushed(2, 4)); }).signal == SIGABRT);
  CHECK(test::run_in_child([&] { (void)later.value(Flushed(1, 5)); }).signal == SIGABRT);
  slot.sequence = 6;  // the slot serves another operation by now
  CHECK(test::run_in_child([&] { (void)later.value(Flushed(2, 5)); }).signal == SIGABRT);
}
#endif

TEST_CASE("a layout reserves aligned, disjoint ranges after the fabric's own") {
  SegmentLayout layout;
  const auto first = layout.reserve(1);
  const auto second = layout.reserve(100, 4096);
  const auto third = layout.reserve(8, 8);
  CHECK(first >= kReservedBytes);
  CHECK(first % kCacheLine == 0);
  CHECK(second >= first + 1);
  CHECK(second % 4096 == 0);
  CHECK(third == second + 104);
  CHECK(layout.size() == third + 8);
  CHECK(test::run_in_child([&] { (void)layout.reserve(8, 24); }).signal == SIGABRT);
}

TEST_CASE("agent slots: lowest first, none twice, back after use") {
  AgentSlots slots(2);
  CHECK(slots.take() == 0u);
  {
    SlotHold hold(slots, *slots.take());
    CHECK(hold.slot() == 1);
    CHECK_FALSE(slots.take().has_value());
    SlotHold moved = std::move(hold);
    CHECK_FALSE(slots.take().has_value());  // a move gives nothing back
    moved = SlotHold();
    CHECK(slots.take() == 1u);
    slots.release(1);
  }
  CHECK(slots.take() == 1u);  // and the holds' ends gave nothing back twice
  CHECK_FALSE(slots.take().has_value());
}

TEST_CASE("back-off stays within its bounds and reaches the upper one") {
  for (const Backoff bounds : {Backoff{1, 1}, Backoff{1, 3}, Backoff{500, 50'000},
                               Backoff{100, 150}, Backoff{1, ~std::uint64_t{0}}}) {
    BackoffSteps steps(bounds, 7);
    std::uint64_t longest = 0;
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t span = steps.next_ns();
      CHECK(span >= bounds.min_ns);
      CHECK(span <= bounds.max_ns);
      longest = std::max(longest, span);
    }
    CHECK(longest > bounds.max_ns / 2);
  }
  BackoffSteps none(Backoff::none(), 7);
  CHECK(none.next_ns() == 0);
}

TEST_CASE("back-off: two agents part, one agent repeats by its seed") {
  std::vector<std::uint64_t> spans[3];
  const std::uint64_t seeds[3] = {1, 2, 1};
  for (int agent = 0; agent < 3; ++agent) {
    BackoffSteps steps({500, 50'000}, seeds[agent]);
    for (int i = 0; i < 10; ++i) spans[agent].push_back(steps.next_ns());
  }
  CHECK(spans[0] != spans[1]);
  CHECK(spans[0] == spans[2]);
}

TEST_CASE("wait_loop looks at least once, and once more after the deadline") {
  int looks = 0;
  int progress = 0;
  CHECK(wait_loop([&] { return ++looks == 1; }, [&] { ++progress; }, Deadline::now()));
  CHECK(progress == 0);  // a value that is present needs no progress
  looks = 0;
  CHECK_FALSE(wait_loop([&] { return ++looks, false; }, [&] { ++progress; }, Deadline::now()));
  CHECK(progress == 1);
  // A condition that becomes true only at the very last poll still counts: the second one after the
  // progress, because the deadline has passed by the first.
  looks = progress = 0;
  CHECK(wait_loop([&] { return progress == 1 && ++looks == 2; }, [&] { ++progress; },
                  Deadline::now()));
}

TEST_CASE("wait_loop drives progress until the condition holds") {
  int progress = 0;
  CHECK(wait_loop([&] { return progress == 1000; }, [&] { ++progress; }, Deadline::never()));
}

TEST_CASE("a thread that waits for long sleeps now and then") {
  // A yield is an involuntary switch: the thread could continue.
  const auto sleeps = [] {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
  };
  const auto before = sleeps();
  const auto slept = [&] { return sleeps() != before; };
  CHECK(wait_loop(
      slept, [] {}, Deadline::within(std::chrono::minutes(1))));
  const auto between = sleeps();
  const auto slept_again = [&] { return sleeps() != between; };
  CHECK(retry_loop(
      slept_again, [] {}, {1000, 100'000}, 1, Deadline::within(std::chrono::minutes(1))));
}

TEST_CASE("retry_loop tries at once, and leaves by the deadline") {
  int tries = 0;
  CHECK(retry_loop([&] { return ++tries == 1; }, [] {}, Backoff::none(), 1, Deadline::now()));
  tries = 0;
  CHECK_FALSE(
      retry_loop([&] { return ++tries, false; }, [] {}, Backoff::none(), 1, Deadline::now()));
  CHECK(tries == 1);
  tries = 0;
  CHECK(retry_loop([&] { return ++tries == 50; }, [] {}, {10, 100}, 1, Deadline::never()));
  // A back-off longer than the deadline does not outlast it: this ends.
  CHECK_FALSE(retry_loop([] { return false; }, [] {}, {~0ULL >> 1, ~0ULL}, 1,
                         Deadline::within(std::chrono::microseconds(1))));
}

TEST_CASE("word operations return the old value") {
  alignas(8) std::uint64_t word = 5;
  auto* at = reinterpret_cast<std::byte*>(&word);
  CHECK(words::load(at) == 5);
  words::store(at, 6);
  CHECK(words::swap(at, 7) == 6);
  CHECK(words::fetch_add(at, ~std::uint64_t{0}) == 7);  // wraps: adds -1
  CHECK(words::fetch_or(at, 9) == 6);
  CHECK(words::load(at) == 15);
  CHECK(words::compare_swap(at, 14, 1) == 15);
  CHECK(words::load(at) == 15);
  CHECK(words::compare_swap(at, 15, 1) == 15);
  CHECK(words::load(at) == 1);
}

TEST_CASE("bytes move as words, from any place and of any number") {
  alignas(8) std::array<std::byte, 120> shared{};
  for (std::size_t from = 0; from < 16; ++from) {
    for (std::size_t n = 0; from + n <= 112; ++n) {
      std::array<std::byte, 120> in{};
      for (std::size_t i = 0; i < n; ++i) in[i] = static_cast<std::byte>(i + 1);
      shared.fill(std::byte{0xee});
      words::store_bytes(shared.data() + from, std::span(in).first(n));
      std::array<std::byte, 120> out{};
      words::load_bytes(shared.data() + from, std::span(out).first(n));
      REQUIRE(out == in);
      // What lies beside them stays as it was.
      for (std::size_t i = 0; i < shared.size(); ++i) {
        if (i < from || i >= from + n) REQUIRE(shared[i] == std::byte{0xee});
      }
    }
  }
}

}  // namespace
}  // namespace keyway::fabric
