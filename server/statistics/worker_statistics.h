// WorkerStatistics: the counters of one worker.
//
// *What.* For each command the numbers of calls, failures and rejections before it ran, and its
// time; errors by their kind; connections, bytes; keys found, missing or expired; hot keys and
// stripes; the locks that the sessions took. And the worker's last reading of the clock: the end of
// a request is the beginning of the next, so a pipeline costs one reading for each request and one
// for its arrival.
// *Thread safety.* Written by the worker's thread, but for clear of hot_spots; read by any.
// *Invariants.*
//   S2  Counting a request never waits, and allocates only when a worker meets a command for the
//       first time.
// *Source.* Design section 12; the figures of INFO commandstats, errorstats and latencystats.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "keyway/locks/base/clock.h"
#include "keyway/server/statistics/counter.h"
#include "keyway/server/statistics/hot_spots.h"
#include "keyway/server/statistics/latencies.h"

namespace keyway::server {

struct CommandCounters {
  Counter calls;     // calls that ran
  Counter failed;    // those calls that answered with an error
  Counter rejected;  // requests that did not run
  Counter ns;        // time of all calls
  Latencies latencies;
};

/// The number of error replies of each kind: ERR, WRONGPASS, ...
class ErrorCounters {
 public:
  static constexpr std::size_t kMaxKinds = 32;  // beyond these, errors count without their kind
  static constexpr std::size_t kLongestKind = 23;

  void add(std::string_view kind);
  /// Calls visit(kind, count).
  template <class Visit>
  void each(Visit&& visit) const {
    // acquire: a kind's name, which is written once, is there.
    const std::size_t used = used_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < used; ++i) visit(kinds_[i].text(), kinds_[i].count.value());
  }

 private:
  struct Kind {
    std::array<char, kLongestKind> name{};
    std::uint8_t bytes = 0;
    Counter count;
    std::string_view text() const { return {name.data(), bytes}; }
  };
  std::array<Kind, kMaxKinds> kinds_;
  std::atomic<std::size_t> used_{0};
};

/// Counts of the locks of a fiber's session, as last published, of its reads that took none or, of
/// other nodes, tried to do without, and of what owners there did for it.
struct LockCounters {
  Counter shared, exclusive, contended, handed_over, timeouts, not_needed;
  Counter warm, cold, refused;
  Counter reads_by_owners, reads_repeated, edits_by_owners;
  Counter messages, round_trips, loopbacks, flushes;
};

class WorkerStatistics {
 public:
  /// For commands with a number below `commands`.
  WorkerStatistics(std::size_t commands, std::size_t fibers, std::uint64_t seed);
  ~WorkerStatistics();
  WorkerStatistics(const WorkerStatistics&) = delete;
  WorkerStatistics& operator=(const WorkerStatistics&) = delete;

  // --- for the worker's thread
  /// Its last reading of the clock, in ns of steady_ns().
  std::uint64_t now_ns() const { return now_ns_; }
  std::uint64_t look_at_clock() { return now_ns_ = steady_ns(); }
  CommandCounters& of(std::size_t command) {
    // relaxed: this thread put it there.
    CommandCounters* counters = commands_[command].load(std::memory_order_relaxed);
    return counters != nullptr ? *counters : make(command);
  }

  // --- for any thread
  /// Null if the worker has not met the command.
  const CommandCounters* look_at(std::size_t command) const {
    return commands_[command].load(std::memory_order_acquire);  // the object that make() made is
                                                                // complete
  }

  Counter calls;  // for all commands
  ErrorCounters errors;
  Counter error_replies;
  Counter connections;         // at present
  Counter connections_all;     // accepted so far
  Counter connections_parked;  // at present: their requests wait for something
  Counter bytes_in, bytes_out;
  Counter reads, writes;  // on sockets, with at least one byte
  Counter hits, misses;   // keys that were to be read: those that were there, and the others
  Counter expired;        // keys that the sweep has removed
  std::vector<LockCounters> locks;  // for each fiber's session
  HotSpots hot_spots;

 private:
  CommandCounters& make(std::size_t command);

  std::uint64_t now_ns_ = 0;
  std::vector<std::atomic<CommandCounters*>> commands_;  // owned
};

}  // namespace keyway::server
