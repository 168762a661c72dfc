#include "keyway/tools/lockcheck/lock_watch.h"

#include <fmt/core.h>

#include <algorithm>

#include "keyway/locks/distributed/alock_core.h"
#include "keyway/locks/distributed/satellite.h"
#include "keyway/locks/fabric/sim/explorer_hash.h"

namespace keyway::lockcheck {

using fabric::Address;
using fabric::sim::mixed;
using fabric::sim::Operation;
using fabric::sim::OpKind;
using fabric::sim::Sight;
using fabric::sim::Standing;

LockWatch::LockWatch(const LockShape& shape, bool readers_share, std::uint32_t levels)
    : shape_(shape), readers_share_(readers_share), ids_(ids_of(shape)), agents_(shape.agents()) {
  fabric::SegmentLayout layout;
  layout.reserve(fabric::kCacheLine);  // guard words
  group_ = layout.reserve(locks::kLockLineBytes);
  layout.reserve(fabric::kCacheLine);
  line_ = layout.reserve(locks::kLockLineBytes);
  layout.reserve(fabric::kCacheLine);
  satellites_ = layout.reserve(locks::satellite_bytes(levels));
  satellites_end_ = layout.size();
  layout.reserve(fabric::kCacheLine);
  record_ = layout.reserve(fabric::kCacheLine);
  std::uint32_t per_rank = 1;
  for (const fabric::AgentId& id : ids_) per_rank = std::max(per_rank, id.slot + 1);
  owners_.assign(per_rank * shape.ranks, shape.agents());  // no agent's
  for (std::uint32_t i = 0; i < ids_.size(); ++i) {
    owners_[ids_[i].slot * shape.ranks + ids_[i].rank] = i;
  }
  nodes_ = locks::NodeRegion::reserve(layout, per_rank, shape.nodes);
  nodes_end_ = layout.size();
  layout.reserve(fabric::kCacheLine);
  segment_bytes_ = layout.size();
  published_.resize((nodes_end_ - nodes_.offset) / locks::kNodeBytes * shape.ranks / 64 + 1);
}

std::string LockWatch::name(Address a) const {
  if (in_nodes(a)) {
    const std::uint64_t in_region = a.offset() - nodes_.offset;
    const std::uint64_t node = in_region / locks::kNodeBytes % nodes_.nodes_per_agent;
    return fmt::format("agent {}'s node {}, {}", owner(a), node,
                       locks::node_word_name(word_of_node(a)));
  }
  if (a.rank() == 0 && a.offset() == record_) return "the record";
  if (a.rank() == 0 && a.offset() >= line_ && a.offset() < line_ + locks::kLockLineBytes) {
    constexpr const char* kWords[] = {"main word", "token", "holder", "second word"};
    const std::uint64_t word = (a.offset() - line_) / 8;
    return word < 4 ? fmt::format("the lock, {}", kWords[word])
                    : fmt::format("the lock, word {}", word);
  }
  if (a.rank() == 0 && a.offset() >= group_ && a.offset() < group_ + locks::kLockLineBytes) {
    return "the group's word";
  }
  if (in_satellites(a)) {
    const std::uint64_t word = (a.offset() - satellites_) / 8;
    const std::uint64_t level = (word - 1) / 2 + 2;
    if (word == 0) return fmt::format("rank {}'s counter", a.rank());
    return fmt::format("rank {}'s {} at level {}", a.rank(), word % 2 == 1 ? "tail" : "up", level);
  }
  return fmt::format("foreign memory, rank {} +{:#x}", a.rank(), a.offset());
}

std::string LockWatch::value(std::uint64_t word) const {
  const Address a = Address::from_word(word);
  if (word == 0 || !in_nodes(a)) return fmt::format("{:#x}", word);
  const std::uint64_t index = (a.offset() - nodes_.offset) / locks::kNodeBytes;
  return fmt::format("agent {}'s node {}", owner(a), index % nodes_.nodes_per_agent);
}

void LockWatch::reset() {
  std::fill(agents_.begin(), agents_.end(), Agent());
  visits_ = tokens_ = in_a_row_ = 0;
  past_leader_ = {};
  published_.assign(published_.size(), 0);
}

// --- actions of an agent

void LockWatch::asks(std::uint32_t agent) {
  Agent& me = agents_[agent];
  me.owes = me.overtaken = me.alone = false;
  me.asks = true;
  if (shape_.manner_of(agent) != Manner::kTry) me.standing = Standing::kComing;
}

std::string LockWatch::enters(std::uint32_t agent, bool alone) {
  const auto inside = [&](const Agent& other) {
    return other.standing == Standing::kInside && (alone || other.alone);
  };
  if (std::any_of(agents_.begin(), agents_.end(), inside)) {
    return alone ? fmt::format("L1: agent {} was let in alone while others were inside", agent)
                 : fmt::format("L1: reader {} was let in while a writer was inside", agent);
  }
  Agent& me = agents_[agent];
  me.standing = Standing::kInside;
  me.alone = alone;
  me.asks = me.dumps = me.looked = false;
  if (shape_.most_in_a_row != 0 && ++in_a_row_ > shape_.most_in_a_row) {
    return fmt::format("T7: {} grants in a row, and the root was kept", in_a_row_);
  }
  if (alone) {
    for (Agent& other : agents_) other.overtaken = other.overtaken || other.owes;
  }
  return passes_leader(agent);
}

std::string LockWatch::passes_leader(std::uint32_t agent) {
  const std::uint32_t mine = ids_[agent].rank == 0 ? 0 : 1;
  past_leader_[1 - mine] = 0;  // the waiting leader is granted
  const std::uint32_t most = shape_.most_past_leader[mine];
  if (most == 0 || past_leader_[mine] == 0 || past_leader_[mine]++ <= most) return {};
  return fmt::format("A6: {} grants of one cohort past a leader of the other that has yielded",
                     past_leader_[mine] - 1);
}

void LockWatch::observe_leader(const Operation& op, std::uint64_t left) {
  if (shape_.most_past_leader == std::array<std::uint32_t, 2>{}) return;
  if (op.at == site().line + locks::kVictimOffset) {
    past_leader_[(left & 3) == 1 ? 1 : 0] = 1;  // the cohort of the low bits waits for the other
  }
  // A cohort with an empty queue has no leader.
  if (op.at == site().line + locks::kLocalTailOffset && left == 0) past_leader_[1] = 0;
  if (op.at == site().line + locks::kRemoteTailOffset && left == 0) past_leader_[0] = 0;
}

void LockWatch::asks_token(std::uint32_t agent) {
  Agent& me = agents_[agent];
  me.owes = true;
  me.overtaken = false;
  me.token = tokens_ = counted(tokens_ + 1);
}

std::string LockWatch::finds(std::uint32_t agent, std::uint64_t record) {
  agents_[agent].looked = true;
  if (record == visits_) return {};
  return fmt::format(
      "L3: agent {} finds the record at {} after {} exclusive visits{}: an update was "
      "lost or is late",
      agent, record, visits_, shape_.forever ? " (modulo 2)" : "");
}

void LockWatch::leaves(std::uint32_t agent) {
  Agent& me = agents_[agent];
  me.standing = Standing::kOutside;
  if (me.alone) visits_ = counted(visits_ + 1);
}

std::string LockWatch::has_left(std::uint32_t agent) {
  Agent& me = agents_[agent];
  if (me.owes) return fmt::format("L4: agent {} received a token and did not raise it", agent);
  me.alone = false;
  me.token = 0;
  return {};
}

void LockWatch::updates_pool(std::uint32_t agent, const std::vector<std::uint32_t>& free_nodes) {
  agents_[agent].dumps = false;
  for (const std::uint32_t index : free_nodes) publish(nodes_.node(id(agent), index), false);
}

std::string LockWatch::gets_token(std::uint32_t agent, std::uint64_t token) const {
  const Agent& me = agents_[agent];
  if (counted(token) == me.token) return {};
  return fmt::format("L4: agent {} received token {}, but {} is the next", agent, token, me.token);
}

// --- operations

std::uint64_t LockWatch::number(Address node) const {
  const std::uint64_t in_rank = (node.offset() - nodes_.offset) / locks::kNodeBytes;
  return in_rank * shape_.ranks + node.rank();
}

bool LockWatch::may_write(std::uint32_t agent, Address a) const {
  if (in_nodes(a) || in_satellites(a)) return true;
  if (a.rank() != 0) return false;
  const auto within = [&](std::uint64_t offset) {
    return a.offset() >= offset && a.offset() < offset + locks::kLockLineBytes;
  };
  if (a.offset() == record_) return agents_[agent].alone;
  return within(group_) || within(line_);
}

std::string LockWatch::touches_node(std::uint32_t agent, const Operation& op, std::uint64_t left,
                                    bool writes) {
  const bool status = word_of_node(op.at) == locks::kStatusOffset;
  if (owner(op.at) == agent) {
    // Abandoned, or never known to others: either way its acquire has failed.
    const bool given_up =
        left == locks::kNodeAbandoned || (left == locks::kNodeIdle && agents_[agent].asks);
    if (status && writes && given_up) agents_[agent].dumps = true;
    return {};
  }
  // plain_queue.h: the granter of a node reads its waiter state; the turn in it tells whether the
  // node's agent has continued.
  const bool waiter_state = word_of_node(op.at) == locks::kWaiterStateOffset;
  if (waiter_state && !writes) return {};
  if (!published(op.at) && (writes || !agents_[agent].dumps)) {
    return fmt::format("N1: touch of a released node: agent {} {} {}, which no agent may know",
                       agent, writes ? "writes" : "reads", name(op.at));
  }
  if (status && writes && left == locks::kNodeIdle) publish(op.at, false);
  return {};
}

Sight LockWatch::sight(std::uint32_t agent, const Operation& op) const {
  if (!op.is_word()) return Sight::kSeen;
  const Agent& me = agents_[agent];
  if (op.at == holder()) {
    const bool unseen = op.kind == OpKind::kStore && !named_in_dumps();
    return unseen && me.standing == Standing::kInside ? Sight::kUnseen : Sight::kSeen;
  }
  if (me.standing == Standing::kInside) {
    const bool first_look = op.at == record() && op.kind == OpKind::kLoad && !me.alone;
    return first_look && !me.looked ? Sight::kOwn : Sight::kSeen;
  }
  if (shape_.timed()) return Sight::kSeen;
  const bool own = in_nodes(op.at) && owner(op.at) == agent && !published(op.at);
  const bool waiter_state = word_of_node(op.at) == locks::kWaiterStateOffset;
  const bool names = op.kind != OpKind::kLoad && in_nodes(Address::from_word(op.operand));
  return own && !waiter_state && !names ? Sight::kOwn : Sight::kSeen;
}

std::string LockWatch::raises_token(std::uint32_t agent, std::uint64_t old, std::uint64_t left) {
  Agent& me = agents_[agent];
  if (!me.owes) {
    return fmt::format("L4: agent {} changes the token, {} to {}, without a request for one", agent,
                       old, left);
  }
  if (me.overtaken) {
    return fmt::format("L4: tokens out of order: agent {} raises to {} after a later grant", agent,
                       left);
  }
  if (left != counted(old + 1) || left != me.token) {
    return fmt::format("L4: the token goes from {} to {} by the grant of agent {}", old, left,
                       agent);
  }
  me.owes = false;
  return {};
}

std::string LockWatch::observe(std::uint32_t agent, const Operation& op, std::uint64_t old) {
  const bool writes = op.kind != OpKind::kLoad && op.kind != OpKind::kRead &&
                      (op.kind != OpKind::kCompareSwap || old == op.expected);
  if (writes && !may_write(agent, op.at)) {
    return fmt::format("footprint: agent {} writes {}, which is not the lock's own", agent,
                       name(op.at));
  }
  const std::uint64_t left = kept(op.at, op.leaves(old));
  if (op.at != record() && !in_nodes(op.at) && agents_[agent].standing == Standing::kComing) {
    agents_[agent].standing = Standing::kWaiting;  // its doorway
  }
  const Address named = Address::from_word(left);
  if (writes && !tells_who_is_before(op.at) && op.is_word() && in_nodes(named) &&
      owner(named) == agent) {
    publish(named, true);
  }
  if (in_nodes(op.at)) return touches_node(agent, op, left, writes);
  if (op.at == site().line && writes && left == 0) in_a_row_ = 0;
  if (writes) observe_leader(op, left);
  if (op.at == token() && writes) return raises_token(agent, old, left);
  return {};
}

std::uint64_t LockWatch::remembered() const {
  std::uint64_t hash = mixed(mixed(visits_, tokens_), in_a_row_);
  hash = mixed(hash, past_leader_[0] << 32 | past_leader_[1]);
  for (const std::uint64_t word : published_) hash = mixed(hash, word);
  for (const Agent& agent : agents_) {
    hash =
        mixed(hash, agent.token << 8 | (agent.asks ? 32 : 0) | (agent.alone ? 16 : 0) |
                        (agent.owes ? 4 : 0) | (agent.overtaken ? 2 : 0) | (agent.dumps ? 1 : 0));
  }
  return hash;
}

}  // namespace keyway::lockcheck
