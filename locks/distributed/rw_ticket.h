// RW-Ticket: a reader-writer lock that grants strictly in order of arrival.
//
// *What.* An agent draws a ticket: its place in one MCS queue of readers and writers. A reader at
// the front counts itself inside and passes the front on at once, so readers with consecutive
// tickets are inside together. A writer at the front waits until no reader is inside, and keeps the
// front until it releases. A waiter that times out marks its ticket (its queue node) abandoned, and
// the agent that passes the front on steps over it. Example: holder W0, tickets R1 R2 W3 R4; when
// W0 releases, R1 and R2 enter together, then W3, then R4.
//   No agent starves, and no agent with a later ticket passes one with an earlier ticket. Two
//   numbers, the next ticket and the one being served, would be smaller; but an agent that leaves
//   cannot skip its own number before its turn comes, and no other agent knows that it has left.
//   try_acquire() fails while another agent is drawing or waiting, also among readers.
// *Thread safety.* As lock.h says.
// *Words of the line.* 0 tail of the queue (0: no agent waits and no writer is inside), 1 token, 3
// readers, 4 front: the node of the writer that has set the `waits` bit. Readers: bit 0 a writer
// waits at the front, bits 63..1 readers inside. A node's words: mcs_queue.h; and 5 grant: 1 when
// the last reader has left, 0 otherwise.
// *Invariants.*
//   RT1  Only the front of the queue enters. The queue's order is that of the tail's swaps.
//   RT2  A reader is counted inside before it passes the front on. So a writer at the front finds
//        all readers with earlier tickets counted, and no reader enters while it is there.
//   RT3  A writer enters when it has seen no reader inside: by a load, by the addition of its bit,
//        or by the grant.
//   RT4  The writer at the front sets the bit after its node is in word 4, and clears it before it
//        passes the front on. A reader that leaves the word with the bit set and no reader inside
//        must grant that writer. So a writer that gives up checks for readers as it clears the bit:
//        if none is inside, a grant is in flight, and the writer waits for it and enters.
//   RT5  The grant word is 0 in a node that does not wait for readers (plain_queue.h P3).
// *Orders.* Blocking additions to one word decide, and all agents see them in one order (E1).
// order() keeps the store of the node's address before the bit that leads a reader to it (O7). The
// addition that clears the bit is posted: no agent reads the word until the release's flush has
// completed it. All read-modify-writes of shared words are of class `rma` (E2). The grant is a
// plain store by the class that the reader has for the node, and its writer sees it by a wait
// before it stores 0 (O5).
// *Source.* Ours. A queue in front of a reader count, as in the fair lock of Mellor-Crummey and
// Scott (PPoPP'91, section 3.2), with the count beside the tail instead of links between readers,
// so that a reader needs no node while it is inside and may leave in any order. Skipping of
// tickets: queue_node.h.
#pragma once

#include "keyway/locks/distributed/by_class.h"
#include "keyway/locks/distributed/footprint.h"
#include "keyway/locks/distributed/grant_record.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/mcs_queue.h"

namespace keyway::locks {

class RwTicket {
 public:
  static constexpr std::string_view kName = "rw-ticket";
  static constexpr std::array kNames = {kName};
  static constexpr std::array<std::string_view, 0> kChecked{};
  /// A reader swaps the tail, adds itself, empties the tail and subtracts itself; a writer swaps
  /// the tail, reads the readers and empties the tail. Both prepare a node.
  static constexpr std::array kFootprints = {
      Footprint{.kind = kName,
                .text = kName,
                .readers_share = true,
                .local_read = {.near_rma = 5},
                .remote_read = {.near_rma = 1, .far_rma = 4},
                .local_write = {.near_rma = 4},
                .remote_write = {.near_rma = 1, .far_rma = 3}}};

  static Result<RwTicket> make(LockParams params) {
    if (auto rest = params.require_all_taken(); !rest.ok()) return rest;
    return RwTicket();
  }
  LockTraits traits() const {
    return {.name = kName,
            .readers_share = true,
            .fifo = true,
            .queued = true,
            .starvation_free = true};
  }

  template <fabric::Endpoint E>
  Result<Grant> acquire(LockAgent<E>& agent, const LockSite& site, Mode mode,
                        Deadline deadline) const {
    auto queue = queue_of(agent, site);
    auto node = queue.prepare();
    if (!node.ok()) return node.status();
    if (mode == Mode::kWrite) deadline = deadline.started(agent.ep.now_ns());  // for both waits
    const Entered entered = queue.enter(*node, deadline);
    const bool waited = entered.how != Entered::How::kFirst;
    if (waited) ++agent.stats.contended;
    if (entered.how != Entered::How::kExpired) {
      if (mode == Mode::kRead) return enter_shared(agent, site, *node);
      if (no_reader_inside(agent, site)) return granted_write(agent, *node);
      if (!waited) ++agent.stats.contended;
      if (wait_for_readers(agent, site, *node, deadline)) return granted_write(agent, *node);
      pass(agent, site, *node);
    }
    ++agent.stats.timeouts;
    return timed_out(dump(agent, site));
  }

  template <fabric::Endpoint E>
  Result<Grant> try_acquire(LockAgent<E>& agent, const LockSite& site, Mode mode) const {
    auto queue = queue_of(agent, site);
    auto node = queue.prepare();
    if (!node.ok()) return node.status();
    if (queue.try_enter(*node)) {
      if (mode == Mode::kRead) return enter_shared(agent, site, *node);
      if (no_reader_inside(agent, site)) return granted_write(agent, *node);
      pass(agent, site, *node);  // an agent may have come behind this one
    } else {
      agent.nodes.recycle(*node);
    }
    ++agent.stats.try_failures;
    return Code::kBusy;
  }

  template <fabric::Endpoint E>
  void release(LockAgent<E>& agent, const LockSite& site, Grant& grant) const {
    agent.ep.flush(site.line.rank());  // L3; a reader's posted reads as well
    if (grant.mode == Mode::kRead) return leave(agent, site);
    pass(agent, site, grant.payload.as<std::uint32_t>());
  }

  /// The waiting agents in the order of their tickets.
  template <fabric::Endpoint E>
  LockDump dump(LockAgent<E>& agent, const LockSite& site) const {
    LockDump dump{.kind = std::string(kName)};
    dump.readers = readers(agent.ep.load(fabric::rma, readers_word(site)));
    dump.write_held = dump.readers == 0 && agent.ep.load(fabric::rma, site.line) != 0;
    dump_line(agent, site, dump);
    const fabric::Address front = dump_queue(agent, site.line, dump.queue);
    name_holder(agent, front, dump);
    if (!dump.write_held && !front.is_null()) {  // a writer that waits for readers
      dump.queue.insert(dump.queue.begin(), agent.nodes.region().owner(front));
    }
    return dump;
  }

 private:
  static constexpr std::uint64_t kFrontOffset = 32;
  static constexpr std::uint64_t kWriterWaits = 1;
  static constexpr std::uint64_t kReader = 2;
  static constexpr std::uint64_t minus(std::uint64_t amount) { return ~amount + 1; }
  static constexpr std::uint64_t readers(std::uint64_t word) { return word / kReader; }
  static_assert(kReader == 2 * kWriterWaits);  // bit 0, and bits 63..1
  static_assert(kSecondOffset < kFrontOffset && kFrontOffset < kLockLineBytes);

  static fabric::Address readers_word(const LockSite& site) { return site.line + kSecondOffset; }
  static fabric::Address front_word(const LockSite& site) { return site.line + kFrontOffset; }

  template <fabric::Endpoint E>
  static McsQueue<E, fabric::RmaClass> queue_of(LockAgent<E>& agent, const LockSite& site) {
    return {agent, fabric::rma, site.line};
  }
  /// Passes the front on, or leaves the queue empty.
  template <fabric::Endpoint E>
  static void pass(LockAgent<E>& agent, const LockSite& site, std::uint32_t node) {
    if (queue_of(agent, site).pass(agent.nodes.address(node), 0)) agent.stats.handed_over(1);
    agent.nodes.recycle(node);
  }

  /// A reader at the front.
  template <fabric::Endpoint E>
  static Grant enter_shared(LockAgent<E>& agent, const LockSite& site, std::uint32_t node) {
    agent.ep.fetch_add(fabric::rma, readers_word(site), kReader);  // RT2
    pass(agent, site, node);
    ++agent.stats.reads;
    return {.mode = Mode::kRead};
  }
  template <fabric::Endpoint E>
  static void leave(LockAgent<E>& agent, const LockSite& site);

  /// From a writer at the front: RT3 by a load.
  template <fabric::Endpoint E>
  static bool no_reader_inside(LockAgent<E>& agent, const LockSite& site) {
    return agent.ep.load(fabric::rma, readers_word(site)) == 0;
  }
  template <fabric::Endpoint E>
  static bool wait_for_readers(LockAgent<E>& agent, const LockSite& site, std::uint32_t node,
                               Deadline deadline);
  template <fabric::Endpoint E>
  static Grant granted_write(LockAgent<E>& agent, std::uint32_t node) {
    ++agent.stats.writes;
    return {.mode = Mode::kWrite, .token_known = false, .payload = node};
  }
};

/// A reader that is counted inside leaves; the last one wakes the writer at the front. RT4.
template <fabric::Endpoint E>
void RwTicket::leave(LockAgent<E>& agent, const LockSite& site) {
  E& ep = agent.ep;
  const std::uint64_t before = ep.fetch_add(fabric::rma, readers_word(site), minus(kReader));
  if (before != kReader + kWriterWaits) return;
  const auto front = fabric::Address::from_word(ep.load(fabric::rma, front_word(site)));
  ByClass(ep).store(front + kGrantOffset, 1);
  agent.stats.handed_over(1);
}

/// From a writer at the front that has seen readers inside. False if the deadline passed first: the
/// bit is cleared again, and the writer must still pass the front on.
template <fabric::Endpoint E>
[[gnu::noinline]] bool RwTicket::wait_for_readers(LockAgent<E>& agent, const LockSite& site,
                                                  std::uint32_t node, Deadline deadline) {
  E& ep = agent.ep;
  const fabric::Address grant = agent.nodes.address(node) + kGrantOffset;
  const auto granted = [](std::uint64_t word) { return word != 0; };
  ep.post_store(fabric::rma, front_word(site), agent.nodes.address(node).word());
  ep.order(site.line.rank());  // RT4
  if (readers(ep.fetch_add(fabric::rma, readers_word(site), kWriterWaits)) == 0) {
    ep.post_fetch_add(fabric::rma, readers_word(site), minus(kWriterWaits));
    return true;  // the last one left before it could see the bit
  }
  if (!ep.wait_until(grant, granted, deadline).expired) {
    ep.post_fetch_add(fabric::rma, readers_word(site), minus(kWriterWaits));
  } else {
    if (readers(ep.fetch_add(fabric::rma, readers_word(site), minus(kWriterWaits))) != 0) {
      return false;
    }
    ep.wait_until(grant, granted, Deadline::never());  // RT4: it is on its way
  }
  ep.store(fabric::cpu, grant, 0);  // RT5
  return true;
}

}  // namespace keyway::locks
