// Machine: the shape of a simulated machine and the costs of operations on it.
//
// *What.* A distributed machine has nodes, and each node one network card that its ranks share. An
// `rma` operation waits for its origin's card, travels to its target's node, waits for the card
// there, is served, and travels back (network.h). An operation on the agent's own node is loopback:
// it goes through the node's own card, with separate costs. A card serves in order of arrival,
// which causes contention. A `cpu` operation costs its agent a fixed time. machine_file.h reads one
// from TOML, in which every figure has its unit and its source.
// *Thread safety.* Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "keyway/locks/fabric/sim/multicore.h"

namespace keyway::fabric::sim {

/// Which ranks lie where: consecutive ranks fill a node, consecutive nodes a rack.
struct Shape {
  std::uint32_t ranks_per_node = 1;
  std::uint32_t nodes_per_rack = 0;  // 0: no racks
};

/// One way between two nodes, by the finest level of the topology that they share.
struct Path {
  double latency_ns = 0;
  double ns_per_byte = 0;  // for bulk bytes; a word is part of the message
};

/// The times for which one operation occupies a network card.
struct Card {
  double issue_ns = 0;     // at the origin
  double atomic_ns = 0;    // at the target: read-modify-write of a word
  double read_ns = 0;      // at the target: load, bulk read
  double write_ns = 0;     // at the target: store, bulk write
  double ns_per_byte = 0;  // at both, in addition: for bulk bytes
  double crowding_ns = 0;  // at the target, beyond the above: for each operation that is waiting
};

/// An atomic of the `rma` class as the node's processors see it: a read, and later a write.
struct Atomicity {
  /// From the card's read of a word to its write; the write is where atomic_ns ends.
  double gap_ns = 0;
};

/// The queue pairs (agent and target rank) with state on a card; the card fetches the others'
/// state.
struct QueuePairs {
  std::uint32_t cached = 0;  // 0: the card keeps none, as one without connections
  double miss_ns = 0;        // added to what an operation occupies the card for
};

/// Extra delay of an operation on its way out, drawn for each.
struct Jitter {
  double max_ns = 0;   // 0: none
  double mean_ns = 0;  // 0: uniform up to max_ns; else exponential of that mean, cut at max_ns
};

struct Processor {
  double load_ns = 0;
  double store_ns = 0;
  double atomic_ns = 0;
  double ns_per_byte = 0;
  /// From a change of a word to when an agent that polls it has seen it.
  double poll_ns = 0;
};

struct Semantics {
  /// Operations of one queue pair take effect in the order in which they were posted.
  bool ordered = false;
  /// When all ranks are on one node, the `rma` class is the `cpu` class.
  bool one_node_is_one_class = false;
  /// Service times of a card are exponential with the means given: for checks against theory.
  bool random_service = false;
};

/// The source of a figure, and the bounds of its plausible values.
struct ParameterNote {
  std::string source;
  double least = 0;
  double most = 0;  // both equal the value if the file gives no range
};

struct Machine {
  std::string name;
  /// A coherent machine is one multicore node: all else here is a distributed one's.
  std::optional<Multicore> multicore;
  Shape shape;
  Path machine;  // between racks, or between nodes if there are none
  Path rack;     // between nodes of one rack
  Path loopback;
  Card card;
  Card loopback_card;
  Atomicity atomicity;
  QueuePairs queue_pairs;
  Jitter jitter;
  Processor cpu;
  Semantics semantics;
  std::map<std::string, ParameterNote> notes;  // by dotted name; empty when not from a file
};

}  // namespace keyway::fabric::sim
