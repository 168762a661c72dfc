// The linearizability checker on histories with known verdicts: a checker that cannot fail would
// make every test that uses it worthless.
#include <catch2/catch.hpp>

#include "tests/support/linearizability.h"

using namespace keyway::test;

namespace {

struct Made : History {
  Made& add(std::uint64_t invoked, std::uint64_t answered, Op op, std::int64_t argument,
            Answer answer, std::int64_t result = 0, std::int64_t expected = 0,
            std::uint32_t key = 0) {
    push_back({invoked, answered, argument, expected, result, key, 0, op, answer});
    return *this;
  }
  Made& put(std::uint64_t invoked, std::uint64_t answered, std::int64_t value) {
    return add(invoked, answered, Op::kPut, value, Answer::kOk);
  }
  Made& get(std::uint64_t invoked, std::uint64_t answered, std::int64_t value) {
    return add(invoked, answered, Op::kGet, 0, Answer::kOk, value);
  }
  Made& miss(std::uint64_t invoked, std::uint64_t answered) {
    return add(invoked, answered, Op::kGet, 0, Answer::kNotFound);
  }
  Made& sum(std::uint64_t invoked, std::uint64_t answered, std::int64_t result) {
    return add(invoked, answered, Op::kIncrement, 1, Answer::kOk, result);
  }
};

bool linearizable(const History& history) {
  return !LinearizabilityChecker::violation(history).has_value();
}

}  // namespace

TEST_CASE("checker: accepts what a register could have done") {
  CHECK(linearizable({}));
  CHECK(linearizable(Made().put(1, 2, 7).get(3, 4, 7)));
  CHECK(linearizable(Made().put(1, 4, 7).miss(2, 3)));    // the get came first
  CHECK(linearizable(Made().put(1, 4, 7).get(2, 3, 7)));  // or after
  CHECK(linearizable(Made().put(1, 9, 1).put(2, 8, 2).get(3, 4, 1).get(5, 6, 2)));
  CHECK(linearizable(Made().sum(1, 9, 2).sum(2, 8, 1).get(10, 11, 2)));
  CHECK(linearizable(Made()
                         .add(1, 2, Op::kInsert, 5, Answer::kOk)
                         .add(3, 4, Op::kInsert, 6, Answer::kExists)
                         .add(5, 6, Op::kCompareAndSet, 8, Answer::kMismatch, 0, 6)
                         .add(7, 8, Op::kCompareAndSet, 8, Answer::kOk, 0, 5)
                         .get(9, 10, 8)
                         .add(11, 12, Op::kErase, 0, Answer::kOk)
                         .add(13, 14, Op::kErase, 0, Answer::kNotFound)
                         .add(15, 16, Op::kCompareAndSet, 8, Answer::kNotFound, 0, 8)));
}

TEST_CASE("checker: knows what vanishes and what is only touched") {
  const auto vanish = [](std::uint64_t at) {
    return Event{.invoked = at, .answered = at + 1, .op = Op::kVanish};
  };
  const auto touch = [](std::uint64_t at, Answer answer) {
    return Event{.invoked = at, .answered = at + 1, .op = Op::kTouch, .answer = answer};
  };
  Made history;
  history.push_back(vanish(1));
  history.put(3, 4, 7);
  history.push_back(touch(5, Answer::kOk));
  history.get(7, 8, 7);
  history.push_back(vanish(9));
  history.push_back(touch(11, Answer::kNotFound));
  CHECK(linearizable(history));
  CHECK(linearizable(Made(history).miss(13, 14)));
  CHECK_FALSE(linearizable(Made(history).get(13, 14, 7)));
  history.push_back(touch(15, Answer::kOk));
  CHECK_FALSE(linearizable(history));
}

TEST_CASE("checker: finds a stale read") {
  CHECK_FALSE(linearizable(Made().put(1, 2, 7).put(3, 4, 8).get(5, 6, 7)));
  CHECK_FALSE(linearizable(Made().put(1, 2, 7).miss(3, 4)));
}

TEST_CASE("checker: finds a value from nowhere") {
  CHECK_FALSE(linearizable(Made().put(1, 2, 7).get(3, 4, 9)));
  CHECK_FALSE(linearizable(Made().get(1, 2, 0)));
}

TEST_CASE("checker: finds reads that go back in time within overlapping writes") {
  // Both puts are open all along, but one reader after the other sees 2 and then 1 and then 2.
  CHECK_FALSE(
      linearizable(Made().put(1, 99, 1).put(2, 98, 2).get(3, 4, 2).get(5, 6, 1).get(7, 8, 2)));
}

TEST_CASE("checker: finds a lost update") {
  CHECK_FALSE(linearizable(Made().sum(1, 9, 1).sum(2, 8, 1)));
  CHECK_FALSE(linearizable(Made().sum(1, 4, 1).sum(2, 3, 2).get(5, 6, 1)));
}

TEST_CASE("checker: finds two winners of one insert, erase or compare-and-set") {
  CHECK_FALSE(linearizable(
      Made().add(1, 9, Op::kInsert, 5, Answer::kOk).add(2, 8, Op::kInsert, 6, Answer::kOk)));
  CHECK_FALSE(linearizable(Made()
                               .put(1, 2, 7)
                               .add(3, 9, Op::kErase, 0, Answer::kOk)
                               .add(4, 8, Op::kErase, 0, Answer::kOk)));
  CHECK_FALSE(linearizable(Made()
                               .put(1, 2, 7)
                               .add(3, 9, Op::kCompareAndSet, 8, Answer::kOk, 0, 7)
                               .add(4, 8, Op::kCompareAndSet, 9, Answer::kOk, 0, 7)));
}

TEST_CASE("checker: finds an insert that saw what was not there, and a wrong mismatch") {
  CHECK_FALSE(linearizable(Made().add(1, 2, Op::kInsert, 5, Answer::kExists)));
  CHECK_FALSE(
      linearizable(Made().put(1, 2, 7).add(3, 4, Op::kCompareAndSet, 8, Answer::kMismatch, 0, 7)));
  CHECK_FALSE(linearizable(Made().put(1, 2, 7).add(3, 4, Op::kErase, 0, Answer::kNotFound)));
}

namespace {

/// An operation on the keys 0 and 1.
struct OfTwo {
  Answer first = Answer::kOk;
  std::int64_t value = 0;  // put by it, or seen
  Answer second = Answer::kOk;
  std::int64_t other = 0;
};
Event of_two(std::uint64_t invoked, std::uint64_t answered, Op op, const OfTwo& two) {
  Event event{.invoked = invoked, .answered = answered, .op = op, .answer = two.first};
  event.argument = event.result = two.value;
  event.second = {.argument = two.other, .result = two.other, .key = 1, .answer = two.second};
  return event;
}
History with(History history, const Event& event) {
  history.push_back(event);
  return history;
}

}  // namespace

TEST_CASE("checker: an operation on two keys is one instant") {
  const History written{of_two(1, 9, Op::kPut, {.value = 7, .other = 8})};
  CHECK(linearizable(with(written, of_two(10, 11, Op::kGet, {.value = 7, .other = 8}))));
  const OfTwo nothing{.first = Answer::kNotFound, .second = Answer::kNotFound};
  CHECK(linearizable(with(written, of_two(2, 3, Op::kGet, nothing))));
  CHECK_FALSE(linearizable(
      with(written, of_two(2, 3, Op::kGet, {.value = 7, .second = Answer::kNotFound}))));
  // Two gets of one key each, one after the other, see half of it.
  Made half;
  half.push_back(written.front());
  half.get(2, 3, 7);
  CHECK(linearizable(half));
  half.add(4, 5, Op::kGet, 0, Answer::kNotFound, 0, 0, 1);
  CHECK_FALSE(linearizable(half));
}

TEST_CASE("checker: a swap of two keys shows what it replaces") {
  const auto swap = [](std::int64_t seen, std::int64_t other) {
    Event event = of_two(3, 4, Op::kSwap, {.value = seen, .other = other});
    event.argument = 70;
    event.second.argument = 80;
    return event;
  };
  const History written{of_two(1, 2, Op::kPut, {.value = 7, .other = 8})};
  CHECK(linearizable(
      with(with(written, swap(7, 8)), of_two(5, 6, Op::kGet, {.value = 70, .other = 80}))));
  CHECK_FALSE(linearizable(with(written, swap(7, 9))));
  CHECK_FALSE(linearizable(
      with(with(written, swap(7, 8)), of_two(5, 6, Op::kGet, {.value = 70, .other = 8}))));
}

TEST_CASE("checker: an erase of two keys counts those that were there") {
  const auto erase = [](std::int64_t count) {
    Event event = of_two(3, 4, Op::kErase, {});
    event.result = count;
    return event;
  };
  History one = Made().put(1, 2, 7);
  for (const std::int64_t count : {0, 1, 2}) {
    CAPTURE(count);
    CHECK(linearizable(with(one, erase(count))) == (count == 1));
    CHECK(linearizable({erase(count)}) == (count == 0));
  }
}

TEST_CASE("checker: a value may be gone from its expiry on, and then stays gone") {
  const auto at = [](Made history, std::uint64_t began_ms, std::uint64_t ended_ms) {
    history.back().began_ms = began_ms;
    history.back().ended_ms = ended_ms;
    return history;
  };
  Made put = Made().put(1, 2, 7);
  put.back().expires_ms = 100;
  const auto got = [&](std::uint64_t from, std::uint64_t to) {
    return at(Made(put).get(3, 4, 7), from, to);
  };
  const auto missed = [&](std::uint64_t from, std::uint64_t to) {
    return at(Made(put).miss(3, 4), from, to);
  };
  CHECK(linearizable(got(90, 99)));
  CHECK(linearizable(got(99, 101)));
  CHECK_FALSE(linearizable(got(100, 101)));
  CHECK_FALSE(linearizable(missed(90, 99)));
  CHECK(linearizable(missed(99, 100)));
  const Clocks wide{.early_ms = 5, .late_ms = 10};
  CHECK_FALSE(LinearizabilityChecker::violation(got(109, 109), wide).has_value());
  CHECK(LinearizabilityChecker::violation(got(110, 110), wide).has_value());
  CHECK_FALSE(LinearizabilityChecker::violation(missed(95, 95), wide).has_value());
  CHECK(LinearizabilityChecker::violation(missed(94, 94), wide).has_value());
  // Once it was gone it does not come back, however wide the limits are.
  const Made again = at(at(Made(put).miss(3, 4), 99, 100).get(5, 6, 7), 99, 100);
  const auto verdict = LinearizabilityChecker::check(again, wide);
  CHECK(verdict.violation.has_value());
  CHECK(LinearizabilityChecker::check(missed(99, 100), wide).expired == 1);
}

TEST_CASE("checker: what is in doubt may have happened, later as well, or not") {
  Made doubt;
  doubt.add(1, Event::kNever, Op::kPut, 7, Answer::kInDoubt);
  CHECK(linearizable(doubt));
  CHECK(linearizable(Made(doubt).miss(2, 3)));
  CHECK(linearizable(Made(doubt).get(2, 3, 7)));
  CHECK(linearizable(Made(doubt).miss(2, 3).get(4, 5, 7)));
  CHECK_FALSE(linearizable(Made(doubt).get(2, 3, 8)));
  CHECK_FALSE(linearizable(Made(doubt).get(2, 3, 7).miss(4, 5)));
  Made counts;
  counts.sum(1, 2, 1).add(3, Event::kNever, Op::kIncrement, 1, Answer::kInDoubt).sum(4, 5, 2);
  CHECK(linearizable(Made(counts).sum(6, 7, 3)));
  CHECK(linearizable(Made(counts).sum(6, 7, 4)));
  CHECK_FALSE(linearizable(Made(counts).sum(6, 7, 5)));
}

TEST_CASE("checker: looks at every key, and names the one that is wrong") {
  Made history;
  history.put(1, 2, 7).get(3, 4, 7);
  history.add(1, 2, Op::kPut, 1, Answer::kOk, 0, 0, 41)
      .add(3, 4, Op::kGet, 0, Answer::kOk, 2, 0, 41);
  const auto found = LinearizabilityChecker::violation(history);
  REQUIRE(found);
  CHECK(found->find("key 41") != std::string::npos);
  CHECK(found->find("key 0 ") == std::string::npos);
}

TEST_CASE("checker: a history survives the way through bytes") {
  const History history = Made().put(1, 2, 7).get(3, 4, 7);
  History back;
  append_bytes(back, bytes_of(history));
  append_bytes(back, bytes_of(history));
  REQUIRE(back.size() == 4);
  CHECK(describe(back[3]) == describe(history[1]));
}
