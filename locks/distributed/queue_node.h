// Queue nodes: the words on which the queued kinds wait, and each agent's pool of them.
//
// *What.* A node is a cache line in its agent's home rank: a link to the next node and a status.
// Every rank has room for nodes_per_agent nodes for each agent slot, at the same offset.
// *Thread safety.* A NodePool belongs to one agent. The lock that uses a node defines how its words
// are shared.
// *Invariants.*
//   N1  A node that another agent may still touch is never handed out: a waiter that gives up
//       leaves its node `abandoned`, and only the releaser that steps over it makes it `idle`. A
//       node that its agent leaves in a queue on behalf of others is `delegated`, and the agent
//       that releases that queue makes it `idle`.
//   N2  N1 also holds when the agent's slot goes to a new agent: the status is in the segment.
// *Source.* HPDC'16 section 2.4 (NEXT and WAIT); giving up follows the skipping of Scott and
// Scherer's timed queue locks (PPoPP'01), with the node kept out of use instead of unlinked.
#pragma once

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/status.h"
#include "keyway/locks/fabric/endpoint.h"
#include "keyway/locks/fabric/segment.h"

namespace keyway::locks {

/// States of a node. The state is in bits 7..0 of its status word; the 56 bits above are the
/// granter's payload for the agent that it grants. A delegated node keeps the payload for the agent
/// that releases it.
enum NodeState : std::uint64_t {
  kNodeIdle = 0,       // no other agent refers to it
  kNodeWaiting = 1,    // its agent waits to be granted
  kNodeGranted = 2,    // its agent holds the queue
  kNodeAbandoned = 3,  // its agent gave up; the next releaser steps over it
  kNodeDelegated = 4,  // its agent has gone, and the node still holds the queue for others
};
inline constexpr std::uint32_t kPayloadShift = 8;
inline constexpr std::uint64_t kMaxPayload = (1ULL << (64 - kPayloadShift)) - 1;

constexpr std::uint64_t node_state(std::uint64_t status) {
  return status & ((1ULL << kPayloadShift) - 1);
}
constexpr std::uint64_t node_payload(std::uint64_t status) { return status >> kPayloadShift; }
constexpr std::uint64_t granted_with(std::uint64_t payload) {
  return payload << kPayloadShift | kNodeGranted;
}
constexpr std::uint64_t delegated_with(std::uint64_t payload) {
  return payload << kPayloadShift | kNodeDelegated;
}
static_assert(node_payload(granted_with(kMaxPayload)) == kMaxPayload);
static_assert(node_state(granted_with(kMaxPayload)) == kNodeGranted);

inline constexpr std::uint64_t kNodeBytes = fabric::kCacheLine;
inline constexpr std::uint64_t kNextOffset = 0;
inline constexpr std::uint64_t kStatusOffset = 8;
// Word 2 is queue_tree.h's. Word 3, by the node's agent alone, for dumps (mcs_queue.h D4):
inline constexpr std::uint64_t kBeforeOffset = 24;
// Words 5 and 7 belong to plain_queue.h, between uses of the node as well.
inline constexpr std::uint64_t kGrantOffset = 40;
inline constexpr std::uint64_t kWaiterStateOffset = 56;
/// The name of a node's word, by its offset, for people.
constexpr const char* node_word_name(std::uint64_t offset) {
  switch (offset) {
    case kNextOffset: return "next";
    case kStatusOffset: return "status";
    case kBeforeOffset: return "before";
    case kGrantOffset: return "grant";
    case kWaiterStateOffset: return "waiter state";
    default: return "unused";
  }
}
inline constexpr std::uint32_t kDefaultNodesPerAgent = 256;
inline constexpr std::uint64_t kMaxNodesPerRank = (1ULL << 24) - 1;  // waiter_link.h
/// Nodes that a dump reads in one queue or list, which may change while it is walked.
inline constexpr std::size_t kMaxDumped = 256;

/// The place of every rank's nodes. The same on all ranks.
struct NodeRegion {
  std::uint64_t offset = 0;
  std::uint32_t nodes_per_agent = 0;
  std::uint32_t agents_per_rank = 0;

  static NodeRegion reserve(fabric::SegmentLayout& layout, std::uint32_t agents_per_rank,
                            std::uint32_t nodes_per_agent = kDefaultNodesPerAgent) {
    NodeRegion made{0, nodes_per_agent, agents_per_rank};
    KW_CHECK(made.nodes_per_rank() <= kMaxNodesPerRank);
    made.offset = layout.reserve(kNodeBytes * made.nodes_per_rank());
    return made;
  }
  fabric::Address node(fabric::AgentId agent, std::uint32_t index) const {
    return numbered(agent.rank, std::uint64_t{agent.slot} * nodes_per_agent + index);
  }
  bool has(fabric::Address node) const {
    return node.offset() >= offset && node.offset() % kNodeBytes == offset % kNodeBytes &&
           number(node) < nodes_per_rank();
  }
  /// Nodes of each rank. Each has a number below this, in the order of their places.
  std::uint64_t nodes_per_rank() const { return std::uint64_t{nodes_per_agent} * agents_per_rank; }
  std::uint64_t number(fabric::Address node) const { return (node.offset() - offset) / kNodeBytes; }
  fabric::Address numbered(std::uint32_t rank, std::uint64_t number) const {
    return {rank, offset + number * kNodeBytes};
  }
  /// The agent that owns a node: a queue names its waiters by this.
  fabric::AgentId owner(fabric::Address node) const {
    return {node.rank(), static_cast<std::uint32_t>(number(node) / nodes_per_agent)};
  }
};

/// Whether a dump may read `node`: it is the address of a node (another kind may have left any word
/// there), and its rank answers.
template <fabric::Endpoint E>
bool can_be_dumped(E& ep, const NodeRegion& region, fabric::Address node) {
  constexpr std::chrono::seconds kPatience(1);
  if (node.rank() >= ep.ranks() || !region.has(node)) return false;
  return node.rank() == ep.rank() || ep.answers(node.rank(), Deadline::within(kPatience));
}

template <fabric::Endpoint E>
class NodePool {
 public:
  NodePool(E& ep, const NodeRegion& region)
      : ep_(ep), region_(region), first_(region.node(ep.agent(), 0)) {
    KW_CHECK(ep.agent().slot < region.agents_per_rank);
    free_.reserve(region.nodes_per_agent);
    for (std::uint32_t i = region.nodes_per_agent; i-- > 0;) {
      (is_referred_to(i) ? limbo_ : free_).push_back(i);  // N2
    }
    limbo_.reserve(region.nodes_per_agent);
  }

  /// The index of a node that no agent refers to.
  Result<std::uint32_t> take() {
    if (free_.empty()) [[unlikely]] {
      if (Status none = reclaim(); !none.ok()) return none;
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  void recycle(std::uint32_t index) { free_.push_back(index); }
  /// Its agent gave up waiting, and has marked it so; N1.
  void abandon(std::uint32_t index) { limbo_.push_back(index); }
  /// Its agent leaves it in a queue for others to release, and has marked it so; N1.
  void delegate(std::uint32_t index) { limbo_.push_back(index); }

  fabric::Address address(std::uint32_t index) const { return first_ + index * kNodeBytes; }
  /// For checks: the nodes that no agent may touch, and those that others have yet to leave.
  const std::vector<std::uint32_t>& free_nodes() const { return free_; }
  const std::vector<std::uint32_t>& nodes_in_limbo() const { return limbo_; }
  const NodeRegion& region() const { return region_; }

 private:
  // Read by the `cpu` class: an agent does not use its network card for its own nodes.
  bool is_referred_to(std::uint32_t index) {
    return is_in_use(ep_.load(fabric::cpu, address(index) + kStatusOffset));
  }
  static bool is_in_use(std::uint64_t status) {
    return node_state(status) == kNodeAbandoned || node_state(status) == kNodeDelegated;
  }
  /// Other agents have written both words, and their stores must be over before the agent's own
  /// next store. So it reads the words by a wait for them, which nothing else can end (ORDERING.md,
  /// O5).
  bool has_come_back(std::uint32_t index) {
    if (is_referred_to(index)) return false;
    const auto any = [](std::uint64_t) { return true; };
    ep_.wait_until(address(index) + kStatusOffset, any, Deadline::never());
    ep_.wait_until(address(index) + kNextOffset, any, Deadline::never());
    return true;
  }
  [[gnu::noinline]] Status reclaim() {
    // A node leaves the list before it is looked at: the agent may have bodies that all come here,
    // and change places at a wait (overlap.h).
    for (std::size_t left = limbo_.size(); left > 0 && !limbo_.empty(); --left) {
      const std::uint32_t index = limbo_.front();
      limbo_.erase(limbo_.begin());
      (has_come_back(index) ? free_ : limbo_).push_back(index);
    }
    if (!free_.empty()) return {};
    return Status(Code::kUnavailable,
                  fmt::format("the agent's {} queue nodes are all in use; raise "
                              "nodes_per_agent (of a store: locks_per_session) or hold fewer locks "
                              "at once",
                              region_.nodes_per_agent));
  }

  E& ep_;
  NodeRegion region_;
  fabric::Address first_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> limbo_;
};

}  // namespace keyway::locks
