// LockWatch: looks at every operation of agents that use one lock, and says what is wrong with it.
//
// *What.* Who is inside (L1), updates of a record that only the lock makes whole (L3), the fencing
// token (L4), queue nodes that are touched while nobody may (N1), writes outside the lock's own
// words. Everything is checked at the operation that does it.
//   A node is poisoned from the time when it goes back to its agent's pool, or when the releaser
//   that stepped over it marks it idle, until its agent writes its address where others find it
//   again.
//   A dump, which a timed-out acquire makes for its message, looks at nodes without any right:
//   loads of an agent that has given up its own node are let pass until its acquire returns.
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

  // --- the program's memory: everything of its own lies between guard words that nobody may write
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
  /// Agents that never end count modulo two, so that states return; who misses an update of the
  /// holder before it still sees the wrong one of two values.
  std::uint64_t counted(std::uint64_t count) const { return shape_.forever ? count % 2 : count; }
  std::uint64_t kept(fabric::Address a, std::uint64_t word) const {
    if ((a == holder() || tells_who_is_before(a)) && !named_in_dumps()) return 0;
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
  std::string finds(std::uint32_t agent, std::uint64_t record);
  void leaves(std::uint32_t agent);
  /// After release, with everything flushed.
  std::string has_left(std::uint32_t agent);
  /// After release or a failed acquire: which of its nodes are in its pool.
  void settles(std::uint32_t agent, const std::vector<std::uint32_t>& free_nodes);
  std::string token_told(std::uint32_t agent, std::uint64_t token) const;
  std::string observe(std::uint32_t agent, const fabric::sim::Operation& op, std::uint64_t old);

  /// What lets an exploration leave out orders.
  ///   A node of the agent's own that is not published: N1 is violated by whoever touches it. Not
  ///   so its stand, at which others may look, nor where time-outs make dumps that look at all.
  ///   The holder's name that is posted, where kept() makes it the same always. (Where the store
  ///   is waited for, the agent comes in after it: a step of its own.)
  ///   A reader's first look at the record: who stores to it afterwards is inside as well (L1), or
  ///   has left before the reader came, which then sees that the store is late (L3). Not the last
  ///   look: until then it must be seen to be inside.
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
    bool owes = false;        // it was asked for its token, and the word is not raised yet
    bool overtaken = false;   // somebody was granted while it owed
    bool looked = false;      // at the record, since it entered
    bool dumps = false;       // it has given up, and looks around for its message
    std::uint64_t token = 0;  // the one that it must be told, and raise the word to
  };

  /// Whether an agent may look at the holder's name: where states need not return, a dump does.
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
  void sees_leader(const fabric::sim::Operation& op, std::uint64_t left);
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
  std::uint64_t in_a_row_ = 0;  // grants since the main word was 0, where looked at
  // Of each cohort of ALock, where looked at: grants past the other one's leader since that has
  // yielded, and 1; 0 while none waits.
  std::array<std::uint64_t, 2> past_leader_{};
  std::vector<std::uint64_t> published_;  // nodes that others may know of, a bit each
};

}  // namespace keyway::lockcheck
