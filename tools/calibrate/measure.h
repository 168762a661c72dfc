// Measure: the cost of one operation of a shm endpoint, one wait, one wake-up on this host.
//
// *What.* Each function is one measurement: many short batches, the spread of ns per operation over
// them. All go through ShmEndpoint and wait.h, as a lock's operations do, but through no lock.
// *Thread safety.* Each starts and joins pinned threads; call one at a time.
#pragma once

#include <cstdint>

#include "keyway/tools/calibrate/host.h"
#include "keyway/tools/calibrate/spread.h"

namespace keyway::calibrate {

/// How much to measure.
struct Effort {
  std::uint32_t batches = 400;
  std::uint32_t batch = 1000;      // operations, of those that take some ns
  std::uint64_t memory_mib = 256;  // to be larger than any cache
  std::uint32_t quantum_ms = 200;  // how long to wait for the end of a quantum
};

// --- one thread (one_thread.cc)
/// A load that follows from the one before.
Spread load_hit(const Host& host, const Effort& effort);
Spread store_hit(const Host& host, const Effort& effort);
Spread atomic_hit(const Host& host, const Effort& effort);
/// One round of a fetch_add, a load and a store of a line at hand, each by a call that is not
/// inlined and returns a Result.
Spread called_round(const Host& host, const Effort& effort);
/// One poll of a waiter that spins, and one after it began to yield.
Spread spin_look(const Host& host, const Effort& effort);
Spread yield_look(const Host& host, const Effort& effort);
/// From one failed attempt to the next, without back-off.
Spread retry(const Host& host, const Effort& effort);
/// A load from memory that `toucher` touched first, by `reader`; each follows from the one before.
Spread memory_load(const Host& host, const Effort& effort, std::uint32_t toucher,
                   std::uint32_t reader);

/// Two such loads, of which neither follows from the other.
Spread two_memory_loads(const Host& host, const Effort& effort);

// --- two threads (two_threads.cc)
using Pair = std::pair<std::uint32_t, std::uint32_t>;
/// One way of a ping-pong: one stores to a line, the other sees it by loads.
Spread one_way(const Host& host, const Effort& effort, const Pair& pair);
/// Single rounds of that ping-pong, there and back, by the clock: the lower quartile, the median,
/// the upper quartile.
Spread single_rounds(const Host& host, const Effort& effort, const Pair& pair);
/// An atomic on a line on which both do nothing else.
Spread contended_atomic(const Host& host, const Effort& effort, const Pair& pair);
/// From one thread to the other on one hardware thread, by yields.
Spread context_switch(const Host& host, const Effort& effort);
/// A futex wake: its caller's time, and the time until the sleeper runs.
struct Wake {
  Spread signal;
  Spread runs;
};
Wake futex_wake(const Host& host, const Effort& effort, const Pair& pair);
/// How long a thread runs before another of its hardware thread gets its turn; all zero when that
/// was not seen.
Spread quantum(const Host& host, const Effort& effort);

}  // namespace keyway::calibrate
