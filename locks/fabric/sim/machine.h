// Machine: what operations cost on a simulated machine of nodes with network cards.
//
// *What.* An `rma` operation waits for its origin's card, travels to its target, waits for the
// target's card, is served there, and travels back. A card serves in the order of arrival, which is
// where contention comes from. A `cpu` operation costs its agent a fixed time. All times are ns.
// *Thread safety.* Plain data.
#pragma once

#include <cstdint>
#include <vector>

namespace keyway::fabric::sim {

/// A path between two ranks: what one way takes.
struct Path {
  double latency_ns = 0;
  double ns_per_byte = 0;  // of a read's or write's bytes; a word is part of the message
};

/// A network card: how long it is busy with one operation.
struct Card {
  double issue_ns = 0;   // at the origin
  double atomic_ns = 0;  // at the target: read-modify-write of a word
  double read_ns = 0;    // load, bulk read
  double write_ns = 0;   // store, bulk write
  /// Service times at the target are drawn from exponential distributions with these means.
  bool random_service = false;
};

struct Processor {
  double load_ns = 0;
  double store_ns = 0;
  double atomic_ns = 0;
  double ns_per_byte = 0;
  /// From a change of a word to when an agent that polls it has seen it.
  double poll_ns = 0;
};

struct Machine {
  /// By the finest level of the topology that two ranks share, 1 (the whole machine) first. The
  /// last path is that of a rank to itself, through its own card.
  std::vector<Path> paths;
  Card card;
  Processor cpu;
};

}  // namespace keyway::fabric::sim
