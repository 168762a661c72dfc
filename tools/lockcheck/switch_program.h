// SwitchProgram: agents that use one stripe while others change the kind of its lock, as a program
// for the explorer.
//
// *What.* Readers and writers visit a record as in lock_program.h; switchers activate one kind
// after the other. Checked: exclusion across kinds (L1), updates that only the lock makes atomic
// (L3), data that is read together with the check of the kind's word (W2), tokens that increase
// across kinds (L4). At the end every lock, active or not, must be free (L2), and an agent that
// remembers any kind must be granted. The exploration of each kind checks its nodes and words.
// *Stale agents.* An agent that begins with the other kind represents one that remembers an old
// kind.
// *Thread safety.* None, as the explorer.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "keyway/locks/base/topology.h"
#include "keyway/locks/distributed/satellite.h"
#include "keyway/locks/distributed/stripe_lock.h"
#include "keyway/locks/fabric/sim/explorer.h"
#include "keyway/locks/fabric/sim/explorer_hash.h"
#include "keyway/locks/fabric/sim/sim_endpoint.h"
#include "keyway/tools/lockcheck/agent_digest.h"
#include "keyway/tools/lockcheck/lock_shape.h"

namespace keyway::lockcheck {

struct SwitchShape {
  std::uint32_t readers = 1;  // the first agents
  std::uint32_t writers = 1;  // the next ones
  std::uint32_t switchers = 1;
  std::uint32_t rounds = 1;    // visits of each
  std::uint32_t switches = 1;  // switches of each switcher: to kind 1, back to 0, ...; the second
                               // begins at 0
  std::uint32_t ranks = 2;     // agent i lives at rank (i + first) % ranks; the stripe at rank 0
  std::uint32_t first = 0;     // the rank of agent 0
  std::uint32_t stale = 0;     // a bit for each agent that begins with kind 1 in mind
  std::uint32_t once = 0;      // a bit for each agent that visits once, whatever `rounds` says
  Manner manner = Manner::kWait;

  std::uint32_t agents() const { return readers + writers + switchers; }
};

/// S is StripeLock or a mutant of it.
template <class S>
class SwitchProgram final : public fabric::sim::Program {
 public:
  using E = fabric::SimEndpoint;

  SwitchProgram(S stripe, const SwitchShape& shape)
      : stripe_(std::move(stripe)), shape_(shape), topology_(one_node_each(shape.ranks)) {
    fabric::SegmentLayout layout;
    layout.reserve(fabric::kCacheLine);
    word_ = layout.reserve(fabric::kCacheLine);
    group_ = layout.reserve(locks::kLockLineBytes);
    lines_ = layout.reserve(locks::kLockLineBytes * stripe_.kinds());
    satellites_ = layout.reserve(satellite_bytes() * stripe_.kinds());
    record_ = layout.reserve(fabric::kCacheLine);
    const std::uint32_t per_rank = (shape.first + shape.agents() + shape.ranks - 1) / shape.ranks;
    nodes_ = locks::NodeRegion::reserve(layout, per_rank, 3);
    segment_bytes_ = layout.size();
  }

  /// Reads that came with a grant, in all executions.
  std::uint64_t reads_beside() const { return beside_; }

  std::uint32_t agents() const override { return shape_.agents(); }
  std::uint32_t ranks() const override { return shape_.ranks; }
  std::uint64_t segment_bytes() const override { return segment_bytes_; }

  void reset(fabric::sim::Execution& execution) override {
    execution_ = &execution;
    agents_.clear();
    endpoints_.clear();
    standings_.assign(agents(), fabric::sim::Standing::kOutside);
    known_.clear();
    visits_ = token_ = 0;
    for (std::uint32_t i = 0; i < agents(); ++i) {
      const std::uint32_t seat = shape_.first + i;
      const fabric::AgentId id{seat % shape_.ranks, seat / shape_.ranks};
      endpoints_.push_back(std::make_unique<E>(execution, i, id, topology_));
      agents_.push_back(std::make_unique<locks::LockAgent<E>>(*endpoints_[i], nodes_));
      known_.push_back(static_cast<locks::KindIndex>(shape_.stale >> i & 1));
    }
  }

  void run(std::uint32_t i) override {
    if (i < shape_.readers + shape_.writers) {
      const std::uint32_t rounds = shape_.once >> i & 1 ? 1 : shape_.rounds;
      for (std::uint32_t round = 0; round < rounds; ++round) {
        visit(i);
        forget_all_but(i, round);
      }
    } else {
      for (std::uint32_t n = 0; n < shape_.switches; ++n) {
        change(i, n);
        forget_all_but(i, n);
      }
    }
    endpoints_[i]->flush_all();
  }

  std::string verdict() override {
    const std::uint64_t record = endpoints_[0]->load(fabric::rma, {0, record_});
    if (record != visits_) {
      return fmt::format("L3: {} exclusive acquisitions left the record at {}", visits_, record);
    }
    for (std::uint32_t i = 0; i < agents(); ++i) {
      for (locks::KindIndex kind = 0; kind < stripe_.kinds(); ++kind) {
        const locks::LockSite at = site().of(kind);
        auto grant = stripe_.kind(kind).try_acquire(*agents_[i], at, locks::Mode::kWrite);
        if (!grant.ok()) return fmt::format("L2: all have gone and lock {} is not free", kind);
        stripe_.kind(kind).release(*agents_[i], at, *grant);
        locks::KindIndex known = kind;
        auto held = stripe_.try_acquire(*agents_[i], site(), locks::Mode::kWrite, known);
        if (!held.ok()) return "L2: all have gone and the stripe is not free";
        stripe_.release(*agents_[i], site(), *held);
      }
    }
    return {};
  }

  std::string name(fabric::Address a) const override {
    if (a.rank() == 0 && a.offset() == word_) return "the kind's word";
    if (a.rank() == 0 && a.offset() == record_) return "the record";
    const std::uint64_t in_lines = a.offset() - lines_;
    if (a.rank() == 0 && in_lines < locks::kLockLineBytes * stripe_.kinds()) {
      return fmt::format("lock {}, word {}", in_lines / locks::kLockLineBytes,
                         in_lines % locks::kLockLineBytes / 8);
    }
    return fmt::format("rank {} +{:#x}", a.rank(), a.offset());
  }
  /// The holder's name: only agents that make a dump read it.
  std::uint64_t kept(fabric::Address a, std::uint64_t word) const override {
    return is_holder(a) && shape_.manner != Manner::kTimed ? 0 : word;
  }
  fabric::sim::Sight sight(std::uint32_t i, const fabric::sim::Operation& op) const override {
    const bool unseen = is_holder(op.at) && op.kind == fabric::sim::OpKind::kStore &&
                        shape_.manner != Manner::kTimed &&
                        standings_[i] == fabric::sim::Standing::kInside;
    return unseen ? fabric::sim::Sight::kUnseen : fabric::sim::Sight::kSeen;
  }
  std::uint64_t remembered() const override { return fabric::sim::mixed(visits_, token_); }
  bool foreseeable() const override { return true; }
  void expired(std::uint32_t i) override { standings_[i] = fabric::sim::Standing::kOutside; }
  fabric::sim::Standing standing(std::uint32_t i) const override { return standings_[i]; }

 private:
  static Topology one_node_each(std::uint32_t ranks) {
    std::vector<std::uint32_t> nodes(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) nodes[rank] = rank;
    return Topology::from_nodes(nodes);
  }
  typename S::Site site() const {
    return {.word = {0, word_},
            .first = {.line = {0, lines_}, .group = {0, group_}, .satellites = satellites_},
            .satellite_stride = satellite_bytes()};
  }
  bool is_holder(fabric::Address a) const {
    return a.rank() == 0 && a.offset() >= lines_ && a.offset() < satellites_ &&
           (a.offset() - lines_) % locks::kLockLineBytes == locks::kHolderOffset;
  }
  /// Between visits an agent's future depends on its pool of nodes, the kind that it knows and the
  /// number of its round.
  void forget_all_but(std::uint32_t i, std::uint32_t round) {
    if (!execution_->has_posted(i)) endpoints_[i]->rewind();
    std::uint64_t digest = fabric::sim::mixed(endpoints_[i]->posted(), round);
    digest = fabric::sim::mixed(digest, known_[i]);
    execution_->forget(i, fabric::sim::mixed(digest, agent_digest(*agents_[i])));
  }
  std::uint64_t satellite_bytes() const { return locks::satellite_bytes(topology_.levels()); }
  Deadline deadline() const {
    return shape_.manner == Manner::kTimed ? Deadline::within(std::chrono::microseconds(1))
                                           : Deadline::never();
  }
  void require(std::uint32_t i, bool holds, const char* else_what) {
    if (!holds) execution_->fail(i, else_what);
  }

  void visit(std::uint32_t i) {
    const bool alone = i >= shape_.readers;
    const auto mode = alone ? locks::Mode::kWrite : locks::Mode::kRead;
    if (shape_.manner != Manner::kTry) standings_[i] = fabric::sim::Standing::kWaiting;
    std::uint64_t first = 0;
    const auto post_first = [&] {
      endpoints_[i]->post_read(fabric::rma, {0, record_},
                               std::as_writable_bytes(std::span(&first, 1)));
    };
    auto held = shape_.manner == Manner::kTry
                    ? stripe_.try_acquire(*agents_[i], site(), mode, known_[i])
                    : stripe_.acquire(*agents_[i], site(), mode, deadline(), known_[i], post_first);
    if (!held.ok()) {
      standings_[i] = fabric::sim::Standing::kOutside;
      return require(i, may_fail(held.code()), "an acquire failed");
    }
    enter(i, alone);
    if (held->read_first) ++beside_;
    require(i, !held->read_first || first == visits_, "W2: a read beside the look is out of date");
    look(i, alone, *held);
    standings_[i] = fabric::sim::Standing::kOutside;
    if (alone) ++visits_;
    stripe_.release(*agents_[i], site(), *held);
  }

  bool may_fail(Code code) const {
    return (shape_.manner == Manner::kTimed && code != Code::kBusy) ||
           (shape_.manner == Manner::kTry && code == Code::kBusy);
  }

  void enter(std::uint32_t i, bool alone) {
    for (std::uint32_t other = 0; other < shape_.readers + shape_.writers; ++other) {
      const bool inside = standings_[other] == fabric::sim::Standing::kInside;
      const bool may_share = !alone && other < shape_.readers;
      require(i, !inside || may_share, "L1: let in while another was inside");
    }
    standings_[i] = fabric::sim::Standing::kInside;
  }

  /// The record as the last writer left it; a writer's token above that one's.
  template <class Held>
  void look(std::uint32_t i, bool alone, Held& held) {
    E& ep = *endpoints_[i];
    const std::uint64_t seen = ep.load(fabric::rma, {0, record_});
    require(i, seen == visits_, "L3: an update was lost or is late");
    if (!alone) return require(i, ep.load(fabric::rma, {0, record_}) == visits_, "L3: read twice");
    ep.post_store(fabric::rma, {0, record_}, seen + 1);
    const std::uint64_t token = locks::fencing_token(*agents_[i], site().of(held.kind), held.grant);
    require(i, token > token_, "L4: the token has not grown since the last exclusive grant");
    token_ = token;
  }

  void change(std::uint32_t i, std::uint32_t n) {
    const std::uint32_t number = i - shape_.readers - shape_.writers;
    const auto target = static_cast<locks::KindIndex>((number + n + 1) % stripe_.kinds());
    const Status status = stripe_.switch_to(*agents_[i], site(), target, deadline(), known_[i]);
    require(i, status.ok() || shape_.manner == Manner::kTimed, "a switch failed");
  }

  S stripe_;
  SwitchShape shape_;
  Topology topology_;
  std::uint64_t word_ = 0;
  std::uint64_t group_ = 0;
  std::uint64_t lines_ = 0;
  std::uint64_t satellites_ = 0;
  std::uint64_t record_ = 0;
  std::uint64_t segment_bytes_ = 0;
  locks::NodeRegion nodes_;
  fabric::sim::Execution* execution_ = nullptr;
  std::vector<std::unique_ptr<E>> endpoints_;
  std::vector<std::unique_ptr<locks::LockAgent<E>>> agents_;
  std::vector<locks::KindIndex> known_;
  std::vector<fabric::sim::Standing> standings_;
  std::uint64_t visits_ = 0;
  std::uint64_t token_ = 0;   // token of the last exclusive visit
  std::uint64_t beside_ = 0;  // see reads_beside()
};

}  // namespace keyway::lockcheck
