// The workload for linearizability checks: many short rounds, each on a few keys that no other
// round touches, so that a round's register starts absent and the search stays short.
//
// Keys of even number are short and their values are stored inline; those of odd number are long,
// and their padded values lie in the heap. A value's text is a function of its number: put values
// are padded multiples of 1000, values after an increment are neither.
//
// In addition to the history's operations, agents do some that must not show in it; a plan selects
// them. Each erases keys of earlier rounds, so that the heap bears many rounds.
#pragma once

#include <array>
#include <atomic>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "keyway/kvstore/types/types.h"
#include "keyway/locks/base/rng.h"
#include "keyway/locks/base/status.h"
#include "tests/store/neighbours.h"
#include "tests/support/history.h"

namespace keyway::test {

struct RecordPlan {
  std::uint32_t rounds = 100;
  std::uint32_t keys = 3;        // per round
  std::uint32_t operations = 6;  // per agent and round
  std::uint64_t seed = 1;
  std::uint32_t ranks = 1;
  bool sizes = false;     // values of all sizes, so that they change class and become runs
  bool expiries = false;  // elements that expire, have expired, or no longer expire; and sweeps
  bool neighbours =
      false;            // each agent's own keys come and go, so that chains grow and shrink; scans
  bool clears = false;  // clears of the whole store; not with `neighbours`
  // An operation may give up, and then has done nothing: counted here. Null: none may.
  std::atomic<std::uint64_t>* timeouts = nullptr;
  // Counts the gets of what was read ahead.
  std::atomic<std::uint64_t>* ahead = nullptr;
};

/// get_all of the client's session, and of the store's.
template <class S>
Result<std::vector<std::optional<std::string>>> read_all(S& session,
                                                         std::span<const std::string_view> keys) {
  if constexpr (requires { session.get_all(keys); }) {
    return session.get_all(keys);
  } else {
    std::vector<std::optional<std::string>> values;
    if (Status status = session.get_all(keys, values); !status.ok()) return status;
    return values;
  }
}

/// expire_at and persist of the client's session, and what they are of the store's.
template <class S>
Status set_expiry(S& session, std::string_view key, std::uint64_t unix_ms) {
  if constexpr (requires { session.expire_at(key, unix_ms); }) {
    return unix_ms == store::kNoExpiry ? session.persist(key) : session.expire_at(key, unix_ms);
  } else {
    return session.set_expiry(key, unix_ms);
  }
}

template <class S>
class Recorder {
 public:
  Recorder(S& session, std::uint32_t agent, const RecordPlan& plan)
      : session_(session),
        agent_(agent),
        plan_(plan),
        rng_(plan.seed * 1000 + agent),
        neighbours_(session, agent) {}

  /// One round. now() returns the time. Returns the error, or nothing.
  template <class Now>
  std::optional<std::string> round(std::uint32_t round, Now&& now) {
    seen_.clear();
    forget_round_before(round);
    for (std::uint32_t i = 0; i < plan_.operations; ++i) {
      if (auto wrong = beside()) return wrong;
      Event event;
      event.agent = agent_;
      event.key = round * plan_.keys + static_cast<std::uint32_t>(rng_.below(plan_.keys));
      event.op = next_op();
      const bool clears = plan_.clears && rng_.below(24) == 0;
      if (clears) event.op = Op::kVanish;
      event.invoked = now();
      const Status status = clears ? session_.clear() : perform(event);
      event.answered = now();
      switch (status.code()) {
        case Code::kOk: event.answer = Answer::kOk; break;
        case Code::kNotFound: event.answer = Answer::kNotFound; break;
        case Code::kExists: event.answer = Answer::kExists; break;
        case Code::kMismatch: event.answer = Answer::kMismatch; break;
        case Code::kTimeout:
          if (plan_.timeouts != nullptr && !clears) {
            plan_.timeouts->fetch_add(1, std::memory_order_relaxed);  // a count
            continue;
          }
          [[fallthrough]];
        default: return fmt::format("{}: {}", describe(event), status.message());
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
  Op next_op() {
    if (rng_.below(4) == 0) return Op::kGet;
    return static_cast<Op>(rng_.below(plan_.expiries ? kOps : kOpsWithoutExpiry));
  }
  /// All agents have done with it: they meet before each round.
  void forget_round_before(std::uint32_t round) {
    if (round == 0) return;
    const std::uint32_t key = (round - 1) * plan_.keys + agent_ % plan_.keys;
    const Status gone = session_.erase(key_text(key));  // or another agent's erase came first
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
    if (plan_.expiries && rng_.below(8) == 0) {
      const auto rank = static_cast<std::uint32_t>(rng_.below(plan_.ranks));
      if (auto swept = sweep(rank); !passes(swept.status())) {
        return fmt::format("agent {}: a sweep: {}", agent_, swept.status().message());
      }
    }
    if (!plan_.neighbours || rng_.below(2) == 0) return std::nullopt;
    const auto wrong =
        rng_.below(12) == 0 ? scan() : neighbours_.act(rng_, plan_.timeouts != nullptr);
    return wrong ? std::optional(fmt::format("agent {}: {}", agent_, *wrong)) : std::nullopt;
  }
  bool passes(const Status& status) const {
    return status.ok() || (plan_.timeouts != nullptr && status.code() == Code::kTimeout);
  }

  /// Every element is whole, and what is there all along is shown.
  std::optional<std::string> scan() {
    std::optional<std::string> wrong;
    neighbours_.begin_scan();
    std::uint64_t cursor = 0;
    do {
      const auto next = session_.scan(cursor, 1 + rng_.below(20), [&](auto key, auto value) {
        if (auto found = neighbours_.shown(key, value)) wrong = std::move(found);
        const auto mine = key_of(key);
        if (mine && !is_whole(*mine, value)) {
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

  std::string key_text(std::uint32_t key) const {
    return key % 2 == 0 ? fmt::format("s{}", key)
                        : fmt::format("a long key of the history, {}", key);
  }
  /// The number of a key of any round; nothing for others.
  static std::optional<std::uint32_t> key_of(std::string_view text) {
    constexpr std::string_view kLong = "a long key of the history, ";
    if (text.starts_with(kLong)) {
      text.remove_prefix(kLong.size());
    } else if (text.starts_with('s')) {
      text.remove_prefix(1);
    } else {
      return std::nullopt;
    }
    std::uint32_t key = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), key);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return key;
  }
  std::string value_text(std::uint32_t key, std::int64_t value) const {
    if (key % 2 == 0 || value % 1000 != 0) return std::to_string(value);
    constexpr int kWidths[] = {60, 700, 3, 5000, 60, 40'000, 200, 60};
    const auto number = static_cast<std::size_t>(value / 64'000);
    return fmt::format("{:0{}}", value, plan_.sizes ? kWidths[number % std::size(kWidths)] : 60);
  }
  bool is_whole(std::uint32_t key, std::string_view text) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() &&
           text == value_text(key, value);
  }
  std::int64_t fresh_value() { return (++values_ * 64 + agent_) * 1000; }
  /// Far away, or none.
  std::uint64_t some_expiry() {
    constexpr std::uint64_t kFar = 4'000'000'000'000;  // the year 2096
    return plan_.expiries && rng_.below(3) == 0 ? kFar + rng_.below(1000) : store::kNoExpiry;
  }

  Status perform(Event& e) {
    const std::string key = key_text(e.key);
    switch (e.op) {
      case Op::kGet: return get(e, key);
      case Op::kPut: e.argument = fresh_value(); return put(key, value_text(e.key, e.argument));
      case Op::kInsert:
        e.argument = fresh_value();
        return session_.put(key, value_text(e.key, e.argument),
                            {.when = store::PutIf::kAbsent, .expires_at_ms = some_expiry()});
      case Op::kErase:
        return plan_.expiries && rng_.below(2) == 0 ? set_expiry(session_, key, kLongAgo)
                                                    : session_.erase(key);
      case Op::kCompareAndSet:
        e.expected = seen_.contains(e.key) ? seen_[e.key] : 1000;
        e.argument = fresh_value();
        return session_.compare_and_set(key, value_text(e.key, e.expected),
                                        value_text(e.key, e.argument));
      case Op::kIncrement: {
        e.argument = 1;
        auto sum = session_.increment(key, 1);
        if (sum.code() == Code::kNotANumber) sum = increment_padded(key);
        if (!sum.ok()) return sum.status();
        seen_[e.key] = e.result = *sum;
        return {};
      }
      case Op::kVanish:
        return session_.put(key, value_text(e.key, fresh_value()), {.expires_at_ms = kLongAgo});
      case Op::kTouch: return set_expiry(session_, key, some_expiry());
    }
    return Status(Code::kUnsupported);
  }

  /// What increment() does not take: a number with zeros before it.
  Result<std::int64_t> increment_padded(const std::string& key) {
    std::int64_t sum = 0;
    std::string text;
    const Status status = session_.modify(key, [&](const store::ElementState* old) {
      sum = 1 + (old == nullptr ? 0 : std::stoll(std::string(old->value)));
      text = std::to_string(sum);
      return store::Decision::write(text, old == nullptr ? store::kNoExpiry : old->expires_at_ms);
    });
    if (!status.ok()) return status;
    return sum;
  }

  // Each way of reading a key takes part in the same order.
  Status get(Event& e, const std::string& key) {
    std::string text;
    const std::array<std::string_view, 1> keys{key};
    Status status;
    if (const auto way = rng_.below(4); way == 0) {
      status = session_.get(key, text);
    } else if (way == 1) {
      status = get_ahead(e, key, text);
    } else if (way == 2) {
      std::array<Code, 1> codes{};
      session_.get_many(keys, std::span(&text, 1), codes);
      status = Status(codes[0]);
    } else {
      auto values = read_all(session_, keys);
      if (!values.ok()) return values.status();
      if (!(*values)[0]) return Status(Code::kNotFound);
      text = *(*values)[0];
    }
    if (!status.ok()) return status;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), e.result);
    if (error != std::errc() || end != text.data() + text.size()) {
      return {Code::kCorruption, fmt::format("'{}' was never put", text.substr(0, 100))};
    }
    if (text != value_text(e.key, e.result)) {
      return {Code::kCorruption, fmt::format("'{}' is torn", text.substr(0, 100))};
    }
    seen_[e.key] = e.result;
    return {};
  }
  /// Together with another key of the round and of its kind, if there is one.
  Status get_ahead(const Event& e, const std::string& key, std::string& text) {
    const std::uint32_t in_round = e.key % plan_.keys;
    const std::string other = key_text(e.key - in_round + (in_round + 2) % plan_.keys);
    const std::array<std::string_view, 2> both{key, other};
    const bool is_ahead = (session_.read_ahead(both) & 1) != 0;
    if (plan_.ahead != nullptr) {
      plan_.ahead->fetch_add(is_ahead, std::memory_order_relaxed);  // a count
    }
    const Status status = session_.get(key, text);
    session_.read_ahead({});
    return status;
  }
  Status put(const std::string& key, const std::string& value) {
    if (const auto way = rng_.below(3); way == 0) {
      const std::array<std::pair<std::string_view, std::string_view>, 1> pairs{{{key, value}}};
      return session_.put_all(pairs, {});
    } else if (way == 1) {
      const std::array<std::string_view, 1> keys{key};
      return session_.transact(keys, [&](auto values) {
        values[0] = value;
        return true;
      });
    }
    return session_.put(key, value, {.expires_at_ms = some_expiry()});
  }

  static constexpr std::uint64_t kOpsWithoutExpiry = 6;
  static constexpr std::uint64_t kLongAgo = 1;

  S& session_;
  std::uint32_t agent_;
  RecordPlan plan_;
  Rng rng_;
  Neighbours<S> neighbours_;
  std::int64_t values_ = 0;
  std::map<std::uint32_t, std::int64_t> seen_;
  History history_;
};

}  // namespace keyway::test
