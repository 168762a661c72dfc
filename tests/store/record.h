// The workload whose history is checked for linearizability: many short rounds, each on a few keys
// that no other round touches, so that a round's register starts absent and the search stays short.
//
// Keys of even number are short and their values are stored inline; those of odd number are long,
// and their padded values lie in the heap. A value's text is a function of its number: what is put
// is a multiple of 1000 and padded, what an increment leaves is neither.
#pragma once

#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "keyway/kvstore/types.h"
#include "keyway/locks/base/rng.h"
#include "keyway/locks/base/status.h"
#include "tests/support/history.h"

namespace keyway::test {

struct RecordPlan {
  std::uint32_t rounds = 100;
  std::uint32_t keys = 3;        // of each round
  std::uint32_t operations = 6;  // of each agent in each round
  std::uint64_t seed = 1;
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

template <class S>
class Recorder {
 public:
  Recorder(S& session, std::uint32_t agent, const RecordPlan& plan)
      : session_(session), agent_(agent), plan_(plan), rng_(plan.seed * 1000 + agent) {}

  /// One round. now() gives the time. What went wrong, or nothing.
  template <class Now>
  std::optional<std::string> round(std::uint32_t round, Now&& now) {
    seen_.clear();
    for (std::uint32_t i = 0; i < plan_.operations; ++i) {
      Event event;
      event.agent = agent_;
      event.key = round * plan_.keys + static_cast<std::uint32_t>(rng_.below(plan_.keys));
      event.op = static_cast<Op>(rng_.below(6));
      if (rng_.below(4) == 0) event.op = Op::kGet;
      event.invoked = now();
      const Status status = perform(event);
      event.answered = now();
      switch (status.code()) {
        case Code::kOk: event.answer = Answer::kOk; break;
        case Code::kNotFound: event.answer = Answer::kNotFound; break;
        case Code::kExists: event.answer = Answer::kExists; break;
        case Code::kMismatch: event.answer = Answer::kMismatch; break;
        default: return fmt::format("{}: {}", describe(event), status.message());
      }
      history_.push_back(event);
    }
    return std::nullopt;
  }
  const History& history() const { return history_; }

 private:
  std::string key_text(std::uint32_t key) const {
    return key % 2 == 0 ? fmt::format("s{}", key)
                        : fmt::format("a long key of the history, {}", key);
  }
  static std::string value_text(std::uint32_t key, std::int64_t value) {
    return key % 2 == 0 || value % 1000 != 0 ? std::to_string(value) : fmt::format("{:060}", value);
  }
  std::int64_t fresh_value() { return (++values_ * 64 + agent_) * 1000; }

  Status perform(Event& e) {
    const std::string key = key_text(e.key);
    switch (e.op) {
      case Op::kGet: return get(e, key);
      case Op::kPut: e.argument = fresh_value(); return put(key, value_text(e.key, e.argument));
      case Op::kInsert:
        e.argument = fresh_value();
        return session_.put(key, value_text(e.key, e.argument), {.when = store::PutIf::kAbsent});
      case Op::kErase: return session_.erase(key);
      case Op::kCompareAndSet:
        e.expected = seen_.contains(e.key) ? seen_[e.key] : 1000;
        e.argument = fresh_value();
        return session_.compare_and_set(key, value_text(e.key, e.expected),
                                        value_text(e.key, e.argument));
      case Op::kIncrement: {
        e.argument = 1;
        auto sum = session_.increment(key, 1);
        if (!sum.ok()) return sum.status();
        seen_[e.key] = e.result = *sum;
        return {};
      }
    }
    return Status(Code::kUnsupported);
  }

  // Each way of reading a key takes part in the same order.
  Status get(Event& e, const std::string& key) {
    std::string text;
    const std::array<std::string_view, 1> keys{key};
    Status status;
    if (const auto way = rng_.below(3); way == 0) {
      status = session_.get(key, text);
    } else if (way == 1) {
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
      return {Code::kCorruption, fmt::format("'{}' was never put", text)};
    }
    if (text != value_text(e.key, e.result)) {
      return {Code::kCorruption, fmt::format("'{}' is torn", text)};
    }
    seen_[e.key] = e.result;
    return {};
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
    return session_.put(key, value, {});
  }

  S& session_;
  std::uint32_t agent_;
  RecordPlan plan_;
  Rng rng_;
  std::int64_t values_ = 0;
  std::map<std::uint32_t, std::int64_t> seen_;
  History history_;
};

}  // namespace keyway::test
