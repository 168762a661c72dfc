// Is a history linearizable? Wing and Gong's search.
//
// *What.* Is there an order of the operations that agrees with their times (one that was answered
// before another was invoked comes first) and that registers, absent at the start, would have
// answered alike? A register is a key's. Keys that operations on two keys join are searched
// together, others apart (Herlihy and Wing: linearizability is local). A value that expires is
// there before that time of day, gone for all afterwards, and either in between, as far as clocks
// may differ (`Clocks`). *Source.* Wing and Gong, "Testing and verifying concurrent objects"
// (1993), with Lowe's cache of (operations done, state) that have been tried (2017).
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "keyway/locks/base/check.h"
#include "tests/support/history.h"

namespace keyway::test {

/// How far the time by which an operation judges expiries may be off the times of day around it.
struct Clocks {
  std::uint64_t early_ms = 0;
  std::uint64_t late_ms = 0;
};

class LinearizabilityChecker {
 public:
  struct Verdict {
    std::optional<std::string> violation;  // the events of keys that are not linearizable, in words
    std::uint64_t expired = 0;  // values that somebody found gone because of their expiry
  };

  static Verdict check(const History& history, Clocks clocks = {}) {
    Verdict verdict;
    for (auto& [name, events] : joined(history)) {
      LinearizabilityChecker checker(events, clocks);
      if (checker.search({})) {
        verdict.expired += checker.expired_;
        continue;
      }
      verdict.violation = fmt::format("key {} is not linearizable:\n", name);
      for (const Event& event : events) *verdict.violation += describe(event) + "\n";
      break;
    }
    return verdict;
  }
  static std::optional<std::string> violation(const History& history, Clocks clocks = {}) {
    return check(history, clocks).violation;
  }

 private:
  struct Register {
    bool there = false;
    std::int64_t value = 0;  // 0 when absent, as is the expiry
    std::uint64_t expires_ms = 0;
    auto operator<=>(const Register&) const = default;
  };
  static constexpr std::size_t kMaxJoined = 4;  // keys
  using State = std::array<Register, kMaxJoined>;
  using Done = std::vector<bool>;

  LinearizabilityChecker(History events, Clocks clocks)
      : events_(std::move(events)), clocks_(clocks), done_(events_.size()) {
    std::stable_sort(events_.begin(), events_.end(),
                     [](const Event& a, const Event& b) { return a.invoked < b.invoked; });
    for (const Event& event : events_) {
      places_.try_emplace(event.key, places_.size());
      if (event.on_two_keys()) places_.try_emplace(event.second.key, places_.size());
    }
    KW_CHECK(places_.size() <= kMaxJoined);
  }

  /// The events of each set of keys that operations join, by its lowest key.
  static std::map<std::uint32_t, History> joined(const History& history) {
    std::map<std::uint32_t, std::uint32_t> to;  // a lower key of the set, or itself
    const auto lowest = [&](std::uint32_t key) {
      for (to.try_emplace(key, key); to[key] != key;) key = to[key];
      return key;
    };
    for (const Event& event : history) {
      if (!event.on_two_keys()) continue;
      const auto [low, high] = std::minmax({lowest(event.key), lowest(event.second.key)});
      to[high] = low;
    }
    std::map<std::uint32_t, History> sets;
    for (const Event& event : history) sets[lowest(event.key)].push_back(event);
    return sets;
  }

  /// Whether what is not done yet can follow `state`.
  bool search(const State& state) {
    // Only operations invoked before every open one was answered may come next.
    std::uint64_t first_answer = Event::kNever;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (!done_[i]) first_answer = std::min(first_answer, events_[i].answered);
    }
    if (first_answer == Event::kNever) return true;  // what is in doubt may never take effect
    if (!tried_.emplace(done_, state).second) return false;
    for (std::size_t i = 0; i < events_.size() && events_[i].invoked <= first_answer; ++i) {
      if (!done_[i] && comes_next(i, state)) return true;
    }
    return false;
  }
  bool comes_next(std::size_t i, const State& state) {
    const Event& event = events_[i];
    done_[i] = true;
    const auto can_be = [&](const Event& e) {
      State after = state;
      const std::uint64_t expired = expired_;
      if (answers_alike(e, after) && search(after)) return true;
      expired_ = expired;
      return false;
    };
    const bool known = event.answer != Answer::kInDoubt && !counts_both(event);
    const History ways = known ? History() : possible(event, state);
    if (known ? can_be(event) : std::any_of(ways.begin(), ways.end(), can_be)) return true;
    done_[i] = false;
    return false;
  }

  static bool counts_both(const Event& e) { return e.op == Op::kErase && e.on_two_keys(); }
  /// The event with each answer that it can have had.
  History possible(const Event& event, const State& state) const {
    History ways;
    if (counts_both(event)) {
      for (const std::int64_t first : {0, 1}) {
        const std::int64_t second = event.result - first;
        if (second != 0 && second != 1) continue;
        Event& way = ways.emplace_back(event);
        way.answer = first == 1 ? Answer::kOk : Answer::kNotFound;
        way.second.answer = second == 1 ? Answer::kOk : Answer::kNotFound;
      }
      return ways;
    }
    if (event.op == Op::kIncrement) {  // of the value that is there, or of none
      for (const std::int64_t before : {state[places_.at(event.key)].value, std::int64_t{0}}) {
        Event& way = ways.emplace_back(event);
        way.answer = Answer::kOk;
        way.result = before + event.argument;
      }
      return ways;
    }
    for (const Answer answer :
         {Answer::kOk, Answer::kNotFound, Answer::kExists, Answer::kMismatch}) {
      ways.emplace_back(event).answer = answer;
    }
    return ways;
  }

  /// Whether registers in `state` answer as the event says; moves them on.
  bool answers_alike(const Event& e, State& state) {
    if (!answers_alike(e, {e.argument, e.result, e.key, e.answer}, state[places_.at(e.key)])) {
      return false;
    }
    return !e.on_two_keys() || answers_alike(e, e.second, state[places_.at(e.second.key)]);
  }
  bool answers_alike(const Event& e, const Event::Second& part, Register& reg) {
    const bool ok = part.answer == Answer::kOk;
    if (!ok && part.answer == Answer::kNotFound && e.op != Op::kInsert) {
      if (!sees(e, reg, false)) return false;
      if (e.op == Op::kSwap) reg = {true, part.argument, 0};
      return finds(e.op);
    }
    switch (e.op) {
      case Op::kGet: return ok && sees(e, reg, true) && reg.value == part.result;
      case Op::kPut: reg = {true, part.argument, e.expires_ms}; return ok;
      case Op::kInsert:
        if (part.answer == Answer::kExists) return sees(e, reg, true);
        if (!ok || !sees(e, reg, false)) return false;
        reg = {true, part.argument, e.expires_ms};
        return true;
      case Op::kErase:
        if (!ok || !sees(e, reg, true)) return false;
        reg = {};
        return true;
      case Op::kCompareAndSet:
        if (!sees(e, reg, true)) return false;
        if (part.answer == Answer::kMismatch) return reg.value != e.expected;
        return ok && std::exchange(reg.value, part.argument) == e.expected;
      case Op::kIncrement:
        if (!ok) return false;
        if (reg.value + part.argument == part.result && sees(e, reg, true)) {
          reg.value = part.result;
          return true;
        }
        if (part.argument != part.result || !sees(e, reg, false)) return false;
        reg = {true, part.result, 0};
        return true;
      case Op::kVanish: reg = {}; return ok;
      case Op::kTouch:
        if (!ok || !sees(e, reg, true)) return false;
        reg.expires_ms = e.expires_ms;
        return true;
      case Op::kSwap:
        if (!ok || !sees(e, reg, true)) return false;
        return std::exchange(reg.value, part.argument) == part.result;
    }
    return false;
  }
  /// Whether it can answer that the key is not there.
  static bool finds(Op op) {
    return op == Op::kGet || op == Op::kErase || op == Op::kCompareAndSet || op == Op::kTouch ||
           op == Op::kSwap;
  }
  /// Whether the operation can have seen that the value is there, or is not.
  bool sees(const Event& e, Register& reg, bool there) {
    const bool expires = reg.there && reg.expires_ms != 0;
    if (there) return reg.there && (!expires || e.began_ms < reg.expires_ms + clocks_.late_ms);
    if (!reg.there) return true;
    if (!expires || e.ended_ms + clocks_.early_ms < reg.expires_ms) return false;
    reg = {};
    ++expired_;
    return true;
  }

  History events_;  // of one set of keys, by invocation
  Clocks clocks_;
  std::map<std::uint32_t, std::size_t> places_;  // of keys, in a State
  Done done_;
  std::set<std::pair<Done, State>> tried_;
  std::uint64_t expired_ = 0;
};

}  // namespace keyway::test
