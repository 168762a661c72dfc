// The check that every run ends in: did the lock exclude?
//
// *What.* Each acquire of the warm-up (with --check every: each of all) added one to its lock's
// record by a plain load and a plain store, so a lost update shows that two were inside at once;
// readers compared two words that writers keep equal. In simulation overlaps are seen directly. The
// volume of bench dht must hold exactly what was inserted, and every read must have found its
// element.
// *Thread safety.* Free functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "keyway/locks/fabric/endpoint.h"
#include "lock_table.h"
#include "measured.h"

namespace keyway::lockbench {

struct Check {
  std::uint64_t exclusive = 0;   // exclusive grants of the whole run
  std::uint64_t increments = 0;  // increments of the counters, as counted by the agents
  std::uint64_t counter = 0;     // as memory has it
  std::uint64_t torn = 0;
  std::uint64_t overlap = 0;
  std::uint64_t inserted = 0;  // integers of bench dht, as counted by the agents
  std::uint64_t found = 0;     // in the volume, at the end
  std::uint64_t missed = 0;    // reads that did not find what was there
  std::string failure;         // empty when all is well

  bool passed() const { return failure.empty(); }
};

/// The counter of each lock, by an endpoint of an agent that takes no part, when all have ended.
template <fabric::Endpoint E>
std::vector<std::uint64_t> read_counters(E& ep, const LockTable& table) {
  std::vector<std::uint64_t> counters;
  for (std::uint32_t k = 0; k < table.size(); ++k) {
    counters.push_back(ep.load(fabric::rma, table.record(k) + kCounterOffset));
  }
  return counters;
}

/// All integers of the volume of bench dht, as for read_counters(); none in other benches.
template <fabric::Endpoint E>
std::vector<std::uint64_t> read_volume(E& ep, const LockTable& table, const Plan& plan) {
  std::vector<std::uint64_t> values;
  if (!plan.has_volume()) return values;
  store::AtomicTable<E> volume(ep, table.volume(), plan.volume);
  volume.for_each([&](std::uint64_t value) { values.push_back(value); });
  return values;
}

/// `agents` in the order of their numbers.
Check check_run(const std::vector<AgentResult>& agents, const std::vector<std::uint64_t>& counters,
                std::vector<std::uint64_t> volume = {});

}  // namespace keyway::lockbench
