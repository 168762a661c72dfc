// LockProgram: agents that use one lock, as a program for the explorer.
//
// *What.* Each agent acquires the lock a given number of times, or for ever. A writer adds one to a
// record by a load and a posted store, which only the lock makes atomic; a reader loads it twice.
// LockWatch checks every operation. At the end the record must equal the number of exclusive
// visits, and the token the number of tokens that were requested, and every agent must be able to
// acquire and release the lock (L2).
// *Forgetting.* Between two rounds an agent's future depends on its pool of nodes and the versions
// that it has seen, and inside on its grant as well: kinds are values, and a LockAgent keeps
// nothing else between calls that its operations depend on.
// *For ever.* An agent that has given the lock back rests, and comes back at any time, or never;
// tokens and the record count modulo two. So states return, and a cycle in the state graph is an
// endless execution.
// *LOCKALL.* Some agents may take all locks of the group at once: readers, for the record.
// *Thread safety.* None, as the explorer.
#pragma once

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "keyway/locks/base/topology.h"
#include "keyway/locks/distributed/grant_record.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/fabric/sim/explorer.h"
#include "keyway/locks/fabric/sim/explorer_hash.h"
#include "keyway/locks/fabric/sim/sim_endpoint.h"
#include "keyway/tools/lockcheck/agent_digest.h"
#include "keyway/tools/lockcheck/lock_watch.h"

namespace keyway::lockcheck {

template <class L>
class LockProgram final : public fabric::sim::Program {
 public:
  using E = fabric::SimEndpoint;
  /// Whether the kind has LOCKALL: shared access to all locks of a group.
  static constexpr bool kHasAll =
      requires(const L& lock, locks::LockAgent<E>& agent, fabric::Address group) {
    lock.acquire_all(agent, group, Deadline::never());
  };

  LockProgram(L lock, const LockShape& shape)
      : lock_(std::move(lock)),
        shape_(shape),
        topology_(*topology_of(shape)),
        watch_(shape, lock_.traits().readers_share, topology_.levels()) {}

  std::uint32_t agents() const override { return shape_.agents(); }
  std::uint32_t ranks() const override { return shape_.ranks; }
  std::uint64_t segment_bytes() const override { return watch_.segment_bytes(); }

  void reset(fabric::sim::Execution& execution) override {
    execution_ = &execution;
    agents_.clear();
    endpoints_.clear();
    watch_.reset();
    for (std::uint32_t i = 0; i < agents(); ++i) {
      endpoints_.push_back(std::make_unique<E>(execution, i, watch_.id(i), topology_));
      agents_.push_back(std::make_unique<locks::LockAgent<E>>(*endpoints_[i], watch_.nodes()));
      poison_free_nodes(i);
    }
  }

  void run(std::uint32_t i) override {
    for (std::uint32_t round = 0; shape_.forever || round < shape_.rounds; ++round) {
      if (shape_.forever) {
        endpoints_[i]->rewind();
        execution_->rest(i, agent_digest(*agents_[i]));
      }
      ask_once(i, round);
      if (!shape_.forever) {
        endpoints_[i]->rewind();
        execution_->forget(i, fabric::sim::mixed(agent_digest(*agents_[i]), round));
      }
    }
  }

  std::string verdict() override {
    const std::uint64_t record = endpoints_[0]->load(fabric::rma, watch_.record());
    if (record != watch_.visits()) {
      return fmt::format("L3: {} exclusive acquisitions left the record at {}: updates were lost",
                         watch_.visits(), record);
    }
    const std::uint64_t token = endpoints_[0]->load(fabric::rma, watch_.token());
    if (token != watch_.tokens()) {
      return fmt::format("L4: {} tokens were given out, and the word says {}", watch_.tokens(),
                         token);
    }
    if (shape_.alls != 0) {  // cannot but wait for ever if anything is left behind
      if (!acquire_all(0, Deadline::never()).ok()) return "L2: all have gone and LOCKALL fails";
      if constexpr (kHasAll) lock_.release_all(*agents_[0], watch_.site().group);
    }
    for (auto& agent : agents_) {
      for (const locks::Mode mode : {locks::Mode::kRead, locks::Mode::kWrite}) {
        auto again = lock_.try_acquire(*agent, watch_.site(), mode);
        if (again.code() == Code::kUnavailable) {
          return fmt::format("N1: all have gone and a node does not come back: {}",
                             again.status().message());
        }
        if (!again.ok()) return "L2: all have gone and the lock is not free";
        lock_.release(*agent, watch_.site(), *again);
      }
    }
    return {};
  }

  std::string name(fabric::Address a) const override { return watch_.name(a); }
  std::string value(std::uint64_t word) const override { return watch_.value(word); }
  std::string observe(std::uint32_t i, const fabric::sim::Operation& op,
                      std::uint64_t old) override {
    return watch_.observe(i, op, old);
  }
  std::string undoes(std::uint32_t i, const fabric::sim::Operation& op) override {
    return fmt::format("O4: agent {}'s rma {} of {} undoes what the cpu class stored meanwhile", i,
                       name_of(op.kind), name(op.at));
  }
  fabric::sim::Sight sight(std::uint32_t i, const fabric::sim::Operation& op) const override {
    return watch_.sight(i, op);
  }
  bool foreseeable() const override { return true; }
  void expired(std::uint32_t i) override { watch_.expires(i); }
  std::uint64_t remembered() const override { return watch_.remembered(); }
  std::uint64_t kept(fabric::Address a, std::uint64_t word) const override {
    return watch_.kept(a, word);
  }
  fabric::sim::Standing standing(std::uint32_t i) const override { return watch_.standing(i); }
  /// foMPI's writers and its LOCKALL each subtract what they added when they see the other's: two
  /// of them can repeat this for ever, if only the order of their operations counts.
  fabric::sim::Promises promises() const override {
    const locks::LockTraits traits = lock_.traits();
    const bool for_writers = traits.fifo && traits.readers_share && !traits.starvation_free;
    if (for_writers && shape_.readers != 0) {
      return {.starvation_freedom = true, .promised_from = shape_.readers + shape_.alls};
    }
    if (traits.fifo) return {.starvation_freedom = true, .most_bypass = agents() - 1};
    return {.progress = shape_.alls == 0, .starvation_freedom = traits.starvation_free};
  }

 private:
  void require(std::uint32_t i, std::string objection) {
    if (!objection.empty()) execution_->fail(i, std::move(objection));
  }

  bool takes_all(std::uint32_t i) const {
    return i >= shape_.readers && i < shape_.readers + shape_.alls;
  }

  Result<locks::Grant> acquire(std::uint32_t i, locks::Mode mode) {
    const Deadline deadline = shape_.manner_of(i) == Manner::kTimed
                                  ? Deadline::within(std::chrono::microseconds(1))
                                  : Deadline::never();
    if (takes_all(i)) return acquire_all(i, deadline);
    if (shape_.manner_of(i) == Manner::kTry)
      return lock_.try_acquire(*agents_[i], watch_.site(), mode);
    return lock_.acquire(*agents_[i], watch_.site(), mode, deadline);
  }
  Result<locks::Grant> acquire_all(std::uint32_t i, Deadline deadline) {
    if constexpr (kHasAll) {
      if (auto taken = lock_.acquire_all(*agents_[i], watch_.site().group, deadline); !taken.ok()) {
        return taken;
      }
    }
    return locks::Grant{.mode = locks::Mode::kRead};
  }
  void release(std::uint32_t i, locks::Grant& grant) {
    if (!takes_all(i)) return lock_.release(*agents_[i], watch_.site(), grant);
    if constexpr (kHasAll) lock_.release_all(*agents_[i], watch_.site().group);
  }

  /// Whether an agent that may give up is expected to fail so: by a time-out, by a refusal, or
  /// without a node until others step over.
  bool may_fail(std::uint32_t i, Code code) const {
    const Manner manner = shape_.manner_of(i);
    if (code == Code::kUnavailable) return manner == Manner::kTimed;
    return (manner == Manner::kTimed && code == Code::kTimeout) ||
           (manner == Manner::kTry && code == Code::kBusy);
  }

  void ask_once(std::uint32_t i, std::uint32_t round) {
    const bool reads = i < shape_.readers + shape_.alls;
    const auto mode = reads ? locks::Mode::kRead : locks::Mode::kWrite;
    const bool alone = mode == locks::Mode::kWrite || !lock_.traits().readers_share;
    watch_.asks(i);
    auto grant = acquire(i, mode);
    if (!grant.ok()) {
      watch_.gives_up(i);
      if (!may_fail(i, grant.code())) execution_->fail(i, std::string(grant.status().message()));
    } else {
      KW_CHECK(!execution_->at_once());  // explorer_execution.h, *Reduction*
      require(i, watch_.enters(i, alone));
      if (shape_.ask_token) look_at_token(i, *grant, alone);
      if (!execution_->has_posted(i)) endpoints_[i]->rewind();
      execution_->forget(i, grant_digest(i, *grant, round));
      visit(i, alone);
      watch_.leaves(i);
      release(i, *grant);
    }
    execution_->drain(i);
    watch_.updates_pool(i, agents_[i]->nodes.free_nodes());
    look_at_free_nodes(i);
    poison_free_nodes(i);
    endpoints_[i]->flush_all();
    if (grant.ok()) require(i, watch_.has_left(i));
  }

  /// Asked twice: a grant has one token, and a shared one has none.
  void look_at_token(std::uint32_t i, locks::Grant& grant, bool alone) {
    if (alone) watch_.asks_token(i);
    for (int times = 0; times < 2; ++times) {
      const auto token = locks::fencing_token(*agents_[i], watch_.site(), grant);
      require(i, alone        ? watch_.gets_token(i, token)
                 : token != 0 ? fmt::format("L4: the shared grant of agent {} has a token", i)
                              : "");
    }
  }

  void visit(std::uint32_t i, bool alone) {
    E& ep = *endpoints_[i];
    const std::uint64_t seen = ep.load(fabric::rma, watch_.record());
    require(i, watch_.finds(i, seen));
    if (alone) {
      ep.post_store(fabric::rma, watch_.record(), watch_.counted(seen + 1));
    } else {
      require(i, watch_.finds(i, ep.load(fabric::rma, watch_.record())));
    }
  }

  /// N2. The next agent of the slot takes a marked node for one that others have yet to leave, and
  /// never uses it.
  void look_at_free_nodes(std::uint32_t i) {
    for (const std::uint32_t index : agents_[i]->nodes.free_nodes()) {
      const fabric::Address status = agents_[i]->nodes.address(index) + locks::kStatusOffset;
      const std::uint64_t state = locks::node_state(execution_->look(status));
      if (state != locks::kNodeAbandoned && state != locks::kNodeDelegated) continue;
      execution_->fail(
          i, fmt::format("N2: agent {}'s node {} goes back to its pool marked {}", i, index,
                         state == locks::kNodeDelegated ? "delegated" : "abandoned"));
    }
  }

  void poison_free_nodes(std::uint32_t i) {
    if (shape_.timed()) return;  // a time-out's dump follows what is left there
    for (const std::uint32_t index : agents_[i]->nodes.free_nodes()) {
      const fabric::Address node = agents_[i]->nodes.address(index);
      execution_->poison(node + locks::kNextOffset);
      execution_->poison(node + locks::kStatusOffset);
      execution_->poison(node + locks::kBeforeOffset);
    }
  }

  /// The future depends on when it is inside.
  std::uint64_t grant_digest(std::uint32_t i, const locks::Grant& grant,
                             std::uint32_t round) const {
    using fabric::sim::mixed;
    std::uint64_t digest = mixed(agent_digest(*agents_[i]), shape_.forever ? 0 : round);
    digest = mixed(digest, endpoints_[i]->posted());
    for (const std::uint64_t word : grant.payload.words()) digest = mixed(digest, word);
    return mixed(mixed(digest, grant.token), grant.token_known ? 1 : 0);
  }

  L lock_;
  LockShape shape_;
  Topology topology_;
  LockWatch watch_;
  fabric::sim::Execution* execution_ = nullptr;
  std::vector<std::unique_ptr<E>> endpoints_;
  std::vector<std::unique_ptr<locks::LockAgent<E>>> agents_;
};

}  // namespace keyway::lockcheck
