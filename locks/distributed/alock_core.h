// AlockCore: ALock's way to exclusive access, the piece that ALock and its reader-writer form
// share.
//
// *What.* Two cohorts: agents that reach the lock's line by the `cpu` class (local) and the others
// (remote). Each has a queue; the agents at the front of both, the leaders, settle by Peterson's
// algorithm who goes first, with the queues' tails as its flags. A front hands its queue on with
// the turns that its cohort has left; with none left the next one is a leader anew and yields
// first.
// *Words of the line.* 0 local tail, 3 remote tail, 4 victim: the node of the leader that yielded
// last | its cohort's number in the low bits. 0 is nobody.
// *Thread safety.* As lock.h says.
// *Invariants.*
//   A1  A leader enters when the other tail is null or the victim is not of its cohort; it waits
//       while the other cohort is there *and* it is the victim. (The paper's Algorithm 4 prints
//       *or*.)
//   A2  Budgets are at least 1: a hand-over with no turns left makes a leader. (With a budget of 0
//       the paper passes on -1, its value for waiting.)
//   A3  The victim is stored by a leader only, so after its swap of the tail has completed, not in
//       one doorbell with it.
//   A4  The victim is changed by plain stores, and each tail by read-modify-writes of its own
//       cohort's class: of the other class there are only loads on it.
//   A5  No operation of class `rma` on a local address, ever.
//   A6  Past a leader that has yielded the other cohort is granted at most its budget of turns:
//       what is left of those under way, or all of them to a leader that yielded before. One that
//       has joined its queue and not yet yielded may be passed by those under way before that.
//   Where the fabric has one class, all agents of the job reach every line by it: all are local,
//   the remote tail stays null, and A1 holds for whoever comes, so Peterson's part is left out.
//   O5 (an rma store that happens twice) may undo a local leader's yielding to a remote one that
//   has been seen but is not complete: the remote one is the victim then and waits for a turn more.
//   Both enter by A1 on what the words hold in the end, so no two at a time.
// *Source.* SPAA'24, Algorithms 1 to 4, Appendix A; budgets of section 6.1. Ours: agents that
// leave, and a leader that gives up hands its queue on with no turns left. Uncontended a remote
// acquire is two round trips where the fabric keeps order: the tail's, and victim and other tail in
// one.
#pragma once

#include <string>

#include "keyway/locks/distributed/grant_record.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/plain_queue.h"

namespace keyway::locks {

inline constexpr std::uint64_t kLocalTailOffset = 0;
inline constexpr std::uint64_t kRemoteTailOffset = kSecondOffset;
inline constexpr std::uint64_t kVictimOffset = 32;

/// The levers of both kinds.
struct AlockRules {
  std::uint32_t local_budget = 5;  // SPAA'24, section 6.1
  std::uint32_t remote_budget = 20;
  TailRules tail;           // the remote one; the local is always swapped
  fabric::Backoff backoff;  // of a leader that looks at the line again and again

  /// local_budget, remote_budget, swap=on|off (of the remote tail), join_backoff_ns (with swap=off,
  /// the longest; 0: none), backoff_min_ns, backoff_max_ns.
  static Result<AlockRules> take(LockParams& params);
};

/// What a holder that came by a core keeps in its grant.
struct AlockHold {
  std::uint32_t node = 0;
  std::uint32_t turns = 0;  // of the cohort: this one and those that may follow in a row
};

template <fabric::Endpoint E>
class AlockCore {
 public:
  enum class Outcome : std::uint8_t { kEntered, kBusy, kExpired };
  /// At the front, with exclusive access among those who came by a core.
  struct Entry {
    Outcome outcome = Outcome::kBusy;
    std::uint32_t node = 0;
    std::uint32_t turns = 0;  // of the cohort, this one included
    bool held_on = false;     // handed on within the cohort, by a holder that said so
  };

  AlockCore(const AlockRules& rules, LockAgent<E>& agent, fabric::Address line)
      : rules_(rules),
        agent_(agent),
        ep_(agent.ep),
        words_(agent.ep),
        line_(line),
        local_(agent.ep.is_local(line.rank())),
        queue_(agent, tail(local_), local_ ? kLocalTail : rules.tail) {}

  Result<Entry> acquire(Deadline deadline);
  Result<Entry> try_acquire();
  /// Hands the queue on with one turn less, or leaves it empty; true when somebody was granted.
  /// Before it leaves the cohort's hands it calls close() once, with everything posted before
  /// ordered. `held_on` is what the next of the cohort is told, if close() was not called.
  template <class Close>
  bool release(std::uint32_t node, std::uint32_t turns, bool held_on, Close&& close);

 private:
  enum Cohort : std::uint64_t { kLocal = 1, kRemote = 2 };  // as in the victim word
  static constexpr std::uint64_t kCohortMask = 3;
  static constexpr TailRules kLocalTail{};  // the processor has a swap

  fabric::Address tail(bool local) const {
    return line_ + (local ? kLocalTailOffset : kRemoteTailOffset);
  }
  Cohort cohort() const { return local_ ? kLocal : kRemote; }
  std::uint32_t budget() const { return local_ ? rules_.local_budget : rules_.remote_budget; }
  bool yield(std::uint32_t node);
  bool may_enter();
  bool wait_for_turn(std::uint32_t node, Deadline deadline);
  void back_out(std::uint32_t node);

  const AlockRules& rules_;
  LockAgent<E>& agent_;
  E& ep_;
  ByClass<E> words_;
  fabric::Address line_;
  bool local_;
  PlainQueue<E> queue_;
};

template <fabric::Endpoint E>
auto AlockCore<E>::acquire(Deadline deadline) -> Result<Entry> {
  auto node = agent_.nodes.take();
  if (!node.ok()) return node.status();
  const Entered entered = queue_.enter(*node, deadline);
  if (entered.how != Entered::How::kFirst) ++agent_.stats.contended;
  if (entered.how == Entered::How::kExpired) return Entry{.outcome = Outcome::kExpired};
  const auto turns = static_cast<std::uint32_t>(entered.payload >> 1);
  if (turns != 0) return Entry{Outcome::kEntered, *node, turns, (entered.payload & 1) != 0};
  if (!yield(*node)) [[unlikely]] {
    if (entered.how == Entered::How::kFirst) ++agent_.stats.contended;
    if (!wait_for_turn(*node, deadline)) return Entry{.outcome = Outcome::kExpired};
  }
  return Entry{Outcome::kEntered, *node, budget()};
}

/// A leader that has yielded; false, with the queue handed on, when the deadline has passed.
template <fabric::Endpoint E>
[[gnu::noinline]] bool AlockCore<E>::wait_for_turn(std::uint32_t node, Deadline deadline) {
  if (ep_.retry_until([&] { return may_enter(); }, rules_.backoff, deadline)) return true;
  back_out(node);
  return false;
}

template <fabric::Endpoint E>
auto AlockCore<E>::try_acquire() -> Result<Entry> {
  auto node = agent_.nodes.take();
  if (!node.ok()) return node.status();
  if (!queue_.try_enter(*node)) {
    agent_.nodes.give_back(*node);
    return Entry{.outcome = Outcome::kBusy};
  }
  if (yield(*node) || may_enter()) return Entry{Outcome::kEntered, *node, budget()};
  back_out(*node);
  return Entry{.outcome = Outcome::kBusy};
}

/// A leader lets the other cohort go first; true when nobody is there. A3, A4.
template <fabric::Endpoint E>
bool AlockCore<E>::yield(std::uint32_t node) {
  if (ep_.one_class()) return true;
  words_.post_store(line_ + kVictimOffset, agent_.nodes.address(node).word() | cohort());
  ep_.order(line_.rank());  // Peterson's: the victim is stored before the other's flag is looked at
  const fabric::Pending other = words_.post_load(tail(!local_));
  return other.value(ep_.flush(line_.rank())) == 0;
}

/// A1, by what the words hold now.
template <fabric::Endpoint E>
bool AlockCore<E>::may_enter() {
  const fabric::Pending other = words_.post_load(tail(!local_));
  const fabric::Pending victim = words_.post_load(line_ + kVictimOffset);
  const fabric::Flushed both = ep_.flush(line_.rank());
  return other.value(both) == 0 || (victim.value(both) & kCohortMask) != cohort();
}

/// A leader that does not wait for its turn: whoever is behind it leads then.
template <fabric::Endpoint E>
void AlockCore<E>::back_out(std::uint32_t node) {
  queue_.pass(node, 0, [](std::uint64_t payload) { return payload; });
  ep_.store(fabric::cpu, agent_.nodes.address(node) + kStatusOffset, kNodeIdle);
  agent_.nodes.give_back(node);
}

template <fabric::Endpoint E>
template <class Close>
bool AlockCore<E>::release(std::uint32_t node, std::uint32_t turns, bool held_on, Close&& close) {
  bool open = held_on;
  const auto closing = [&](std::uint64_t payload) {
    if (!open) return payload;
    open = false;
    ep_.order(line_.rank());
    close();
    return payload & ~std::uint64_t{1};
  };
  std::uint64_t payload = (std::uint64_t{turns} - 1) << 1 | (held_on ? 1 : 0);
  if (turns == 1) payload = closing(payload);
  const bool handed = queue_.pass(node, payload, closing);
  agent_.nodes.give_back(node);
  return handed;
}

/// What ALock's words say for a dump. `held` says that the holder's record is of a holder.
template <fabric::Endpoint E>
void dump_cohorts(LockAgent<E>& agent, const LockSite& site, LockDump& dump) {
  const ByClass words(agent.ep);
  const auto is_local = [&](fabric::Address node) {
    return agent.ep.topology().same_node(node.rank(), site.line.rank());
  };
  const std::uint64_t word = dump_record(agent, site, dump);
  const auto holder = fabric::Address::from_word(word);
  if (word != 0) {
    dump.holder = agent.nodes.region().owner(holder);
    dump_plain_queue(agent, holder, dump.queue);
  }
  // The other cohort's leader waits as the victim, and its queue begins there.
  const std::uint64_t victim = words.load(site.line + kVictimOffset) & ~std::uint64_t{3};
  if (victim == 0) return;
  const auto leader = fabric::Address::from_word(victim);
  const bool local = is_local(leader);
  if (word != 0 && is_local(holder) == local) return;
  if (words.load(site.line + (local ? kLocalTailOffset : kRemoteTailOffset)) == 0) return;
  dump.queue.push_back(agent.nodes.region().owner(leader));
  dump_plain_queue(agent, leader, dump.queue);
}

}  // namespace keyway::locks
