// Performs the operations of a recorded history: each in all the ways that a session has for it.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keyway/kvstore/types/types.h"
#include "keyway/locks/base/rng.h"
#include "keyway/locks/base/status.h"
#include "keyway/locks/fabric/wait.h"
#include "tests/store/history_texts.h"
#include "tests/store/record_plan.h"
#include "tests/support/history.h"

namespace keyway::test {

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
class Performer {
 public:
  Performer(S& session, std::uint32_t agent, const RecordPlan& plan, Rng& rng)
      : session_(session), agent_(agent), plan_(plan), texts_(plan.sizes), rng_(rng) {}

  const HistoryTexts& texts() const { return texts_; }
  void begin_round() { seen_.clear(); }
  /// Waits for an expiry, now and then: the next operation finds the value gone.
  void before() {
    if (plan_.day == nullptr || !plan_.day->waits || rng_.below(32) != 0) return;
    const auto is_past = [&] { return plan_.day->now_ms() >= latest_expiry_; };
    fabric::wait_loop(
        is_past, [] {}, Deadline::never());
  }
  /// Draws the arguments, and says what the session has answered. Of an operation on two keys the
  /// event then has the answer for each.
  Status perform(Event& e) {
    if (e.on_two_keys()) return perform_on_two(e);
    const std::string key = HistoryTexts::key(e.key);
    switch (e.op) {
      case Op::kGet: return get(e, key);
      case Op::kPut: return put(e, key);
      case Op::kInsert:
        e.argument = fresh_value();
        return session_.put(key, texts_.value(e.key, e.argument),
                            {.when = store::PutIf::kAbsent, .expires_at_ms = some_expiry(e)});
      case Op::kErase:
        return plan_.expiries && rng_.below(2) == 0 ? set_expiry(session_, key, kLongAgo)
                                                    : session_.erase(key);
      case Op::kCompareAndSet:
        e.expected = seen_.contains(e.key) ? seen_[e.key] : 1000;
        e.argument = fresh_value();
        return session_.compare_and_set(key, texts_.value(e.key, e.expected),
                                        texts_.value(e.key, e.argument));
      case Op::kIncrement: return increment(e, key);
      case Op::kVanish:
        return session_.put(key, texts_.value(e.key, fresh_value()), {.expires_at_ms = kLongAgo});
      case Op::kTouch: return set_expiry(session_, key, some_expiry(e));
      case Op::kSwap: break;  // one of the ways of a put
    }
    return Status(Code::kUnsupported);
  }

 private:
  static constexpr std::uint64_t kLongAgo = 1;

  std::int64_t fresh_value() { return (++values_ * 64 + agent_) * 1000; }
  /// None, far away, or soon: then the event has it.
  std::uint64_t some_expiry(Event& e) {
    if (!plan_.expiries || rng_.below(3) != 0) return store::kNoExpiry;
    if (plan_.day == nullptr || rng_.below(3) == 0) {
      constexpr std::uint64_t kFar = 4'000'000'000'000;  // the year 2096
      return kFar + rng_.below(1000);
    }
    latest_expiry_ = plan_.day->now_ms() + rng_.below(plan_.day->span_ms + 1);
    return e.expires_ms = latest_expiry_;
  }

  Status increment(Event& e, const std::string& key) {
    e.argument = 1;
    auto sum = session_.increment(key, 1);
    if (sum.code() == Code::kNotANumber) sum = increment_padded(key);
    if (!sum.ok()) return sum.status();
    seen_[e.key] = e.result = *sum;
    return {};
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
    return status.ok() ? see(e.key, text, e.result) : status;
  }
  Status see(std::uint32_t key, std::string_view text, std::int64_t& result) {
    const auto value = HistoryTexts::value_of(text);
    if (!value) {
      return {Code::kCorruption, fmt::format("'{}' was never put", text.substr(0, 100))};
    }
    if (!texts_.is_whole(key, text)) {
      return {Code::kCorruption, fmt::format("'{}' is torn", text.substr(0, 100))};
    }
    seen_[key] = result = *value;
    return {};
  }
  /// Together with another key of the round and of its kind, if there is one.
  Status get_ahead(const Event& e, const std::string& key, std::string& text) {
    const std::uint32_t in_round = e.key % plan_.keys;
    const std::uint32_t other = e.key - in_round + (in_round + 2) % plan_.keys;
    const std::string second = HistoryTexts::key(other);
    const std::array<std::string_view, 2> both{key, second};
    const bool is_ahead = (session_.read_ahead(both) & 1) != 0;
    if (plan_.ahead != nullptr) {
      plan_.ahead->fetch_add(is_ahead, std::memory_order_relaxed);  // a count
    }
    const Status status = session_.get(key, text);
    session_.read_ahead({});
    return status;
  }

  Status put(Event& e, const std::string& key) {
    e.argument = fresh_value();
    const std::string value = texts_.value(e.key, e.argument);
    if (const auto way = rng_.below(3); way == 0) {
      const std::array<std::pair<std::string_view, std::string_view>, 1> pairs{{{key, value}}};
      return session_.put_all(pairs, {.expires_at_ms = some_expiry(e)});
    } else if (way == 1) {
      e.op = Op::kSwap;
      const std::array<std::string_view, 1> keys{key};
      std::optional<std::string> before;
      const Status status = session_.transact(keys, [&](auto values) {
        before = std::exchange(values[0], value);
        return true;
      });
      if (!status.ok()) return status;
      return before ? see(e.key, *before, e.result) : Status(Code::kNotFound);
    }
    return session_.put(key, value, {.expires_at_ms = some_expiry(e)});
  }

  Status perform_on_two(Event& e) {
    const std::string first = HistoryTexts::key(e.key);
    const std::string second = HistoryTexts::key(e.second.key);
    const std::array<std::string_view, 2> keys{first, second};
    if (e.op == Op::kGet) {
      auto values = read_all(session_, keys);
      return values.ok() ? see_both(e, (*values)[0], (*values)[1]) : values.status();
    }
    if (e.op == Op::kErase) {
      const auto erased = session_.erase_all(keys);
      if (erased.ok()) e.result = static_cast<std::int64_t>(*erased);
      return erased.status();
    }
    e.argument = fresh_value();
    e.second.argument = fresh_value();
    const std::string value = texts_.value(e.key, e.argument);
    const std::string other = texts_.value(e.second.key, e.second.argument);
    if (e.op == Op::kPut) {
      const std::array<std::pair<std::string_view, std::string_view>, 2> pairs{
          {{first, value}, {second, other}}};
      return session_.put_all(pairs, {.expires_at_ms = some_expiry(e)});
    }
    std::array<std::optional<std::string>, 2> before;
    const Status status = session_.transact(keys, [&](auto values) {
      before = {std::exchange(values[0], value), std::exchange(values[1], other)};
      return true;
    });
    return status.ok() ? see_both(e, before[0], before[1]) : status;
  }
  Status see_both(Event& e, const std::optional<std::string>& first,
                  const std::optional<std::string>& second) {
    e.answer = first ? Answer::kOk : Answer::kNotFound;
    e.second.answer = second ? Answer::kOk : Answer::kNotFound;
    if (first) {
      if (Status status = see(e.key, *first, e.result); !status.ok()) return status;
    }
    return second ? see(e.second.key, *second, e.second.result) : Status();
  }

  S& session_;
  std::uint32_t agent_;
  const RecordPlan& plan_;
  HistoryTexts texts_;
  Rng& rng_;
  std::int64_t values_ = 0;
  std::uint64_t latest_expiry_ = 0;
  std::map<std::uint32_t, std::int64_t> seen_;
};

}  // namespace keyway::test
