// LockWatch: checks every operation of agents that use one lock, and reports violations.
//
// *What.* Checks the agents inside (L1), updates of a record that only the lock makes atomic (L3),
// the fencing token (L4), accesses to queue nodes that no agent may touch (N1), and writes outside
// the lock's own words. Each violation is detected at its operation. A node is poisoned from the
// time when it returns to its agent's pool, or when the releaser that stepped over it marks it
// idle, until its agent writes its address where other agents find it again. A dump, which a
// timed-out acquire makes for its message, reads nodes without permission: loads of an agent that
// has given up its own node are allowed until its acquire returns.
// *Thread safety.* None.
// *Source.* locks/distributed: lock.h L1 to L4, queue_node.h N1, grant_record.h.
#pragma once

#include <array>
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

  // --- the program's memory: all its data lies between guard words that no agent may write
  locks::LockSite site() const {
    return {.line = {0, line_}, .group = {0, group_}, .satellites = satellites_};
  }
  fabric::Address record() const { return {0, record_}; }
  fabric::Address holder() const { return site().line + locks::kHolderOffset; }
  fabric::Address token() const { return site().line + locks::kTokenOffset; }
  const locks::NodeRegion& nodes() const { return nodes_; }
  std::uint64_t segment_bytes() const { return segment_bytes_; }
  fabric::AgentId id(std::uint32_t agent) const { return ids_[agent]; }
  std::string name(fabric::Address a) const;
  std::string value(std::uint64_t word) const;
  /// Agents that never end count modulo two, so that states repeat; an agent that misses the
  /// previous holder's update still sees the wrong one of two values.
  std::uint64_t counted(std::uint64_t count) const { return shape_.forever ? count % 2 : count; }
  std::uint64_t kept(fabric::Address a, std::uint64_t word) const {
    if ((a == holder() || tells_who_is_before(a)) && !named_in_dumps()) return 0;
    return a == token() || a == record() ? counted(word) : word;
  }

  // --- actions of an agent; each returns the violation, or nothing
  void reset();
  void asks(std::uint32_t agent);
  /// Its deadline has passed. It is still granted if the grant came first; else it makes a dump,
  /// even if it had no node to give up.
  void expires(std::uint32_t agent) {
    agents_[agent].standing = fabric::sim::Standing::kOutside;
    agents_[agent].dumps = true;
  }
  void gives_up(std::uint32_t agent) {
    expires(agent);
    agents_[agent].asks = false;
  }
  std::string enters(std::uint32_t agent, bool alone);
  /// From now on its grant has a token, greater than all before; gets_token() checks it.
  void asks_token(std::uint32_t agent);
  /// The record as a visitor found it.
  std::string finds(std::uint32_t agent, std::uint64_t record);
  void leaves(std::uint32_t agent);
  /// After release, with everything flushed.
  std::string has_left(std::uint32_t agent);
  /// After release or a failed acquire: which of its nodes are in its pool.
  void updates_pool(std::uint32_t agent, const std::vector<std::uint32_t>& free_nodes);
  std::string gets_token(std::uint32_t agent, std::uint64_t token) const;
  std::string observe(std::uint32_t agent, const fabric::sim::Operation& op, std::uint64_t old);

  /// Lets an exploration leave out orders. Not kSeen are:
  ///   A node of the agent that is not published: an agent that touches it violates N1. This does
  ///   not hold for its waiter state, which others may read, nor if time-outs make dumps that read
  ///   it.
  ///   The holder's name that is posted, if kept() makes it always the same. (If the store is
  ///   waited for, the agent enters after it, in a separate step.)
  ///   A reader's first read of the record: an agent that stores to it later is inside as well
  ///   (L1), or has left before the reader came, which then sees that the store is late (L3). This
  ///   does not hold for the last read: until then the reader must be seen inside.
  fabric::sim::Sight sight(std::uint32_t agent, const fabric::sim::Operation& op) const;

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
    bool owes = false;        // its token was requested, and the word is not incremented yet
    bool overtaken = false;   // another agent was granted while it owed
    bool looked = false;      // at the record, since it entered
    bool dumps = false;       // it has given up, and makes a dump for its message
    std::uint64_t token = 0;  // the token that it must receive and store
  };

  /// Whether an agent may read the holder's name: if states need not repeat, a dump does.
  bool named_in_dumps() const { return shape_.timed() && !shape_.forever; }
  bool in_nodes(fabric::Address a) const {
    return a.rank() < shape_.ranks && a.offset() >= nodes_.offset && a.offset() < nodes_end_;
  }
  std::uint64_t word_of_node(fabric::Address a) const {
    return (a.offset() - nodes_.offset) % locks::kNodeBytes;
  }
  bool tells_who_is_before(fabric::Address a) const {
    return in_nodes(a) && word_of_node(a) == locks::kBeforeOffset;
  }
  std::uint32_t owner(fabric::Address node) const {
    const fabric::AgentId id = nodes_.owner(node);
    return owners_[id.slot * shape_.ranks + id.rank];
  }
  bool in_satellites(fabric::Address a) const {
    return a.rank() < shape_.ranks && a.offset() >= satellites_ && a.offset() < satellites_end_;
  }
  std::uint64_t number(fabric::Address node) const;
  bool published(fabric::Address node) const {
    const std::uint64_t n = number(node);
    return (published_[n / 64] >> n % 64 & 1) != 0;
  }
  void publish(fabric::Address node, bool known) {
    const std::uint64_t n = number(node), bit = 1ULL << n % 64;
    published_[n / 64] = (published_[n / 64] & ~bit) | (known ? bit : 0);
  }
  bool may_write(std::uint32_t agent, fabric::Address a) const;
  std::string touches_node(std::uint32_t agent, const fabric::sim::Operation& op,
                           std::uint64_t left, bool writes);
  std::string passes_leader(std::uint32_t agent);
  void observe_leader(const fabric::sim::Operation& op, std::uint64_t left);
  std::string raises_token(std::uint32_t agent, std::uint64_t old, std::uint64_t left);

  LockShape shape_;
  bool readers_share_;
  std::vector<fabric::AgentId> ids_;
  std::vector<std::uint32_t> owners_;  // agents by slot and rank
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
  std::uint64_t tokens_ = 0;    // given out
  std::uint64_t in_a_row_ = 0;  // grants since the main word was 0, if checked
  // For each cohort of ALock, if checked: grants past the other one's leader since that has
  // yielded, plus 1; 0 while none waits.
  std::array<std::uint64_t, 2> past_leader_{};
  std::vector<std::uint64_t> published_;  // nodes that others may know of, a bit each
};

}  // namespace keyway::lockcheck
