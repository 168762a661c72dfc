// measure_costs(): measures the present costs of the primitives of locks, for choose().
//
// *What.* One agent executes a few hundred operations of each type on words that no other agent
// uses, in batches, and takes the median of the batches. On slow fabrics it ends early: a type
// exceeds its budget by at most one operation. The agent should be alone; interference is measured
// as well.
// *Thread safety.* The words belong to this agent meanwhile. They are restored afterwards.
// *Source.* Ours.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "keyway/locks/base/topology.h"
#include "keyway/locks/distributed/choose.h"
#include "keyway/locks/fabric/endpoint.h"

namespace keyway::locks {

/// How much to measure, for each type of operation.
struct CostEffort {
  std::uint32_t operations = 256;
  std::uint32_t batch = 16;  // at most
  std::chrono::nanoseconds budget = std::chrono::milliseconds(20);
};

/// The two words, at the same offset in every rank: one for either class of atomics.
struct CostProbe {
  std::uint64_t cpu = 0;
  std::uint64_t rma = 0;
};

/// Median ns of one operation over batches of 1, 1, 2, 4, ... operations. The first batch is a
/// warm-up.
template <fabric::Endpoint E, class Operation>
double median_ns(const E& ep, const CostEffort& effort, Operation&& operation) {
  std::vector<double> each;
  const std::uint64_t begun = ep.now_ns();
  const auto most = static_cast<std::uint64_t>(effort.budget.count());
  std::uint32_t batch = 1;
  for (std::uint32_t done = 0; done < effort.operations; done += batch) {
    if (each.size() > 1) batch = std::min(2 * batch, effort.batch);
    const std::uint64_t from = ep.now_ns();
    for (std::uint32_t i = 0; i < batch; ++i) operation();
    const std::uint64_t now = ep.now_ns();
    each.push_back(static_cast<double>(now - from) / batch);
    if (now - begun > most) break;
  }
  if (each.size() > 1) each.erase(each.begin());
  const auto middle = each.begin() + static_cast<std::ptrdiff_t>(each.size() / 2);
  std::nth_element(each.begin(), middle, each.end());
  return *middle;
}

/// Nodes of the machine that a job has, and so counters of an RMA-RW lock.
inline std::uint32_t nodes_of(const Topology& topology) {
  const std::uint32_t level = topology.level_named("node");
  return level == 0 ? 1 : topology.level(level).elements;
}

/// A rank that the agent reaches through the fabric only; its own if there is none.
template <fabric::Endpoint E>
std::uint32_t far_rank(const E& ep) {
  for (std::uint32_t rank = 0; rank < ep.ranks(); ++rank) {
    if (!ep.is_local(rank)) return rank;
  }
  return ep.rank();
}

template <fabric::Endpoint E>
PrimitiveCosts measure_costs(E& ep, const CostProbe& probe, const CostEffort& effort = {}) {
  constexpr std::uint32_t kMore = 7;  // with the first one, a power of two as result slots are
  const fabric::Address mine{ep.rank(), probe.cpu};
  const fabric::Address near{ep.rank(), probe.rma};
  const fabric::Address far{far_rank(ep), probe.rma};
  const std::uint32_t there = far.rank();
  const auto ns = [&](auto&& operation) { return median_ns(ep, effort, operation); };
  const auto posted = [&](std::uint32_t atomics) {
    for (std::uint32_t i = 0; i < atomics; ++i) ep.post_fetch_add(fabric::rma, far, 0);
    ep.flush(there);
  };
  const auto store_and_load = [&](bool in_order) {
    ep.post_store(fabric::rma, far, 0);
    if (in_order) ep.order(there);
    ep.post_load(fabric::rma, far);
    ep.flush(there);
  };
  const auto nodes = static_cast<double>(nodes_of(ep.topology()));
  PrimitiveCosts costs{.nodes = nodes, .counters = nodes};
  costs.cpu_atomic_ns = ns([&] { ep.fetch_add(fabric::cpu, mine, 0); });
  costs.loopback_ns = ns([&] { ep.fetch_add(fabric::rma, near, 0); });
  costs.rma_atomic_ns = ns([&] { ep.fetch_add(fabric::rma, far, 0); });
  costs.posted_ns = (ns([&] { posted(1 + kMore); }) - ns([&] { posted(1); })) / kMore;
  costs.order_ns = ns([&] { store_and_load(true); }) - ns([&] { store_and_load(false); });
  for (double* difference : {&costs.posted_ns, &costs.order_ns}) {
    *difference = std::max(*difference, 0.0);  // difference of two medians: noise may make it
                                               // negative
  }
  return costs;
}

}  // namespace keyway::locks
