// Footprint: the cost of acquiring and releasing a lock of a kind, in operations. Each kind's
// header has its own.
//
// *What.* The number of atomics of each type in an uncontended acquisition, for local and remote
// readers and writers, and how agents wait. choose.h computes times from it. `lock=auto` does not
// choose a kind without a footprint.
// *Thread safety.* Plain data.
// *Source.* Design section 6.
#pragma once

#include <cstdint>
#include <string_view>

namespace keyway::locks {

/// The operations of one uncontended acquisition, acquire and release.
struct Acquisition {
  double cpu = 0;       // atomics by the processor
  double near_rma = 0;  // atomics of class `rma` on the agent's own node
  double far_rma = 0;   // on another node, if there is one
  double orders = 0;    // between operations posted to another node
  double sweeps = 0;    // posted operations to every counter, and their flush
};

/// How agents wait for a lock.
enum class Waiting : std::uint8_t {
  kQueue,    // each polls its own word
  kBackoff,  // each retries at growing intervals, and so is late by about half of its wait
  kPoll,     // each retries all the time, and delays the others
};

struct Footprint {
  std::string_view kind;  // as in AnyLock::kNames
  std::string_view text;  // with the levers that a store uses
  bool readers_share = false;
  Waiting waiting = Waiting::kQueue;
  Acquisition local_read, remote_read, local_write, remote_write;
};

}  // namespace keyway::locks
