// RMA-RW: a reader-writer lock with a distributed counter for readers and queues for writers.
//
// *What.* A reader counts itself in one word near to it: one atomic to enter, one to leave. Writers
// queue; the writer at the front closes every counter and waits for the readers inside. Then the
// lock passes from writer to writer, at most t_l1 times, before the counters are opened again.
//   t_r       how many readers each counter admits after its last reset before a writer that waits
//             at the front may close it although it is not empty. Readers that had registered
//             count, and enter even if they are more. Readers that arrive at the same moment may
//             exceed it. The paper's text counts the readers of all counters, its Listing 9 those
//             of each counter, which costs no communication: so it is here. 1 to 2^22. Default
//             1000, the smallest value that the paper measures (figure 4e).
//   t_l1      turns of the root's queue in a row: how many elements below the machine (or writers,
//             if it has none) have the lock before readers may enter, as in Listing 8. Default 20,
//             with 50 below: the setting with the highest throughput in the paper's figure 4c.
//   t_l2, ... how many times each of those elements passes the lock on within itself
//             (queue_tree.h); t_l for all of them. So T_W, writers in a row, is t_l1 times the
//             product of t_li + 1. The paper says that T_W is the product of all; its Listing 8
//             compares T_W with the turns of the root, its Listing 5 compares T_L,i with the
//             hand-overs of an element.
//   counters_per_node, nodes_per_counter, t_dc: at most one of them; the placement of the counters,
//             see counter_map.h. Default: one on each node.
// *Reading.* A reader that finds the counter open on arrival is inside. If it is the t_r-th or
// later, it first checks for a writer in the queue: without one it enters and resets the counter;
// otherwise it waits until the writer closes, which counts it as inside. A reader that finds the
// counter closed is registered and waits for the phase to end. No reader starves: a reader at the
// gate enters with the next closing, or when it sees no writer.
// *Thread safety.* As lock.h says.
// *Invariants.*
//   RW1  A writer is granted when each counter is closed and the readers that were counted at its
//        closing have left, by one read of one word.
//   RW2  Only the writer at the root's front closes, resets a closed counter, gives up or opens.
//        Readers change an open counter by one compare-and-swap of the whole word, or add one.
//   RW3  A registered reader is inside once the phase has ended, whatever later writers do: they
//        count it and wait for it. So a phase of readers admits all readers that waited (design
//        section 5, R7).
//   RW4  At most T_W writers pass a waiting reader. At each counter, at most t_r readers, and those
//        that arrive during its closing, pass a writer at the front.
// *Source.* HPDC'16 section 3, Listings 4 to 10, with the corrections of design section 5 (R1 to R7
// there). Further deviations: readers that meet a closed counter stay registered instead of backing
// off and trying again; a writer may have to wait for t_r readers only at counters that are not
// empty; acquires can time out.
#pragma once

#include "keyway/locks/distributed/counter_map.h"
#include "keyway/locks/distributed/footprint.h"
#include "keyway/locks/distributed/grant_record.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/queue_tree.h"
#include "keyway/locks/distributed/rma_rw_counter.h"
#include "keyway/locks/distributed/rma_rw_read.h"
#include "keyway/locks/distributed/rma_rw_write.h"
#include "keyway/locks/distributed/satellite.h"
#include "keyway/locks/distributed/seen_versions.h"

namespace keyway::locks {

/// `Word`: the layout of a counter; RmaRw is the one to use.
template <class Word>
class BasicRmaRw {
 public:
  static constexpr std::string_view kName = "rma-rw";
  static constexpr std::array kNames = {kName};
  static constexpr std::array<std::string_view, 2> kChecked = {
      "rma-rw:t_r=1,t_l1=1", "rma-rw:t_r=2,t_l1=2,counters_per_node=2"};
  /// A reader arrives at its counter and departs from it, and the counter is near. A writer takes
  /// and gives the queue's tail, sees the counters empty, closes and opens them: three sweeps, but
  /// two if it was the last to use them, which a choice must not count on.
  /// A queue's node is made ready by one flush of the agent's own memory.
  static constexpr std::array kFootprints = {
      Footprint{.kind = kName,
                .text = kName,
                .readers_share = true,
                .local_read = {.near_rma = 2},
                .remote_read = {.near_rma = 2},
                .local_write = {.near_rma = 3, .sweeps = 3},
                .remote_write = {.near_rma = 1, .far_rma = 2, .sweeps = 3}}};
  static constexpr std::uint64_t kDefaultTr = 1000;
  static constexpr std::uint64_t kDefaultTl1 = 20;
  static constexpr std::uint64_t kDefaultPassings = 50;
  static constexpr std::uint64_t kMaxTl = 1'000'000'000;

  static Result<BasicRmaRw> make(LockParams params);
  LockTraits traits() const {
    return {.name = kName,
            .readers_share = true,
            .queued = true,
            .starvation_free = true,
            .satellites = true};
  }

  template <fabric::Endpoint E>
  Result<Grant> acquire(LockAgent<E>& agent, const LockSite& site, Mode mode,
                        Deadline deadline) const {
    if (mode == Mode::kWrite) return acquire_write(agent, site, deadline);
    auto counter = reader(agent, site);
    const std::uint64_t old = counter.arrive();
    if (!counter.admits(old) && !wait(agent, counter, old, deadline)) {
      ++agent.stats.timeouts;
      return timed_out(dump(agent, site));
    }
    ++agent.stats.reads;
    return Grant{.mode = Mode::kRead};
  }

  template <fabric::Endpoint E>
  Result<Grant> try_acquire(LockAgent<E>& agent, const LockSite& site, Mode mode) const {
    if (mode == Mode::kWrite) return try_acquire_write(agent, site);
    auto counter = reader(agent, site);
    const std::uint64_t old = counter.arrive();
    if (!counter.admits(old) && !counter.try_wait(old)) {
      ++agent.stats.try_failures;
      return Code::kBusy;
    }
    ++agent.stats.reads;
    return Grant{.mode = Mode::kRead};
  }

  template <fabric::Endpoint E>
  void release(LockAgent<E>& agent, const LockSite& site, Grant& grant) const {
    agent.ep.flush(site.line.rank());  // L3
    if (grant.mode == Mode::kRead) return reader(agent, site).leave();
    auto counters = writer(agent, site, {});
    const auto hold = grant.payload.as<TreeHold>();
    if (has_closed(hold)) counters.flush_counters();
    tree(agent, site).descend(hold, counters);
  }

  template <fabric::Endpoint E>
  LockDump dump(LockAgent<E>& agent, const LockSite& site) const;

 private:
  /// Whether this holder took the lock from the readers; else a writer handed it on.
  static bool has_closed(const TreeHold& hold) {
    return hold.top == 0 && (hold.payload == 0 || !is_count(hold.payload));
  }

  template <fabric::Endpoint E>
  CounterMap& map(LockAgent<E>& agent) const {
    auto& maps = agent.template cache<CounterMaps>();
    return maps.of(placement_, agent.ep.topology(), agent.ep.rank());
  }
  template <fabric::Endpoint E>
  CounterReader<Word, E> reader(LockAgent<E>& agent, const LockSite& site) const {
    return {agent.ep, counter_word(site, map(agent).own), site.line, t_r_};
  }
  template <fabric::Endpoint E>
  CounterWriter<Word, E> writer(LockAgent<E>& agent, const LockSite& site,
                                CounterMap::Notes notes) const {
    return {agent.ep, map(agent), std::move(notes), agent.template cache<SeenVersions>(), site,
            t_r_,     t_l1_};
  }
  template <fabric::Endpoint E>
  QueueTree<E> tree(LockAgent<E>& agent, const LockSite& site) const {
    return {agent, site, most_passings_};
  }

  template <fabric::Endpoint E>
  static bool wait(LockAgent<E>& agent, CounterReader<Word, E>& counter, std::uint64_t old,
                   Deadline deadline) {
    const bool entered = counter.wait(old, deadline);
    if (counter.waited()) ++agent.stats.contended;
    return entered;
  }

  template <fabric::Endpoint E>
  Result<Grant> acquire_write(LockAgent<E>& agent, const LockSite& site, Deadline deadline) const;
  template <fabric::Endpoint E>
  Result<Grant> try_acquire_write(LockAgent<E>& agent, const LockSite& site) const;
  template <fabric::Endpoint E>
  static Grant granted(LockAgent<E>& agent, const TreeHold& hold) {
    ++agent.stats.writes;
    return {.mode = Mode::kWrite, .token_known = false, .payload = hold};
  }

  std::uint64_t t_r_ = kDefaultTr;
  std::uint64_t t_l1_ = kDefaultTl1;
  MostPassings most_passings_{};
  CounterPlacement placement_;
};

template <class Word>
Result<BasicRmaRw<Word>> BasicRmaRw<Word>::make(LockParams params) {
  BasicRmaRw lock;
  const auto t_r = params.take_threshold("t_r", kDefaultTr, Word::kMaxTr);
  if (!t_r.ok()) return t_r.status();
  const auto t_l1 = params.take_threshold("t_l1", kDefaultTl1, kMaxTl);
  if (!t_l1.ok()) return t_l1.status();
  const auto passings = take_passings(params, kDefaultPassings);
  if (!passings.ok()) return passings.status();
  const auto placement = take_placement(params);
  if (!placement.ok()) return placement.status();
  lock.t_r_ = *t_r;
  lock.t_l1_ = *t_l1;
  lock.placement_ = *placement;
  lock.most_passings_ = *passings;
  if (auto rest = params.require_all_taken(); !rest.ok()) return rest;
  return lock;
}

template <class Word>
template <fabric::Endpoint E>
Result<Grant> BasicRmaRw<Word>::acquire_write(LockAgent<E>& agent, const LockSite& site,
                                              Deadline deadline) const {
  auto counters = writer(agent, site, map(agent).take());
  const std::uint64_t contended = agent.stats.contended;
  const auto hold = tree(agent, site).climb(counters, deadline);
  if (counters.waited() && agent.stats.contended == contended) ++agent.stats.contended;
  if (hold.ok()) return granted(agent, *hold);
  if (hold.code() != Code::kTimeout) return hold.status();
  ++agent.stats.timeouts;
  return timed_out(dump(agent, site));
}

template <class Word>
template <fabric::Endpoint E>
Result<Grant> BasicRmaRw<Word>::try_acquire_write(LockAgent<E>& agent, const LockSite& site) const {
  const auto hold = tree(agent, site).try_climb(writer(agent, site, map(agent).take()));
  if (hold.ok()) return granted(agent, *hold);
  if (hold.code() == Code::kBusy) ++agent.stats.try_failures;
  return hold.status();
}

template <class Word>
template <fabric::Endpoint E>
LockDump BasicRmaRw<Word>::dump(LockAgent<E>& agent, const LockSite& site) const {
  LockDump dump{.kind = std::string(kName)};
  dump.write_held = true;
  for (const std::uint32_t rank : map(agent).ranks) {
    const std::uint64_t word = agent.ep.load(fabric::rma, counter_word(site, rank));
    // The word of a closed counter does not distinguish readers inside from registered readers.
    if (!Word::closed(word)) dump.readers += Word::inside(word);
    dump.write_held = dump.write_held && Word::closed(word);
  }
  dump_line(agent, site, dump);
  const fabric::Address front = tree(agent, site).dump(dump.queue);
  name_holder(agent, front, dump);
  if (!dump.write_held && !front.is_null()) {  // it waits for readers
    dump.queue.insert(dump.queue.begin(), agent.nodes.region().owner(front));
  }
  return dump;
}

using RmaRw = BasicRmaRw<CounterWord>;

}  // namespace keyway::locks
