// Is a history linearizable? Wing and Gong's search, key by key.
//
// *What.* For each key: is there an order of its operations that agrees with their times (one that
// was answered before another was invoked comes first) and that a single register, absent at the
// start, would have answered alike? Keys are independent, so each is searched alone (Herlihy and
// Wing: linearizability is local).
// *Source.* Wing and Gong, "Testing and verifying concurrent objects" (1993), with Lowe's cache of
// (operations done, state) that have been tried (2017).
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tests/support/history.h"

namespace keyway::test {

class LinearizabilityChecker {
 public:
  /// Nothing when the history is linearizable; else the events of a key that is not, in words.
  static std::optional<std::string> violation(const History& history) {
    std::map<std::uint32_t, History> by_key;
    for (const Event& event : history) by_key[event.key].push_back(event);
    for (auto& [key, events] : by_key) {
      if (LinearizabilityChecker(std::move(events)).search({})) continue;
      std::string text = fmt::format("key {} is not linearizable:\n", key);
      for (const Event& event : history) {
        if (event.key == key) text += describe(event) + "\n";
      }
      return text;
    }
    return std::nullopt;
  }

 private:
  // The register.
  struct State {
    bool there = false;
    std::int64_t value = 0;  // 0 when absent
    auto operator<=>(const State&) const = default;
  };
  using Done = std::vector<bool>;

  explicit LinearizabilityChecker(History events)
      : events_(std::move(events)), done_(events_.size()) {
    std::sort(events_.begin(), events_.end(),
              [](const Event& a, const Event& b) { return a.invoked < b.invoked; });
  }

  /// Whether what is not done yet can follow `state`.
  bool search(State state) {
    // Only operations invoked before every open one was answered may come next.
    std::uint64_t first_answer = ~std::uint64_t{0};
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (!done_[i]) first_answer = std::min(first_answer, events_[i].answered);
    }
    if (first_answer == ~std::uint64_t{0}) return true;
    if (!tried_.emplace(done_, state).second) return false;
    for (std::size_t i = 0; i < events_.size() && events_[i].invoked <= first_answer; ++i) {
      if (done_[i]) continue;
      State after = state;
      if (!answers_alike(events_[i], after)) continue;
      done_[i] = true;
      if (search(after)) return true;
      done_[i] = false;
    }
    return false;
  }

  /// Whether a register in `state` answers as the event says; moves it on.
  static bool answers_alike(const Event& e, State& state) {
    const bool there = state.there;
    switch (e.op) {
      case Op::kGet:
        return e.answer == (there ? Answer::kOk : Answer::kNotFound) &&
               (!there || state.value == e.result);
      case Op::kPut: state = {true, e.argument}; return e.answer == Answer::kOk;
      case Op::kInsert:
        if (there) return e.answer == Answer::kExists;
        state = {true, e.argument};
        return e.answer == Answer::kOk;
      case Op::kErase: state = {}; return e.answer == (there ? Answer::kOk : Answer::kNotFound);
      case Op::kCompareAndSet:
        if (!there) return e.answer == Answer::kNotFound;
        if (state.value != e.expected) return e.answer == Answer::kMismatch;
        state = {true, e.argument};
        return e.answer == Answer::kOk;
      case Op::kIncrement:
        state = {true, state.value + e.argument};
        return e.answer == Answer::kOk && state.value == e.result;
      case Op::kVanish: state = {}; return e.answer == Answer::kOk;
      case Op::kTouch: return e.answer == (there ? Answer::kOk : Answer::kNotFound);
    }
    return false;
  }

  History events_;  // events of one key, by invocation
  Done done_;
  std::set<std::pair<Done, State>> tried_;
};

}  // namespace keyway::test
