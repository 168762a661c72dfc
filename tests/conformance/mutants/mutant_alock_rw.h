// RW-ALock's part for readers with one defect of choice, on the sound AlockCore; see
// mutant_alock.h.
#pragma once

#include "keyway/locks/distributed/alock_core.h"

namespace keyway::conformance {

enum class AlockRwDefect {
  kNone,
  kIgnoresInside,     // W1: a writer does not wait for the readers inside
  kReaderNotOrdered,  // W1: a reader's look at the write word may come before it is counted
  kWriterNotOrdered,  // W1: a writer's look at the counts may come before its store
  kAsksNobody,        // W3: a writer raises the write word whoever waits
  kStopsWaiting,      // W4: a reader stops counting as waiting before it looks again
};

template <AlockRwDefect D>
class MutantAlockRw {
  using Defect = AlockRwDefect;

 public:
  static Result<MutantAlockRw> make(const locks::LockParams&) { return MutantAlockRw(); }
  locks::LockTraits traits() const {
    return {
        .name = "mutant-alock-rw", .readers_share = true, .queued = true, .starvation_free = true};
  }

  template <fabric::Endpoint E>
  Result<locks::Grant> acquire(locks::LockAgent<E>& agent, const locks::LockSite& site,
                               locks::Mode mode, Deadline deadline) const {
    const Line<E> line(agent.ep, site.line);
    if (mode == locks::Mode::kRead) {
      if (!line.comes_in(1) && !line.waits(deadline)) return Code::kTimeout;
      return locks::Grant{.mode = mode};
    }
    auto entry = locks::AlockCore<E>(kRules, agent, site.line).acquire(deadline);
    if (!entry.ok()) return entry.status();
    if (entry->outcome != locks::AlockCore<E>::Outcome::kEntered) return Code::kTimeout;
    if (!entry->held_on && !line.begins_phase(deadline)) {
      leave(agent, site, line, entry->node, entry->turns, false);
      return Code::kTimeout;
    }
    return granted(agent, site, *entry);
  }

  template <fabric::Endpoint E>
  Result<locks::Grant> try_acquire(locks::LockAgent<E>& agent, const locks::LockSite& site,
                                   locks::Mode mode) const {
    const Line<E> line(agent.ep, site.line);
    if (mode == locks::Mode::kRead) {
      if (line.comes_in(1)) return locks::Grant{.mode = mode};
      line.count(minus(1));
      return Code::kBusy;
    }
    auto entry = locks::AlockCore<E>(kRules, agent, site.line).try_acquire();
    if (!entry.ok()) return entry.status();
    if (entry->outcome != locks::AlockCore<E>::Outcome::kEntered) return Code::kBusy;
    if (line.sees_nobody(~0ULL)) {
      line.raises();
      if (line.sees_nobody(kInside)) return granted(agent, site, *entry);
      line.lowers();
    }
    leave(agent, site, line, entry->node, entry->turns, false);
    return Code::kBusy;
  }

  template <fabric::Endpoint E>
  void release(locks::LockAgent<E>& agent, const locks::LockSite& site, locks::Grant& grant) const {
    const Line<E> line(agent.ep, site.line);
    if (grant.mode == locks::Mode::kWrite) {
      return leave(agent, site, line, grant.node, grant.turns, true);
    }
    agent.ep.flush(site.line.rank());
    line.count(minus(1));
  }

  template <fabric::Endpoint E>
  locks::LockDump dump(locks::LockAgent<E>&, const locks::LockSite&) const {
    return {.kind = "mutant-alock-rw"};
  }

 private:
  static constexpr locks::AlockRules kRules{.local_budget = 1, .remote_budget = 1};
  static constexpr std::uint64_t kWaiting = 1ULL << 32;
  static constexpr std::uint64_t kInside = kWaiting - 1;  // mask
  static constexpr std::uint64_t minus(std::uint64_t amount) { return ~amount + 1; }

  template <fabric::Endpoint E>
  struct Line {
    Line(E& endpoint, fabric::Address at) : ep(endpoint), words(endpoint), line(at) {}

    E& ep;
    locks::ByClass<E> words;
    fabric::Address line;

    fabric::Address phase() const { return line + 40; }
    fabric::Address mine() const { return line + (ep.is_local(line.rank()) ? 48 : 56); }
    void count(std::uint64_t amount) const { words.fetch_add(mine(), amount); }

    bool comes_in(std::uint64_t amount) const {
      words.post_add(mine(), amount);
      if (D != Defect::kReaderNotOrdered) ep.order(line.rank());
      const auto looked = words.post_load(phase());
      return looked.value(ep.flush(line.rank())) == 0;
    }
    bool waits(Deadline deadline) const {
      count(kWaiting + minus(1));
      const auto enters = [&] {
        if (words.load(phase()) != 0) return false;
        if (D == Defect::kStopsWaiting) count(minus(kWaiting));
        if (comes_in(1)) {
          if (D != Defect::kStopsWaiting) count(minus(kWaiting));
          return true;
        }
        count(minus(1) + (D == Defect::kStopsWaiting ? kWaiting : 0));
        return false;
      };
      if (ep.retry_until(enters, fabric::Backoff::none(), deadline)) return true;
      count(minus(kWaiting));
      return false;
    }

    bool sees_nobody(std::uint64_t mask) const {
      const auto local = words.post_load(line + 48);
      const auto remote = words.post_load(line + 56);
      const auto both = ep.flush(line.rank());
      return ((local.value(both) | remote.value(both)) & mask) == 0;
    }
    bool waits_for_nobody(std::uint64_t mask, Deadline deadline) const {
      return ep.retry_until([&] { return sees_nobody(mask); }, fabric::Backoff::none(), deadline);
    }
    void raises() const {
      words.post_store(phase(), 1);
      if (D != Defect::kWriterNotOrdered) ep.order(line.rank());
    }
    void lowers() const { words.store(phase(), 0); }
    bool begins_phase(Deadline deadline) const {
      if (D != Defect::kAsksNobody && !waits_for_nobody(~kInside, deadline)) return false;
      raises();
      if (D == Defect::kIgnoresInside || sees_nobody(kInside)) {
        ep.flush(line.rank());
        return true;
      }
      if (waits_for_nobody(kInside, deadline)) return true;
      lowers();
      return false;
    }
  };

  template <fabric::Endpoint E>
  static locks::Grant granted(locks::LockAgent<E>& agent, const locks::LockSite& site,
                              const typename locks::AlockCore<E>::Entry& entry) {
    locks::Grant grant{.node = entry.node, .turns = entry.turns};
    locks::record_grant(agent, site, grant, agent.nodes.address(grant.node).word());
    return grant;
  }
  template <fabric::Endpoint E>
  static void leave(locks::LockAgent<E>& agent, const locks::LockSite& site, const Line<E>& line,
                    std::uint32_t node, std::uint32_t turns, bool raised) {
    locks::AlockCore<E>(kRules, agent, site.line).release(node, turns, raised, [&] {
      line.lowers();
    });
  }
};

}  // namespace keyway::conformance
