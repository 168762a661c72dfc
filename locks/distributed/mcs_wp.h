// MCS-WP: the reader-writer queue lock of Mellor-Crummey and Scott that prefers writers.
//
// *What.* Readers share; they acquire and release a lock without writers by one atomic each.
// Writers wait in an MCS queue. While a writer is active, or is at the front of its queue and waits
// for readers to leave, new readers wait on a list. When the last writer has left, the whole list
// enters. Each waiter polls only its own node.
//   Guarantees for writers: first come, first served among themselves; a writer at the front waits
//   only for readers that were inside, or were being granted, when it set its `waits` bit.
//   No guarantee for readers: while writers keep arriving, readers wait. They can starve.
// *Thread safety.* As lock.h says.
// *Words of the line.* 0 state, 1 token, 3 tail of the writers' queue, 4 head of the readers' list,
// 5 the writer that waits at the front. State: bit 0 a writer is active, bit 1 a writer waits at
// the front, bits 29..2 readers inside, bits 63..30 readers listed.
// *Invariants.*
//   W1  Only the front of the writers' queue sets and clears `waits`, after it has put its node in
//       word 5. `waits` turns into `active` by one compare-and-swap that finds no reader inside and
//       no writer active: the claim. The agent that makes the claim grants the writer of word 5,
//       which stays there until it is granted. A front that gives up clears `waits`; if the claim
//       came first, it is granted.
//   W2  `active` passes from a writer to the next in the queue, or is cleared when the queue is
//       empty.
//   W3  A reader is counted inside before it is granted, either by an addition that finds no
//       writer, or by an agent that is counted inside itself.
//   W4  A waiting reader is in the list before it is listed in the state. Either the agent that
//       clears a writer's bit finds it listed and grants the list, or the reader finds no bit and
//       does so itself. So no reader waits in the list of a lock without writers.
//   W5  A reader's status leaves `waiting` by one compare-and-swap, its granter's or its own. A
//       reader that has given up stays listed until an agent steps over its node by its link.
// *Source.* Mellor-Crummey and Scott, PPoPP'91, the third of its reader-writer locks; SCC paper,
// section 4.3. Deviations: additions and single compare-and-swaps on one word instead of loops of
// the latter, so that readers do not fail each other's attempts; the list's readers are counted, so
// that a writer leaves without reading the list; the writer is claimed by a compare-and-swap,
// because a reader may be counted for a moment and wait after all; the front passes its place on
// when its deadline has passed; and abandoned nodes are stepped over (queue_node.h).
#pragma once

#include "keyway/locks/distributed/footprint.h"
#include "keyway/locks/distributed/grant_record.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/mcs_queue.h"

namespace keyway::locks {

class McsWp {
 public:
  static constexpr std::string_view kName = "mcs-wp";
  static constexpr std::array kNames = {kName};
  static constexpr std::array<std::string_view, 0> kChecked{};
  static constexpr std::array<Footprint, 0> kFootprints{};

  static Result<McsWp> make(LockParams params) {
    if (auto rest = params.require_all_taken(); !rest.ok()) return rest;
    return McsWp();
  }
  /// First come, first served holds for writers.
  LockTraits traits() const {
    return {.name = kName, .readers_share = true, .fifo = true, .queued = true};
  }

  template <fabric::Endpoint E>
  Result<Grant> acquire(LockAgent<E>& agent, const LockSite& site, Mode mode,
                        Deadline deadline) const {
    return mode == Mode::kRead ? acquire_read(agent, site, deadline)
                               : acquire_write(agent, site, deadline);
  }
  template <fabric::Endpoint E>
  Result<Grant> try_acquire(LockAgent<E>& agent, const LockSite& site, Mode mode) const {
    return mode == Mode::kRead ? try_read(agent, site) : try_write(agent, site);
  }
  template <fabric::Endpoint E>
  void release(LockAgent<E>& agent, const LockSite& site, Grant& grant) const {
    agent.ep.flush(site.line.rank());  // L3; a reader's posted reads as well
    if (grant.mode == Mode::kRead) {
      leave(agent, site);
    } else {
      release_write(agent, site, grant.payload.as<std::uint32_t>());
    }
  }
  template <fabric::Endpoint E>
  LockDump dump(LockAgent<E>& agent, const LockSite& site) const;

 private:
  static constexpr std::uint64_t kActive = 1;
  static constexpr std::uint64_t kWaits = 2;
  static constexpr std::uint64_t kWriters = kActive | kWaits;
  static constexpr std::uint64_t kReader = 1ULL << 2;
  static constexpr std::uint64_t kListed = 1ULL << 30;
  static constexpr std::uint64_t minus(std::uint64_t amount) { return ~amount + 1; }
  static constexpr std::uint64_t readers(std::uint64_t state) { return state % kListed / kReader; }
  static constexpr bool has_listed(std::uint64_t state) { return state >= kListed; }

  static constexpr std::uint64_t kListOffset = 32;
  static constexpr std::uint64_t kFrontOffset = 40;
  static fabric::Address state_word(const LockSite& site) { return site.line; }
  static fabric::Address list_word(const LockSite& site) { return site.line + kListOffset; }
  static fabric::Address front_word(const LockSite& site) { return site.line + kFrontOffset; }

  /// The payload with which the queue is passed on: the lock, or its front only.
  enum Passed : std::uint64_t { kTheFront = 0, kTheLock = 1 };
  template <fabric::Endpoint E>
  static McsQueue<E, fabric::RmaClass> writers(LockAgent<E>& agent, const LockSite& site) {
    return {agent, fabric::rma, site.line + kSecondOffset};
  }

  // --- mcs_wp_read.h
  template <fabric::Endpoint E>
  Result<Grant> acquire_read(LockAgent<E>& agent, const LockSite& site, Deadline deadline) const;
  template <fabric::Endpoint E>
  static Result<Grant> try_read(LockAgent<E>& agent, const LockSite& site);
  /// A reader that is counted inside is not any more.
  template <fabric::Endpoint E>
  static void leave(LockAgent<E>& agent, const LockSite& site);
  /// Lets the readers in that are in the list, unless a writer has come meanwhile. W4.
  template <fabric::Endpoint E>
  static void let_readers_in(LockAgent<E>& agent, const LockSite& site);
  /// From a reader that was in the list and has been granted: grants the next one.
  template <fabric::Endpoint E>
  static void grant_next(LockAgent<E>& agent, const LockSite& site, std::uint64_t next);
  /// Gives one count of readers inside to the first of the list that has not given up; false when
  /// there is none.
  template <fabric::Endpoint E>
  static bool hand_count(LockAgent<E>& agent, const LockSite& site, std::uint64_t first);
  template <fabric::Endpoint E>
  static Grant granted_read(LockAgent<E>& agent) {
    ++agent.stats.reads;
    return {.mode = Mode::kRead};
  }

  // --- mcs_wp_write.h
  template <fabric::Endpoint E>
  Result<Grant> acquire_write(LockAgent<E>& agent, const LockSite& site, Deadline deadline) const;
  template <fabric::Endpoint E>
  static Result<Grant> try_write(LockAgent<E>& agent, const LockSite& site);
  template <fabric::Endpoint E>
  static void release_write(LockAgent<E>& agent, const LockSite& site, std::uint32_t node);
  /// From the front of the queue: becomes active if no agent is.
  template <fabric::Endpoint E>
  static bool enter_free(LockAgent<E>& agent, const LockSite& site);
  /// ... or when the readers have left; false when the deadline has passed first.
  template <fabric::Endpoint E>
  static bool enter_from_front(LockAgent<E>& agent, const LockSite& site, std::uint32_t node,
                               Deadline deadline);
  /// The front takes `waits` back; false when it has been claimed, and so is granted. W1.
  template <fabric::Endpoint E>
  static bool withdraw(LockAgent<E>& agent, const LockSite& site, std::uint32_t node);
  /// True when `state`, or what it has become, was turned into `active` here. W1.
  template <fabric::Endpoint E>
  static bool claim(LockAgent<E>& agent, const LockSite& site, std::uint64_t state);
  /// The duty of every agent that may have made the last reader or writer leave.
  template <fabric::Endpoint E>
  static void let_writer_in(LockAgent<E>& agent, const LockSite& site, std::uint64_t state);
  template <fabric::Endpoint E>
  static Grant granted_write(LockAgent<E>& agent, std::uint32_t node) {
    ++agent.stats.writes;
    return {.mode = Mode::kWrite, .token_known = false, .payload = node};
  }
};

/// Waiting writers in order, then waiting readers, the last to come first.
template <fabric::Endpoint E>
LockDump McsWp::dump(LockAgent<E>& agent, const LockSite& site) const {
  E& ep = agent.ep;
  const auto owner = [&](fabric::Address node) { return agent.nodes.region().owner(node); };
  LockDump dump{.kind = std::string(kName)};
  const std::uint64_t state = ep.load(fabric::rma, state_word(site));
  dump.write_held = (state & kActive) != 0;
  dump.readers = readers(state);
  dump_line(agent, site, dump);
  const fabric::Address front = dump_queue(agent, site.line + kSecondOffset, dump.queue);
  name_holder(agent, front, dump);
  if (!dump.write_held && !front.is_null()) dump.queue.insert(dump.queue.begin(), owner(front));
  std::uint64_t word = ep.load(fabric::rma, list_word(site));
  for (std::size_t steps = 0; word != 0 && steps < kMaxDumped; ++steps) {
    const auto node = fabric::Address::from_word(word);
    if (!can_be_dumped(ep, agent.nodes.region(), node)) break;
    if (ep.load(fabric::rma, node + kStatusOffset) == kNodeWaiting) {
      dump.queue.push_back(owner(node));
    }
    word = ep.load(fabric::rma, node + kNextOffset);
  }
  return dump;
}

}  // namespace keyway::locks

#include "keyway/locks/distributed/mcs_wp_read.h"
#include "keyway/locks/distributed/mcs_wp_write.h"
