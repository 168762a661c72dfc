// The workload for linearizability checks: many short rounds, each on a few keys that no other
// round touches, so that a round's registers start absent and the search stays short.
//
// The keys of a round are in pairs, and some operations concern both keys of one. In addition to
// the history's operations, agents do some that must not show in it; a plan selects them. Each
// erases keys of earlier rounds, so that the heap bears many rounds.
#pragma once

#include <array>
#include <atomic>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/rng.h"
#include "keyway/locks/base/status.h"
#include "keyway/locks/fabric/wait.h"
#include "tests/store/history_texts.h"
#include "tests/store/neighbours.h"
#include "tests/store/perform.h"
#include "tests/store/record_plan.h"
#include "tests/support/history.h"

namespace keyway::test {

template <class S>
class Recorder {
 public:
  Recorder(S& session, std::uint32_t agent, const RecordPlan& plan)
      : session_(session),
        agent_(agent),
        plan_(plan),
        rng_(plan.seed * 1000 + agent),
        performer_(session, agent, plan_, rng_),
        neighbours_(session, agent) {}
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// One round. now() returns the time. Returns the error, or nothing.
  template <class Now>
  std::optional<std::string> round(std::uint32_t round, Now&& now) {
    performer_.begin_round();
    forget_round_before(round);
    for (std::uint32_t i = 0; i < plan_.operations; ++i) {
      if (auto wrong = beside()) return wrong;
      performer_.before();
      Event event = next_event(round);
      const bool clears = plan_.clears && rng_.below(24) == 0;
      if (clears) event = {.key = event.key, .agent = agent_, .op = Op::kVanish};
      event.began_ms = day_ms();
      event.invoked = now();
      const Status status = clears ? session_.clear() : performer_.perform(event);
      event.answered = now();
      event.ended_ms = day_ms();
      if (!clears && gave_up(status)) continue;
      if (!note_answer(status, event)) {
        return fmt::format("{}: {}", describe(event), status.message());
      }
      if (clears) {
        note_clear(event, round);
      } else {
        history_.push_back(event);
      }
    }
    return std::nullopt;
  }
  const History& history() const { return history_; }

 private:
  static constexpr std::uint64_t kOpsWithoutExpiry = 6;
  static constexpr std::uint64_t kOpsWithExpiry = 8;

  std::uint64_t day_ms() const { return plan_.day == nullptr ? 0 : plan_.day->now_ms(); }
  Event next_event(std::uint32_t round) {
    const auto in_round = static_cast<std::uint32_t>(rng_.below(plan_.keys));
    Event event{.key = round * plan_.keys + in_round, .agent = agent_};
    // Of one kind if their number is odd.
    const std::uint32_t other = plan_.keys % 2 == 1 ? plan_.keys - 1 - in_round : in_round ^ 1;
    if (rng_.below(4) == 0) return event;
    if (other != in_round && rng_.below(4) == 0) {
      constexpr Op kOfTwo[] = {Op::kGet, Op::kGet, Op::kPut, Op::kSwap, Op::kErase};
      event.op = kOfTwo[rng_.below(std::size(kOfTwo))];
      event.second.key = round * plan_.keys + other;
    } else {
      event.op = static_cast<Op>(rng_.below(plan_.expiries ? kOpsWithExpiry : kOpsWithoutExpiry));
    }
    return event;
  }
  bool gave_up(const Status& status) {
    if (status.code() != Code::kTimeout || plan_.haste == nullptr) return false;
    plan_.haste->gave_up.fetch_add(1, std::memory_order_relaxed);  // a count
    return true;
  }
  /// False if the operation may not end so.
  bool note_answer(const Status& status, Event& event) {
    if (status.ok()) return true;
    switch (status.code()) {
      case Code::kNotFound: event.answer = Answer::kNotFound; break;
      case Code::kExists: event.answer = Answer::kExists; break;
      case Code::kMismatch: event.answer = Answer::kMismatch; break;
      case Code::kInDoubt:
        if (plan_.haste == nullptr) return false;
        plan_.haste->in_doubt.fetch_add(1, std::memory_order_relaxed);  // a count
        event.answer = Answer::kInDoubt;
        event.answered = Event::kNever;
        event.ended_ms = Event::kNever / 2;  // it may take effect at any time
        break;
      default: return false;
    }
    return !event.on_two_keys();
  }
  /// All agents have done with it: they meet before each round.
  void forget_round_before(std::uint32_t round) {
    if (round == 0) return;
    const std::uint32_t key = (round - 1) * plan_.keys + agent_ % plan_.keys;
    const Status gone = session_.erase(HistoryTexts::key(key));  // or another agent's came first
    static_cast<void>(gone);
  }
  void note_clear(Event event, std::uint32_t round) {
    for (std::uint32_t i = 0; i < plan_.keys; ++i) {
      event.key = round * plan_.keys + i;
      history_.push_back(event);
    }
  }

  /// A client's session sweeps by its inspector, the store's own by itself.
  Result<std::uint64_t> sweep(std::uint32_t rank) {
    if constexpr (requires { session_.inspector(); }) {
      return session_.inspector().sweep_expired(rank);
    } else {
      return session_.sweep_expired(rank);
    }
  }

  /// Errors that no history shows.
  std::optional<std::string> beside() {
    if (plan_.haste != nullptr && rng_.below(12) == 0) {
      if (const Status held = hold_all(); !passes(held)) return said("holding all", held);
    }
    if (plan_.expiries && rng_.below(8) == 0) {
      const auto rank = static_cast<std::uint32_t>(rng_.below(plan_.ranks));
      if (auto swept = sweep(rank); !passes(swept.status())) return said("a sweep", swept.status());
    }
    if (!plan_.neighbours || rng_.below(2) == 0) return std::nullopt;
    const auto wrong = rng_.below(12) == 0 ? scan() : neighbours_.act(rng_, plan_.haste != nullptr);
    return wrong ? std::optional(fmt::format("agent {}: {}", agent_, *wrong)) : std::nullopt;
  }
  std::string said(std::string_view what, const Status& status) const {
    return fmt::format("agent {}: {}: {}", agent_, what, status.message());
  }
  bool passes(const Status& status) const {
    return status.ok() || (plan_.haste != nullptr && status.code() == Code::kTimeout);
  }
  /// Keeps all other agents out until one of this process has given up, or should have.
  Status hold_all() {
    return session_.exclusively([&] {
      // relaxed: a count by itself
      const std::uint64_t before = plan_.haste->gave_up.load(std::memory_order_relaxed);
      const auto is_over = [&] {
        return plan_.haste->gave_up.load(std::memory_order_relaxed) != before;
      };
      fabric::wait_loop(
          is_over, [] {}, Deadline::within(2 * plan_.haste->timeout));
    });
  }

  /// Every element is whole, and what is there all along is shown.
  std::optional<std::string> scan() {
    std::optional<std::string> wrong;
    neighbours_.begin_scan();
    std::uint64_t cursor = 0;
    do {
      const auto next = session_.scan(cursor, 1 + rng_.below(20), [&](auto key, auto value) {
        if (auto found = neighbours_.shown(key, value)) wrong = std::move(found);
        const auto mine = HistoryTexts::key_of(key);
        if (mine && !performer_.texts().is_whole(*mine, value)) {
          wrong = fmt::format("a scan shows '{}' of key {}", value.substr(0, 100), key);
        }
      });
      if (!next.ok()) {
        return passes(next.status()) ? wrong : std::optional(std::string(next.status().message()));
      }
      cursor = *next;
    } while (cursor != 0 && !wrong);
    return wrong ? wrong : neighbours_.missed();
  }

  S& session_;
  std::uint32_t agent_;
  RecordPlan plan_;
  Rng rng_;
  Performer<S> performer_;
  Neighbours<S> neighbours_;
  History history_;
};

}  // namespace keyway::test
