// Clocks and deadlines.
//
// A Deadline is data: "never", "at this time" or "within this span". The endpoint turns it into a
// time of the endpoint's clock when a wait begins, so that an uncontended acquire reads no clock,
// and the simulated machine can wait in virtual time.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

namespace keyway {

/// Monotonic time of this host, in ns. For intervals.
inline std::uint64_t steady_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

/// Wall-clock time in ms since 1970 UTC. For expiry, which must mean the same on every rank.
inline std::uint64_t wall_ms() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

/// The time at which a wait gives up. Value type.
class Deadline {
 public:
  /// No limit. Only for callers with a deadline above them.
  static constexpr Deadline never() { return Deadline(Kind::kNever, 0); }
  /// Gives up at the first check: a try.
  static constexpr Deadline now() { return Deadline(Kind::kWithin, 0); }
  /// At an absolute time, in ns of the endpoint's clock.
  static constexpr Deadline at_ns(std::uint64_t ns) { return Deadline(Kind::kAt, ns); }
  /// Within a span that begins when the wait begins; spans above 292 years are cut to that.
  template <class Rep, class Period>
  static constexpr Deadline within(std::chrono::duration<Rep, Period> span) {
    using std::chrono::nanoseconds;
    if (span <= span.zero()) return now();
    if constexpr (std::ratio_greater_v<Period, std::nano>) {  // hours::max() in ns does not fit
      constexpr auto kLongest = std::chrono::duration_cast<decltype(span)>(nanoseconds::max());
      if (span > kLongest) return Deadline(Kind::kWithin, nanoseconds::max().count());
    }
    const auto ns = std::chrono::duration_cast<nanoseconds>(span).count();
    return Deadline(Kind::kWithin, static_cast<std::uint64_t>(ns));
  }

  /// This deadline with its span started at `now_ns`: pass the result to several waits that share
  /// it.
  constexpr Deadline started(std::uint64_t now_ns) const {
    if (kind_ != Kind::kWithin) return *this;
    return at_ns(ns_ > kEndOfTime - now_ns ? kEndOfTime : now_ns + ns_);
  }
  constexpr bool is_never() const { return kind_ == Kind::kNever; }
  /// The absolute time in ns, for a deadline that has been started; the largest number for never().
  constexpr std::uint64_t absolute_ns() const { return kind_ == Kind::kAt ? ns_ : kEndOfTime; }

 private:
  enum class Kind : std::uint8_t { kNever, kAt, kWithin };
  static constexpr std::uint64_t kEndOfTime = std::numeric_limits<std::uint64_t>::max();
  constexpr Deadline(Kind kind, std::uint64_t ns) : ns_(ns), kind_(kind) {}

  std::uint64_t ns_;
  Kind kind_;
};

}  // namespace keyway
