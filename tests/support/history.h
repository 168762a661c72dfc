// A recorded history: requests with their agent, keys, times and results.
//
// An event is plain bytes, so that the histories of several processes can be gathered. Times come
// from one source that all agents share: a counter in one process, the host's monotonic clock
// across processes. An operation took effect at some instant between `invoked` and `answered`.
// Where values expire, an event also has the times of day around it.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::test {

enum class Op : std::uint8_t {
  kGet,
  kPut,
  kInsert,
  kErase,
  kCompareAndSet,
  kIncrement,
  kVanish,  // a put of an expired element, a clear: absent afterwards, whatever was there
  kTouch,   // the value stays, and gets another expiry, or none
  kSwap     // shows the value and puts another one, with the same expiry
};
/// kInDoubt: it has taken effect, or will do so later, or never.
enum class Answer : std::uint8_t { kOk, kNotFound, kExists, kMismatch, kInDoubt };

struct Event {
  static constexpr std::uint32_t kNoKey = ~std::uint32_t{0};
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  /// The second key of a get, put, swap or erase of two keys at one instant.
  struct Second {
    std::int64_t argument = 0;
    std::int64_t result = 0;
    std::uint32_t key = kNoKey;
    Answer answer = Answer::kOk;
  };

  std::uint64_t invoked = 0;
  std::uint64_t answered = 0;  // kNever if it is in doubt
  std::int64_t argument = 0;   // the value put or inserted, the new one of others, the increment
  std::int64_t expected = 0;   // compare-and-set's
  std::int64_t result = 0;  // the value seen, the sum; of an erase of two keys, how many there were
  std::uint32_t key = 0;
  std::uint32_t agent = 0;
  Op op = Op::kGet;
  Answer answer = Answer::kOk;
  Second second;
  std::uint64_t expires_ms = 0;  // put, insert, touch: the value is gone from then on; 0: never
  std::uint64_t began_ms = 0;    // the times of day around it
  std::uint64_t ended_ms = 0;

  bool on_two_keys() const { return second.key != kNoKey; }
};

using History = std::vector<Event>;

inline std::string describe(const Event& e) {
  constexpr std::string_view kOps[] = {"get",       "put",    "insert", "erase", "cas",
                                       "increment", "vanish", "touch",  "swap"};
  constexpr std::string_view kAnswers[] = {"ok", "not found", "exists", "mismatch", "in doubt"};
  std::string text =
      fmt::format("[{}, {}] agent {} {} key {} argument {} expected {}: {} {}", e.invoked,
                  e.answered, e.agent, kOps[static_cast<int>(e.op)], e.key, e.argument, e.expected,
                  kAnswers[static_cast<int>(e.answer)], e.result);
  if (e.on_two_keys()) {
    text += fmt::format("; key {} argument {}: {} {}", e.second.key, e.second.argument,
                        kAnswers[static_cast<int>(e.second.answer)], e.second.result);
  }
  if (e.ended_ms != 0) {
    text += fmt::format("; {} to {} ms, expires {}", e.began_ms, e.ended_ms, e.expires_ms);
  }
  return text;
}

inline std::string_view bytes_of(const History& history) {
  return {reinterpret_cast<const char*>(history.data()), history.size() * sizeof(Event)};
}
inline void append_bytes(History& history, std::string_view bytes) {
  const std::size_t before = history.size();
  history.resize(before + bytes.size() / sizeof(Event));
  if (!bytes.empty()) std::memcpy(history.data() + before, bytes.data(), bytes.size());
}

}  // namespace keyway::test
