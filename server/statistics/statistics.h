// Statistics: the figures of all workers, added up.
//
// *What.* Reads what the workers count. reset() remembers how far they are, and what is read from
// then on is beyond that: their counters have one writer each, and no other thread writes them.
// *Thread safety.* Workers are added before the first read; then any thread may call all of it.
// *Invariants.* S3: a figure is the sum over all workers, less what it was at the last reset.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "keyway/locks/base/mutex.h"
#include "keyway/server/statistics/pace.h"
#include "keyway/server/statistics/worker_statistics.h"

namespace keyway::server {

/// One command, all workers.
struct CommandTotals {
  std::uint64_t calls = 0;
  std::uint64_t failed = 0;
  std::uint64_t rejected = 0;
  std::uint64_t ns = 0;
  LatencyTable latencies;

  CommandTotals& operator-=(const CommandTotals& earlier);
};

/// All commands and connections, all workers.
struct Totals {
  std::uint64_t calls = 0;
  std::uint64_t error_replies = 0;
  std::uint64_t connections_all = 0;
  std::uint64_t connections_rejected = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t expired = 0;

  Totals& operator-=(const Totals& earlier);
};

struct LockTotals {
  std::uint64_t shared = 0;
  std::uint64_t exclusive = 0;
  std::uint64_t contended = 0;
  std::uint64_t handed_over = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t not_needed = 0;  // reads of keys of this node
  // Reads of single keys on other nodes, by way.
  std::uint64_t warm = 0;
  std::uint64_t cold = 0;
  std::uint64_t refused = 0;
  std::uint64_t reads_by_owners = 0;
  std::uint64_t edits_by_owners = 0;
  std::uint64_t messages = 0;  // to other nodes
  std::uint64_t round_trips = 0;
  std::uint64_t loopbacks = 0;       // operations of the fabric on this node
  std::uint64_t reads_repeated = 0;  // elements asked for again
  std::uint64_t flushes = 0;         // of MPI's window
};

class Statistics {
 public:
  /// For commands with numbers below `commands`.
  explicit Statistics(std::size_t commands) : commands_(commands) {}
  /// Adds a worker, before any thread reads.
  WorkerStatistics& add_worker(std::size_t fibers);
  std::size_t workers() const { return workers_.size(); }

  /// By the number of a command.
  CommandTotals command(std::size_t command) const;
  Totals totals() const;
  std::map<std::string, std::uint64_t> errors() const;  // by kind
  std::uint64_t connections() const;                    // at present
  std::uint64_t connections_parked() const;
  LockTotals locks() const;  // since the start
  HotReport hottest(Spot spot, Access access, std::size_t most) const;
  void reset();

  /// How much there is in each second, as pace() last saw it.
  const Pace& calls_pace() const { return calls_pace_; }
  const Pace& bytes_in_pace() const { return bytes_in_pace_; }
  const Pace& bytes_out_pace() const { return bytes_out_pace_; }
  /// To be called each Pace::kApart, by one thread.
  void pace(std::uint64_t now_ns);

  /// Counts clients that were rejected because there were too many. relaxed: a statistic.
  void reject_connection() { rejected_.fetch_add(1, std::memory_order_relaxed); }

 private:
  CommandTotals counted(std::size_t command) const;
  Totals counted() const;
  std::map<std::string, std::uint64_t> counted_errors() const;

  const std::size_t commands_;
  std::vector<std::unique_ptr<WorkerStatistics>> workers_;
  std::atomic<std::uint64_t> rejected_{0};
  Pace calls_pace_, bytes_in_pace_, bytes_out_pace_;

  mutable Mutex mutex_;
  // As of the last reset.
  std::map<std::size_t, CommandTotals> command_base_ KW_GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> error_base_ KW_GUARDED_BY(mutex_);
  Totals base_ KW_GUARDED_BY(mutex_);
};

}  // namespace keyway::server
