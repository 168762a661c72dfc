// Machine: what operations cost on a simulated machine, and the shape of that machine.
//
// *What.* A distributed machine has nodes, and each node one network card that its ranks share. An
// `rma` operation waits for its origin's card, travels to its target's node, waits for the card
// there, is served, and travels back (network.h). One to the agent's own node is loopback: it goes
// through the node's own card, at figures of its own. A card serves in the order of arrival, which
// is where contention comes from. A `cpu` operation costs its agent a fixed time.
// machine_file.h reads one from TOML, where every figure carries its unit and its source.
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
  double ns_per_byte = 0;  // of bulk bytes; a word is part of the message
};

/// What one operation occupies a network card for.
struct Card {
  double issue_ns = 0;     // at the origin
  double atomic_ns = 0;    // at the target: read-modify-write of a word
  double read_ns = 0;      // at the target: load, bulk read
  double write_ns = 0;     // at the target: store, bulk write
  double ns_per_byte = 0;  // at both, beyond the above: of bulk bytes
  double crowding_ns = 0;  // at the target, beyond the above: for each operation that is waiting
};

/// What an atomic of the `rma` class is to the node's processors: a read, and later a write.
struct Atomicity {
  /// From the card's read of a word to its write; the write is where atomic_ns ends.
  double gap_ns = 0;
};

/// The queue pairs (agent and target rank) whose state a card keeps on chip; the others it fetches.
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

/// Where a figure comes from, and within which bounds it may well lie.
struct ParameterNote {
  std::string source;
  double least = 0;
  double most = 0;  // both equal the value where the file gives no range
};

struct Machine {
  std::string name;
  /// A coherent machine is one multicore node: all else here is a distributed one's.
  std::optional<Multicore> multicore;
  Shape shape;
  Path machine;  // between racks, or between nodes where there are none
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
