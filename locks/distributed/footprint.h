// Footprint: what a visit to a lock of a kind costs, in operations. Each kind's header has its own.
//
// *What.* How many atomics of which sort an uncontended visit takes, by readers and writers, from
// near and far, and how agents wait. choose.h computes times from it. A kind without a footprint is
// not one that `lock=auto` chooses.
// *Thread safety.* Plain data.
// *Source.* Design section 6.
#pragma once

#include <cstdint>
#include <string_view>

namespace keyway::locks {

/// What one visit takes, acquire and release, when nobody is in the way.
struct Visit {
  double cpu = 0;       // atomics by the processor
  double near_rma = 0;  // atomics of class `rma` on the agent's own node
  double far_rma = 0;   // on another node, where there is one
  double orders = 0;    // of operations posted to another node
  double sweeps = 0;    // posted operations to every counter, and their flush
};

/// How agents wait for a lock.
enum class Waiting : std::uint8_t {
  kQueue,    // each for a word of its own
  kBackoff,  // they come by, ever more rarely, and so late by about half of what they have waited
  kPoll,     // they come by all the time, and hold up one another
};

struct Footprint {
  std::string_view kind;  // as in AnyLock::kNames
  std::string_view text;  // with the levers that a store uses
  bool readers_share = false;
  Waiting waiting = Waiting::kQueue;
  Visit local_read, remote_read, local_write, remote_write;
};

}  // namespace keyway::locks
