// Pace: how much of something there is at present, in each second.
//
// *What.* The total is looked at now and then; the pace is the mean of the last kLooks spans.
// *Thread safety.* look() belongs to one thread; any thread may call per_second().
// *Source.* Redis 7.0, server.c (trackInstantaneousMetric): sixteen samples, 100 ms apart.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "keyway/server/statistics/counter.h"

namespace keyway::server {

class Pace {
 public:
  static constexpr std::size_t kLooks = 16;
  static constexpr std::chrono::milliseconds kApart{100};

  void look(std::uint64_t now_ns, std::uint64_t total);
  std::uint64_t per_second() const;

 private:
  std::array<Counter, kLooks> spans_{};  // each: the rate per second
  std::size_t next_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t last_total_ = 0;
};

}  // namespace keyway::server
