// LockWatch: looks at every operation of agents that use one lock, and says what is wrong with it.
//
// *What.* Who is inside (L1), updates of a record that only the lock makes whole (L3), the fencing
// token (L4), queue nodes that are touched while nobody may (N1), writes outside the lock's own
// words. Everything is checked at the operation that does it.
//   A node is poisoned from the time when it goes back to its agent's pool, or when the releaser
//   that
// stepped over it marks it idle, until its agent writes its address where others find it again.
//   A dump, which a timed-out acquire makes for its message, looks at nodes without any right:
//   loads
// of an agent that has given up its own node are let pass until its acquire returns.
// *Thread safety.* None.
// *Source.* locks/distributed: lock.h L1 to L4, queue_node.h N1, grant_record.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/queue_node.h"
#include "keyway/locks/fabric/segment.h"
#include "keyway/locks/fabric/sim/program.h"
#include "keyway/tools/lockcheck/lock_shape.h"

namespace keyway::lockcheck {

class LockWatch {
 public:
  LockWatch(const LockShape& shape, bool readers_share, std::uint32_t levels);

  // --- the program's memory: everything of its own lies between guard words that nobody may write
  locks::LockSite site() const {
    return {.line = {0, line_}, .group = {0, group_}, .satellites = satellites_};
  }
  fabric::Address record() const { return {0, record_}; }
  fabric::Address token() const { return site().line + locks::kTokenOffset; }
  const locks::NodeRegion& nodes() const { return nodes_; }
  std::uint64_t segment_bytes() const { return segment_bytes_; }
  fabric::AgentId id(std::uint32_t agent) const {
    return {agent % shape_.ranks, agent / shape_.ranks};
  }
  std::string name(fabric::Address a) const;
  std::string value(std::uint64_t word) const;
  /// Agents that never end count modulo two, so that states return; who misses an update of the
  /// holder before it still sees the wrong one of two values.
  std::uint64_t counted(std::uint64_t count) const { return shape_.forever ? count % 2 : count; }
  std::uint64_t kept(fabric::Address a, std::uint64_t word) const {
    if (shape_.forever && a == site().line + locks::kHolderOffset) return 0;
    return a == token() || a == record() ? counted(word) : word;
  }

  // --- what an agent does; each returns what is wrong, or nothing
  void reset();
  void asks(std::uint32_t agent);
  /// Its deadline has passed. It may get the lock all the same, if the grant came first; else it
  /// makes a dump, also where it had no node to give up.
  void expires(std::uint32_t agent) {
    agents_[agent].standing = fabric::sim::Standing::kOutside;
    agents_[agent].dumps = true;
  }
  void gives_up(std::uint32_t agent) {
    expires(agent);
    agents_[agent].asks = false;
  }
  std::string enters(std::uint32_t agent, bool alone);
  /// From now on its grant has a token, which nobody was given before; token_told() looks at it.
  void asks_token(std::uint32_t agent);
  /// The record as a visitor found it.
  std::string finds(std::uint32_t agent, std::uint64_t record) const;
  void leaves(std::uint32_t agent);
  /// After release, with everything flushed.
  std::string has_left(std::uint32_t agent);
  /// After release or a failed acquire: which of its nodes are in its pool.
  void settles(std::uint32_t agent, const std::vector<std::uint32_t>& free_nodes);
  std::string token_told(std::uint32_t agent, std::uint64_t token) const;
  std::string observe(std::uint32_t agent, const fabric::sim::Operation& op, std::uint64_t old);

  fabric::sim::Standing standing(std::uint32_t agent) const { return agents_[agent].standing; }
  std::uint64_t remembered() const;
  /// Exclusive visits so far.
  std::uint64_t visits() const { return visits_; }
  std::uint64_t tokens() const { return tokens_; }

 private:
  struct Agent {
    fabric::sim::Standing standing = fabric::sim::Standing::kOutside;
    bool asks = false;        // is in a call of acquire or try_acquire
    bool alone = false;       // its grant is exclusive
    bool owes = false;        // it was asked for its token, and the word is not raised yet
    bool overtaken = false;   // somebody was granted while it owed
    bool dumps = false;       // it has given up, and looks around for its message
    std::uint64_t token = 0;  // the one that it must be told, and raise the word to
  };

  bool in_nodes(fabric::Address a) const {
    return a.rank() < shape_.ranks && a.offset() >= nodes_.offset && a.offset() < nodes_end_;
  }
  std::uint64_t word_of_node(fabric::Address a) const {
    return (a.offset() - nodes_.offset) % locks::kNodeBytes;
  }
  std::uint32_t owner(fabric::Address node) const {
    const fabric::AgentId id = nodes_.owner(node);
    return id.slot * shape_.ranks + id.rank;
  }
  bool in_satellites(fabric::Address a) const {
    return a.rank() < shape_.ranks && a.offset() >= satellites_ && a.offset() < satellites_end_;
  }
  std::uint64_t bit(fabric::Address node) const;
  bool may_write(std::uint32_t agent, fabric::Address a) const;
  std::string touches_node(std::uint32_t agent, const fabric::sim::Operation& op,
                           std::uint64_t left, bool writes);
  std::string raises_token(std::uint32_t agent, std::uint64_t old, std::uint64_t left);

  LockShape shape_;
  bool readers_share_;
  locks::NodeRegion nodes_;
  std::uint64_t nodes_end_ = 0;
  std::uint64_t group_ = 0;
  std::uint64_t line_ = 0;
  std::uint64_t satellites_ = 0;  // on every rank
  std::uint64_t satellites_end_ = 0;
  std::uint64_t record_ = 0;
  std::uint64_t segment_bytes_ = 0;
  std::vector<Agent> agents_;
  std::uint64_t visits_ = 0;
  std::uint64_t tokens_ = 0;     // given out
  std::uint64_t in_a_row_ = 0;   // grants since the main word was 0, where that is looked at
  std::uint64_t published_ = 0;  // nodes that others may know of, a bit each
};

}  // namespace keyway::lockcheck
