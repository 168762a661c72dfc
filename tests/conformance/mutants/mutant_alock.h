// ALock with one defect of choice; see mutant_spin.h. Budgets of 1, so that leaders meet often. No
// dump and no statistics: exploration looks at neither.
#pragma once

#include "keyway/locks/distributed/alock_core.h"

namespace keyway::conformance {

enum class AlockDefect {
  kNone,
  kWaitsForBoth,     // A1: enters when the other cohort is away *and* it is not the victim
  kNoTurns,          // A2: a budget of 0 passes on the value that means waiting
  kVictimWithTail,   // A3: the victim is posted in one doorbell with the tail's swap
  kVictimSwapped,    // A4: the victim is swapped by both classes
  kGrantsBlindly,    // P1: the granter does not look whether the waiter has left
  kLeavesBlindly,    // P1: who leaves does not look whether it has been granted
  kKeepsTurns,       // A6: a hand-over spends no turn
  kGrantNotOrdered,  // P1: the granter's look may come before its store
};

template <AlockDefect D>
class MutantAlock {
  using Defect = AlockDefect;
  static constexpr std::uint64_t kTurns = D == Defect::kNoTurns ? 0 : 1;

 public:
  static Result<MutantAlock> make(const locks::LockParams&) { return MutantAlock(); }
  locks::LockTraits traits() const { return {.name = "mutant-alock", .queued = true}; }

  template <fabric::Endpoint E>
  Result<locks::Grant> acquire(locks::LockAgent<E>& agent, const locks::LockSite& site,
                               locks::Mode mode, Deadline deadline) const {
    auto node = agent.nodes.take();
    if (!node.ok()) return node.status();
    const Line<E> line(agent, site.line);
    const auto me = agent.nodes.address(*node);
    std::uint64_t turns = 0;
    const std::uint64_t turn = line.prepare(me, deadline);
    if (const auto before = line.join(me); before != 0) {
      if (!line.waits(fabric::Address::from_word(before), me, turn, deadline, turns)) {
        agent.nodes.abandon(*node);
        return Code::kTimeout;
      }
    }
    if (turns == 0) {
      if (!line.leads(me, deadline)) {
        line.pass(me, 0);
        agent.nodes.give_back(*node);
        return Code::kTimeout;
      }
      turns = kTurns;
    }
    return granted(agent, site, mode, *node, turns);
  }

  template <fabric::Endpoint E>
  Result<locks::Grant> try_acquire(locks::LockAgent<E>& agent, const locks::LockSite& site,
                                   locks::Mode mode) const {
    auto node = agent.nodes.take();
    if (!node.ok()) return node.status();
    const Line<E> line(agent, site.line);
    const auto me = agent.nodes.address(*node);
    line.prepare(me, Deadline::never());
    if (line.words.compare_swap(line.tail(), 0, me.word()) == 0) {
      line.yields(me);
      if (line.may_enter()) return granted(agent, site, mode, *node, kTurns);
      line.pass(me, 0);
    }
    agent.nodes.give_back(*node);
    return Code::kBusy;
  }

  template <fabric::Endpoint E>
  void release(locks::LockAgent<E>& agent, const locks::LockSite& site, locks::Grant& grant) const {
    const Line<E> line(agent, site.line);
    const std::uint64_t spent = D == Defect::kKeepsTurns ? 0 : 1;
    line.pass(agent.nodes.address(grant.node), grant.turns - spent);
    agent.nodes.give_back(grant.node);
  }

  template <fabric::Endpoint E>
  locks::LockDump dump(locks::LockAgent<E>&, const locks::LockSite&) const {
    return {.kind = "mutant-alock"};
  }

 private:
  template <fabric::Endpoint E>
  struct Line {
    Line(locks::LockAgent<E>& agent, fabric::Address at)
        : ep(agent.ep), words(agent.ep), line(at), local(agent.ep.is_local(at.rank())) {}

    E& ep;
    locks::ByClass<E> words;
    fabric::Address line;
    bool local;

    fabric::Address tail() const { return line + (local ? 0 : locks::kRemoteTailOffset); }
    fabric::Address other() const { return line + (local ? locks::kRemoteTailOffset : 0); }
    std::uint64_t cohort() const { return local ? 1 : 2; }

    std::uint64_t prepare(fabric::Address me, Deadline deadline) const {
      ep.store(fabric::cpu, me + locks::kNextOffset, 0);
      if (deadline.is_never()) return 0;
      const auto turn = (ep.load(fabric::cpu, me + locks::kStandOffset) >> locks::kTurnShift) + 1;
      ep.store(fabric::cpu, me + locks::kStandOffset, locks::stand_of(turn, locks::kStays));
      return turn;
    }

    std::uint64_t join(fabric::Address me) const {
      if (D != Defect::kVictimWithTail || local) return words.swap(tail(), me.word());
      ep.post_store(fabric::rma, line + locks::kVictimOffset, me.word() | cohort());
      const auto before = ep.post_swap(fabric::rma, tail(), me.word());
      return before.value(ep.flush(line.rank()));
    }

    /// Behind `before`; false when it has left.
    bool waits(fabric::Address before, fabric::Address me, std::uint64_t turn, Deadline deadline,
               std::uint64_t& turns) const {
      if (turn != 0) words.store(before + locks::kNextTurnOffset, turn);
      words.store(before + locks::kNextOffset, me.word() | (turn != 0 ? locks::kMayLeave : 0));
      const auto granted = [](std::uint64_t grant) { return grant != 0; };
      auto waited = ep.wait_until(me + locks::kGrantOffset, granted, deadline);
      if (waited.expired) {
        if (leaves(me, turn)) return false;
        waited = ep.wait_until(me + locks::kGrantOffset, granted, Deadline::never());
      }
      ep.store(fabric::cpu, me + locks::kGrantOffset, 0);
      turns = waited.value - 1;
      return true;
    }

    bool leaves(fabric::Address me, std::uint64_t turn) const {
      const auto stand = me + locks::kStandOffset;
      if (D != Defect::kLeavesBlindly) {
        ep.store(fabric::cpu, stand, locks::stand_of(turn, locks::kLeaving));
        ep.fence();
        if (ep.load(fabric::cpu, me + locks::kGrantOffset) != 0) {
          ep.store(fabric::cpu, stand, locks::stand_of(turn, locks::kStays));
          return false;
        }
      }
      ep.store(fabric::cpu, me + locks::kStatusOffset, locks::kNodeAbandoned);
      ep.store(fabric::cpu, stand, locks::stand_of(turn, locks::kLeft));
      return true;
    }

    void yields(fabric::Address me) const {
      const auto victim = line + locks::kVictimOffset;
      if (D == Defect::kVictimSwapped) {
        words.swap(victim, me.word() | cohort());
      } else if (D != Defect::kVictimWithTail || local) {
        words.store(victim, me.word() | cohort());
      }
      ep.order(line.rank());
    }
    bool may_enter() const {
      const bool away = words.load(other()) == 0;
      if (D != Defect::kWaitsForBoth && away) return true;
      const bool yielded_to = (words.load(line + locks::kVictimOffset) & 3) != cohort();
      return D == Defect::kWaitsForBoth ? away && yielded_to : yielded_to;
    }
    bool leads(fabric::Address me, Deadline deadline) const {
      yields(me);
      return ep.retry_until([&] { return may_enter(); }, fabric::Backoff::none(), deadline);
    }

    void pass(fabric::Address mine, std::uint64_t turns) const {
      ep.flush(line.rank());
      fabric::Address at = mine;
      while (true) {
        std::uint64_t next = words.load(at + locks::kNextOffset);
        if (next == 0) {
          const bool empty = words.compare_swap(tail(), at.word(), 0) == at.word();
          next = empty ? 0 : linked(at + locks::kNextOffset);
        }
        const auto to = fabric::Address::from_word(next & ~locks::kMayLeave);
        const std::uint64_t turn =
            (next & locks::kMayLeave) != 0 ? words.load(at + locks::kNextTurnOffset) : 0;
        const bool done = next == 0 || grants(to, turn, turns);
        if (at != mine) {
          words.store(at + locks::kGrantOffset, 0);
          words.store(at + locks::kStatusOffset, locks::kNodeIdle);
        }
        if (done) return;
        at = to;
      }
    }
    std::uint64_t linked(fabric::Address word) const {
      std::uint64_t next = 0;
      ep.retry_until([&] { return (next = words.load(word)) != 0; }, fabric::Backoff::none(),
                     Deadline::never());
      return next;
    }
    bool grants(fabric::Address to, std::uint64_t turn, std::uint64_t turns) const {
      words.post_store(to + locks::kGrantOffset, 1 + turns);
      if (turn == 0 || D == Defect::kGrantsBlindly) {
        ep.flush(to.rank());
        return true;
      }
      if (D != Defect::kGrantNotOrdered) ep.order(to.rank());
      const auto looked = words.post_load(to + locks::kStandOffset);
      std::uint64_t stand = looked.value(ep.flush(to.rank()));
      const std::uint64_t undecided = locks::stand_of(turn, locks::kLeaving);
      const auto decided = [&] {
        return (stand = words.load(to + locks::kStandOffset)) != undecided;
      };
      if (stand == undecided) {
        ep.retry_until(decided, fabric::Backoff::none(), Deadline::never());
      }
      return stand != locks::stand_of(turn, locks::kLeft);
    }
  };

  template <fabric::Endpoint E>
  static locks::Grant granted(locks::LockAgent<E>& agent, const locks::LockSite& site,
                              locks::Mode mode, std::uint32_t node, std::uint64_t turns) {
    locks::Grant grant{.mode = mode, .node = node, .turns = static_cast<std::uint32_t>(turns)};
    locks::record_grant(agent, site, grant, agent.nodes.address(node).word());
    return grant;
  }
};

}  // namespace keyway::conformance
