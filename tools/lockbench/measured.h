// The results of one agent, and the part that a process sends to rank 0.
//
// *Thread safety.* Plain data of one agent; Latencies of one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fairness.h"
#include "keyway/locks/base/histogram.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/fabric/counting_endpoint.h"

namespace keyway::lockbench {

/// In ns. Agents that share a thread share these: a histogram takes 75 KiB.
struct Latencies {
  Histogram acquire;
  Histogram release;
  Histogram both;

  void merge(const Latencies& other) {
    acquire.merge(other.acquire);
    release.merge(other.release);
    both.merge(other.both);
  }
};

/// For one lock, by one agent, over the whole run.
struct LockUse {
  std::uint64_t exclusive = 0;   // exclusive grants
  std::uint64_t increments = 0;  // increments of the record's counter
};

/// The i-th integer that an agent inserts: no two are alike, and none is 0.
constexpr std::uint64_t volume_key(std::uint32_t agent, std::uint64_t i) {
  return (static_cast<std::uint64_t>(agent) << 40 | i) + 1;
}

struct AgentResult {
  /// Accesses that are recorded at most, for fairness.
  static constexpr std::size_t kMaxAccesses = 1 << 20;

  std::uint64_t begin_ns = 0;  // start of the measured part
  std::uint64_t end_ns = 0;
  std::uint64_t end_order = kEndOfOrder;
  std::uint64_t exclusive = 0;  // measured grants
  std::uint64_t shared = 0;
  std::uint64_t torn = 0;      // times that the two words differed under a reader
  std::uint64_t overlap = 0;   // times that an excluded agent was inside
  std::uint64_t inserted = 0;  // bench dht: inserted volume_key() of 0 up to this
  std::uint64_t missed = 0;    // reads that did not find what is there
  std::vector<LockUse> use;    // by lock
  std::vector<Access> accesses;
  locks::LockStats stats;   // for the measured part
  fabric::OpCounts counts;  // for the measured part; no levels if not counted
  std::string trouble;      // why it stopped early
};

/// All agents of a process, or of a job.
struct Team {
  std::vector<AgentResult> agents;
  Latencies latencies;
};

void append(std::string& out, const AgentResult& result);
/// False when `in` does not begin with such a result.
bool take(std::string_view& in, AgentResult& result);

}  // namespace keyway::lockbench
