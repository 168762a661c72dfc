// RMA-MCS with one defect of choice; see mutant_spin.h. The queues are the lock's own (mutant_mcs.h
// has their defects): here it is the tree that is wrong.
#pragma once

#include "keyway/locks/distributed/grant_record.h"
#include "keyway/locks/distributed/queue_tree.h"

namespace keyway::conformance {

enum class TreeDefect {
  kNone,
  kReleasesOwnNode,        // T2: the parent is released by the releaser's own node, as printed
  kForgetsToSendUp,        // T5: the next believes that it has been handed the parent as well
  kKeepsParent,            // T5: the parent is not released when the element is left
  kLendsUnmarked,          // T3: a lent node goes back to its pool at once
  kForgetsUp,              // T3: nobody is told where the lent node is
  kNeverIdle,              // T4: a lent node stays lent
  kGivesUpWithoutTelling,  // T6: who gives up at the root leaves its element's queue as it is
  kPassesWithoutEnd,       // T7: nobody counts how often an element has handed the lock on
};

template <TreeDefect D, std::uint64_t kPassings = 1>
class MutantTree {
 public:
  static Result<MutantTree> make(const locks::LockParams&) { return MutantTree(); }
  locks::LockTraits traits() const {
    return {.name = "mutant-tree", .queued = true, .starvation_free = true, .satellites = true};
  }

  template <fabric::Endpoint E>
  Result<locks::Grant> acquire(locks::LockAgent<E>& agent, const locks::LockSite& site,
                               locks::Mode mode, Deadline deadline) const {
    const Deadline until = deadline.started(agent.ep.now_ns());
    return climb(agent, site, mode, Code::kTimeout,
                 [&](auto& queue, std::uint32_t node) { return queue.enter(node, until); });
  }
  template <fabric::Endpoint E>
  Result<locks::Grant> try_acquire(locks::LockAgent<E>& agent, const locks::LockSite& site,
                                   locks::Mode mode) const {
    return climb(agent, site, mode, Code::kBusy, [&](auto& queue, std::uint32_t node) {
      if (queue.try_enter(node)) return locks::Entered();
      agent.nodes.give_back(node);
      return locks::Entered{.how = locks::Entered::How::kExpired};
    });
  }
  template <fabric::Endpoint E>
  void release(locks::LockAgent<E>& agent, const locks::LockSite& site, locks::Grant& grant) const {
    agent.ep.flush(site.line.rank());
    const std::uint32_t leaf = agent.path.depth - 1;
    leave(agent, site, leaf, grant, agent.nodes.address(grant.node), true,
          grant.top == leaf ? count_of(grant.told) : 0);
  }
  template <fabric::Endpoint E>
  locks::LockDump dump(locks::LockAgent<E>& agent, const locks::LockSite& site) const {
    locks::LockDump dump{.kind = "mutant-tree"};
    dump.write_held = agent.ep.load(fabric::rma, site.line) != 0;
    return dump;
  }

 private:
  static std::uint64_t count_of(std::uint64_t told) { return locks::is_count(told) ? told : 0; }
  static fabric::Address up(const locks::LockSite& site, const locks::TreePath::Step& step) {
    return locks::up_word(site, step.leader, step.level);
  }
  /// One class for all words: the explorer does not split it unless asked.
  template <fabric::Endpoint E>
  static locks::McsQueue<E, fabric::RmaClass> queue(locks::LockAgent<E>& agent,
                                                    const locks::LockSite& site,
                                                    std::uint32_t step) {
    const auto& s = agent.path.steps[step];
    return {agent, fabric::rma, step == 0 ? site.line : locks::tail_word(site, s.leader, s.level)};
  }

  template <fabric::Endpoint E, class Enter>
  static Result<locks::Grant> climb(locks::LockAgent<E>& agent, const locks::LockSite& site,
                                    locks::Mode mode, Code failure, Enter&& enter) {
    std::array<std::uint32_t, Topology::kMostLevels> nodes{};
    const std::uint32_t leaf = agent.path.depth - 1;
    for (std::uint32_t step = leaf;; --step) {
      auto q = queue(agent, site, step);
      const auto node = q.prepare();
      if (!node.ok()) return back_out(agent, site, step + 1, nodes, node.status());
      nodes[step] = *node;
      if (step < leaf) {
        agent.ep.store(fabric::cpu, agent.nodes.address(nodes[step + 1]) + locks::kParentOffset,
                       *node);
      }
      const locks::Entered entered = enter(q, *node);
      if (entered.how == locks::Entered::How::kExpired) {
        return back_out(agent, site, step + 1, nodes, Result<locks::Grant>(failure));
      }
      const bool handed = entered.how == locks::Entered::How::kHanded;
      if (step > 0 && !(handed && locks::is_count(entered.payload))) continue;
      return locks::Grant{.mode = mode,
                          .token_known = false,
                          .node = nodes[leaf],
                          .top = step,
                          .told = entered.payload};
    }
  }
  template <fabric::Endpoint E>
  static Result<locks::Grant> back_out(
      locks::LockAgent<E>& agent, const locks::LockSite& site, std::uint32_t step,
      const std::array<std::uint32_t, Topology::kMostLevels>& nodes, Result<locks::Grant> failed) {
    for (; step < agent.path.depth; ++step) {
      if (D == TreeDefect::kGivesUpWithoutTelling) continue;
      queue(agent, site, step).pass(agent.nodes.address(nodes[step]), locks::kAcquireParent);
      agent.nodes.give_back(nodes[step]);
    }
    return failed;
  }

  template <fabric::Endpoint E>
  static void leave(locks::LockAgent<E>& agent, const locks::LockSite& site, std::uint32_t step,
                    const locks::Grant& grant, fabric::Address front, bool own,
                    std::uint64_t count) {
    auto q = queue(agent, site, step);
    const fabric::Address next = q.linked(front);
    fabric::Address last = front;
    std::uint32_t lent = 0;
    if (step > 0 && count < kPassings && !next.is_null()) {
      if (own) lent = mark_above(agent, site, step, grant, front);
      last = q.hand_over(front, next, D == TreeDefect::kPassesWithoutEnd ? 0 : count + 1);
      if (last.is_null()) lend_above(agent, front, lent);
    }
    const std::uint64_t told =
        step == 0 || D == TreeDefect::kForgetsToSendUp ? 0 : locks::kAcquireParent;
    if (!last.is_null()) {
      if (step > 0) leave_parent(agent, site, step, grant, front, own);
      q.finish(front, last, told);
    }
    retire(agent, front, own);
  }

  template <fabric::Endpoint E>
  static void leave_parent(locks::LockAgent<E>& agent, const locks::LockSite& site,
                           std::uint32_t step, const locks::Grant& grant, fabric::Address front,
                           bool own) {
    if (D == TreeDefect::kKeepsParent) return;
    if (own && step > grant.top) {
      const auto index = agent.ep.load(fabric::cpu, front + locks::kParentOffset);
      leave(agent, site, step - 1, grant, agent.nodes.address(static_cast<std::uint32_t>(index)),
            true, step - 1 == grant.top ? count_of(grant.told) : 0);
    } else if (D == TreeDefect::kReleasesOwnNode) {
      const auto node = queue(agent, site, step - 1).prepare();
      if (node.ok()) leave(agent, site, step - 1, grant, agent.nodes.address(*node), true, 0);
    } else {
      const auto node =
          fabric::Address::from_word(agent.ep.load(fabric::rma, up(site, agent.path.steps[step])));
      const auto status = agent.ep.load(fabric::rma, node + locks::kStatusOffset);
      leave(agent, site, step - 1, grant, node, false, count_of(locks::node_payload(status)));
    }
  }

  /// The nodes above `node` of an agent that has climbed, from the nearest up. How many.
  template <fabric::Endpoint E>
  static std::uint32_t mark_above(locks::LockAgent<E>& agent, const locks::LockSite& site,
                                  std::uint32_t step, const locks::Grant& grant,
                                  fabric::Address node) {
    std::uint32_t marked = 0;
    for (; step > grant.top; --step, ++marked) {
      const auto index = agent.ep.load(fabric::cpu, node + locks::kParentOffset);
      node = agent.nodes.address(static_cast<std::uint32_t>(index));
      if (D != TreeDefect::kLendsUnmarked) {
        agent.ep.store(fabric::cpu, node + locks::kStatusOffset,
                       locks::lent_with(step - 1 == grant.top ? count_of(grant.told) : 0));
      }
      if (D == TreeDefect::kForgetsUp) continue;
      agent.ep.store(fabric::rma, up(site, agent.path.steps[step]), node.word());
    }
    return marked;
  }
  template <fabric::Endpoint E>
  static void lend_above(locks::LockAgent<E>& agent, fabric::Address node, std::uint32_t lent) {
    for (; lent > 0; --lent) {
      const auto index =
          static_cast<std::uint32_t>(agent.ep.load(fabric::cpu, node + locks::kParentOffset));
      node = agent.nodes.address(index);
      if (D == TreeDefect::kLendsUnmarked) {
        agent.nodes.give_back(index);
      } else {
        agent.nodes.lend(index);
      }
    }
  }
  template <fabric::Endpoint E>
  static void retire(locks::LockAgent<E>& agent, fabric::Address front, bool own) {
    if (!own) {
      if (D == TreeDefect::kNeverIdle) return;
      agent.ep.store(fabric::rma, front + locks::kStatusOffset, locks::kNodeIdle);
      return;
    }
    const std::uint32_t index = index_of(agent, front);
    agent.ep.store(fabric::cpu, front + locks::kStatusOffset, locks::kNodeIdle);
    agent.nodes.give_back(index);
  }
  template <fabric::Endpoint E>
  static std::uint32_t index_of(locks::LockAgent<E>& agent, fabric::Address node) {
    const std::uint64_t first = agent.nodes.address(0).offset();
    return static_cast<std::uint32_t>((node.offset() - first) / locks::kNodeBytes);
  }
};

}  // namespace keyway::conformance
