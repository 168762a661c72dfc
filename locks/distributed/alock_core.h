// AlockCore: exclusive access as in ALock; the part that ALock and its reader-writer form share.
//
// *What.* There are two cohorts: agents that reach the lock's line by the `cpu` class (local), and
// the other agents (remote). Each cohort has a queue. The agents at the front of both queues, the
// leaders, decide by Peterson's algorithm which of them enters first, with the queues' tails as its
// flags. A front passes its queue on with the remaining budget of its cohort. If no budget remains,
// the next agent becomes a leader again and yields first.
// *Words of the line.* 0 local tail, 3 remote tail, 4 victim: the node of the leader that yielded
// last | its cohort's number in the low bits. 0: no leader.
// *Thread safety.* As lock.h says.
// *Invariants.*
//   A1  A leader enters when the other tail is null or the victim belongs to the other cohort. It
//       waits while the other cohort is present *and* this leader is the victim. (The paper's
//       Algorithm 4 prints *or*.)
//   A2  Budgets are at least 1: a hand-over with no budget left makes a leader. (With a budget of 0
//       the paper passes on -1, its value for waiting.)
//   A3  Only a leader stores the victim, so this happens after its swap of the tail has completed,
//       not in one doorbell with it.
//   A4  Only plain stores change the victim. Only read-modify-writes of a tail's own cohort's class
//       change that tail; the other class only loads it.
//   A5  Agents never use class `rma` on a local address.
//   A6  After a leader has yielded, the other cohort gets at most its budget of grants before it:
//       the rest of the budget in use, or a full budget if the other leader had yielded earlier.
//       Before an agent that has joined its queue yields, it may also be passed by as many grants
//       as the budget in use allows.
//   On a fabric with one class, all agents of the job reach every line by it: all are local, the
//   remote tail stays null, and A1 always holds, so Peterson's part is left out.
//   O5 (an rma store that takes effect twice) may undo a local leader's yielding to a remote leader
//   that was seen while its store was incomplete: the remote leader is the victim then and waits
//   for one more turn. Both enter by A1 on the final values of the words, so never two at a time.
// *Source.* SPAA'24, Algorithms 1 to 4, Appendix A; budgets of section 6.1. Ours: agents that
// leave, and a leader that gives up passes its queue on with no budget left. An uncontended remote
// acquire is two round trips if the fabric keeps order: the tail's, and victim and other tail in
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

/// The levers that both kinds have.
struct AlockRules {
  std::uint32_t local_budget = 5;  // SPAA'24, section 6.1
  std::uint32_t remote_budget = 20;
  TailRules tail;           // the remote one; the local is always swapped
  fabric::Backoff backoff;  // for a leader that polls the line

  /// local_budget, remote_budget, swap=on|off (of the remote tail), join_backoff_ns (with swap=off,
  /// the longest; 0 disables), backoff_min_ns, backoff_max_ns.
  static Result<AlockRules> take(LockParams& params);
};

/// The payload of a grant that came from a core. One word, which a grant takes over as it is
/// stored: a processor that loads 8 bytes which it has just stored as 4 and 4 waits for both
/// stores.
class AlockHold {
 public:
  AlockHold() = default;
  AlockHold(std::uint32_t node, std::uint32_t budget) : word_(std::uint64_t{budget} << 32 | node) {}
  std::uint32_t node() const { return static_cast<std::uint32_t>(word_); }
  /// Left to the cohort, this one included.
  std::uint32_t budget() const { return static_cast<std::uint32_t>(word_ >> 32); }

 private:
  std::uint64_t word_ = 0;
};

template <fabric::Endpoint E>
class AlockCore {
 public:
  enum class Outcome : std::uint8_t { kEntered, kBusy, kExpired };
  /// An agent at the front with exclusive access among the agents of a core.
  struct Entry {
    Outcome outcome = Outcome::kBusy;
    AlockHold hold;
    bool held_on = false;  // passed on within the cohort, by a holder that set it
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
  /// Passes the queue on with a budget that is smaller by one, or leaves it empty; true if an agent
  /// was granted. Before the lock leaves the cohort it calls close() once, after all posted
  /// operations are ordered. If close() was not called, `held_on` is passed to the next agent of
  /// the cohort.
  template <class Close>
  bool release(std::uint32_t node, std::uint32_t budget, bool held_on, Close&& close);

 private:
  enum Cohort : std::uint64_t { kLocal = 1, kRemote = 2 };  // as in the victim word
  static constexpr std::uint64_t kCohortMask = 3;
  static constexpr TailRules kLocalTail{};  // the processor has a swap

  fabric::Address tail(bool local) const {
    return line_ + (local ? kLocalTailOffset : kRemoteTailOffset);
  }
  Cohort cohort() const { return local_ ? kLocal : kRemote; }
  std::uint32_t full_budget() const { return local_ ? rules_.local_budget : rules_.remote_budget; }
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
  const auto budget = static_cast<std::uint32_t>(entered.payload >> 1);
  if (budget != 0) return Entry{Outcome::kEntered, {*node, budget}, (entered.payload & 1) != 0};
  if (!yield(*node)) [[unlikely]] {
    if (entered.how == Entered::How::kFirst) ++agent_.stats.contended;
    if (!wait_for_turn(*node, deadline)) return Entry{.outcome = Outcome::kExpired};
  }
  return Entry{Outcome::kEntered, {*node, full_budget()}};
}

/// A leader that has yielded; false, with the queue passed on, if the deadline passes first.
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
    agent_.nodes.recycle(*node);
    return Entry{.outcome = Outcome::kBusy};
  }
  if (yield(*node) || may_enter()) return Entry{Outcome::kEntered, {*node, full_budget()}};
  back_out(*node);
  return Entry{.outcome = Outcome::kBusy};
}

/// A leader lets the other cohort go first; true if the other cohort is empty. A3, A4.
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

/// A leader that gives up: the next agent of its queue becomes the leader.
template <fabric::Endpoint E>
void AlockCore<E>::back_out(std::uint32_t node) {
  queue_.pass(node, 0, [](std::uint64_t payload) { return payload; });
  ep_.store(fabric::cpu, agent_.nodes.address(node) + kStatusOffset, kNodeIdle);
  agent_.nodes.recycle(node);
}

template <fabric::Endpoint E>
template <class Close>
bool AlockCore<E>::release(std::uint32_t node, std::uint32_t budget, bool held_on, Close&& close) {
  bool open = held_on;
  const auto closing = [&](std::uint64_t payload) {
    if (!open) return payload;
    open = false;
    ep_.order(line_.rank());
    close();
    return payload & ~std::uint64_t{1};
  };
  std::uint64_t payload = (std::uint64_t{budget} - 1) << 1 | (held_on ? 1 : 0);
  if (budget == 1) payload = closing(payload);
  const bool handed = queue_.pass(node, payload, closing);
  agent_.nodes.recycle(node);
  return handed;
}

/// Describes ALock's words for a dump. `held`: the grant record names a current holder.
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
