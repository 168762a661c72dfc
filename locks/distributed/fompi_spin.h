// foMPI-Spin: one word and a compare-and-swap loop. The baseline of HPDC'16.
//
// *What.* Mutual exclusion; readers are treated as writers. Word 0 of the line is 0 when free,
// else AgentId::word() of the holder.
// *Thread safety.* As lock.h says.
// *Invariants.* S1: only the holder stores to a non-zero word.
// *Source.* HPDC'16 section 5 ("a simple spin-lock (foMPI-Spin)"); levers: backoff_min_ns,
// backoff_max_ns (0 or absent: none, as in foMPI). As "rdma-spin" it is SPAA'24's RDMA spinlock
// (section 6), the same algorithm: local memory through the network card as well.
#pragma once

#include "keyway/locks/distributed/footprint.h"
#include "keyway/locks/distributed/grant_record.h"
#include "keyway/locks/distributed/lock.h"

namespace keyway::locks {

class FompiSpin {
 public:
  static constexpr std::string_view kName = "fompi-spin";
  static constexpr std::string_view kNameOfRdma = "rdma-spin";
  static constexpr std::array kNames = {kName, kNameOfRdma};
  static constexpr std::array<std::string_view, 1> kChecked = {
      "fompi-spin:backoff_min_ns=50,backoff_max_ns=2000"};
  static constexpr std::array kFootprints = {Footprint{.kind = kName,
                                                       .text = kName,
                                                       .waiting = Waiting::kPoll,
                                                       .local_read = {.near_rma = 2},
                                                       .remote_read = {.far_rma = 2},
                                                       .local_write = {.near_rma = 2},
                                                       .remote_write = {.far_rma = 2}}};

  static Result<FompiSpin> make(LockParams params) {
    FompiSpin lock;
    auto backoff = params.take_backoff(fabric::Backoff::none());
    if (!backoff.ok()) return backoff.status();
    lock.backoff_ = *backoff;
    lock.name_ = params.kind() == kNameOfRdma ? kNameOfRdma : kName;
    if (auto rest = params.require_all_taken(); !rest.ok()) return rest;
    return lock;
  }
  LockTraits traits() const { return {.name = name_}; }

  template <fabric::Endpoint E>
  Result<Grant> acquire(LockAgent<E>& agent, const LockSite& site, Mode mode,
                        Deadline deadline) const {
    if (!attempt(agent, site)) {
      ++agent.stats.contended;
      if (!agent.ep.retry_until([&] { return attempt(agent, site); }, backoff_, deadline)) {
        ++agent.stats.timeouts;
        return timed_out(dump(agent, site));
      }
    }
    return granted(agent, mode);
  }

  template <fabric::Endpoint E>
  Result<Grant> try_acquire(LockAgent<E>& agent, const LockSite& site, Mode mode) const {
    if (attempt(agent, site)) return granted(agent, mode);
    ++agent.stats.try_failures;
    return Code::kBusy;
  }

  template <fabric::Endpoint E>
  void release(LockAgent<E>& agent, const LockSite& site, Grant&) const {
    agent.ep.flush(site.line.rank());           // L3
    agent.ep.store(fabric::rma, site.line, 0);  // S1; releases what the holder wrote
  }

  template <fabric::Endpoint E>
  LockDump dump(LockAgent<E>& agent, const LockSite& site) const {
    LockDump dump{.kind = std::string(name_)};
    const std::uint64_t word = agent.ep.load(fabric::rma, site.line);
    dump.write_held = word != 0;
    dump_line(agent, site, dump);
    if (dump.write_held) {
      dump.holder = fabric::AgentId::from_word(word);
      dump.holder_known = true;
    }
    return dump;
  }

 private:
  template <fabric::Endpoint E>
  static bool attempt(LockAgent<E>& agent, const LockSite& site) {
    return agent.ep.compare_swap(fabric::rma, site.line, 0, agent.ep.agent().word()) == 0;
  }

  template <fabric::Endpoint E>
  static Grant granted(LockAgent<E>& agent, Mode mode) {
    ++(mode == Mode::kRead ? agent.stats.reads : agent.stats.writes);
    return {.mode = mode, .token_known = false};
  }

  fabric::Backoff backoff_;
  std::string_view name_ = kName;
};

}  // namespace keyway::locks
