// A recorded history: requests with their agent, key, times and results.
//
// An event is plain bytes, so that the histories of several processes can be gathered. Times come
// from one source that all agents share: a counter in one process, the host's monotonic clock
// across processes. An operation took effect at some instant between `invoked` and `answered`.
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
  kTouch    // the value is not changed: an expiry far away, or none
};
inline constexpr std::uint64_t kOps = 8;
enum class Answer : std::uint8_t { kOk, kNotFound, kExists, kMismatch };

struct Event {
  std::uint64_t invoked = 0;
  std::uint64_t answered = 0;
  std::int64_t argument = 0;  // the value put or inserted, compare-and-set's new one, the increment
  std::int64_t expected = 0;  // compare-and-set's
  std::int64_t result = 0;    // the result of get or increment
  std::uint32_t key = 0;
  std::uint32_t agent = 0;
  Op op = Op::kGet;
  Answer answer = Answer::kOk;
};

using History = std::vector<Event>;

inline std::string describe(const Event& e) {
  constexpr std::string_view kOps[] = {"get", "put",       "insert", "erase",
                                       "cas", "increment", "vanish", "touch"};
  constexpr std::string_view kAnswers[] = {"ok", "not found", "exists", "mismatch"};
  return fmt::format("[{}, {}] agent {} {} key {} argument {} expected {}: {} {}", e.invoked,
                     e.answered, e.agent, kOps[static_cast<int>(e.op)], e.key, e.argument,
                     e.expected, kAnswers[static_cast<int>(e.answer)], e.result);
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
