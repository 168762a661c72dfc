// The plan of a recorded history: how long it is, and what its agents do beside it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

#include "keyway/locks/base/clock.h"

namespace keyway::test {

/// The time of day by which values of a history expire soon.
struct DayClock {
  std::function<std::uint64_t()> now_ms = wall_ms;
  std::uint64_t span_ms = 2;  // values that expire do so within this time
  bool waits = true;          // agents wait now and then until one has expired
};

/// Operations may give up, and then have done nothing, or are in doubt.
struct Haste {
  std::chrono::nanoseconds timeout;  // the store's
  std::atomic<std::uint64_t> gave_up{0};
  std::atomic<std::uint64_t> in_doubt{0};
};

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
  const DayClock* day = nullptr;  // some of what expires does so soon; null: in many years
  // Now and then an agent keeps all others out, until one has given up. Null: none may.
  Haste* haste = nullptr;
  // Counts the gets of what was read ahead.
  std::atomic<std::uint64_t>* ahead = nullptr;
};

/// With elements of all sizes, and such as expire.
inline RecordPlan varied_plan(std::uint32_t rounds, std::uint64_t seed, std::uint32_t ranks) {
  return {.rounds = rounds, .seed = seed, .ranks = ranks, .sizes = true, .expiries = true};
}

}  // namespace keyway::test
