// A copy of locks/distributed/stripe_lock.h with one defect, chosen at compile time.
#pragma once

#include "keyway/locks/distributed/stripe_lock.h"

namespace keyway::lockcheck {

enum class StripeDefect : std::uint8_t {
  kNone,
  kDoesNotLook,        // whoever has a lock is in, in force or not
  kLooksBefore,        // looks at the word before it takes the lock, not under it
  kKeepsStale,         // moves on without giving the old lock back
  kEntersStale,        // learns that the kind has changed, and enters this once
  kWithoutOld,         // W1: the switcher takes the new lock only
  kWithoutNew,         // W1: the switcher takes the old lock only
  kSharesOld,          // W1: the switcher takes the old lock as a reader
  kTrustsItself,       // the switcher does not look whether the kind it remembers is in force
  kWordFirst,          // W1: the word changes before the new lock is held
  kReleasesFirst,      // W1: the old lock is free before the word changes
  kForgetsToken,       // W4: tokens begin anew
  kTokenAfterRelease,  // W4: the token follows when others may be in already
  kTimeoutKeepsOld,    // lost back-out: a switch that gives up keeps the lock in force
  kTryKeepsStale,      // lost back-out: a try that met a stale lock keeps it
};

template <StripeDefect D>
class MutantStripe {
 public:
  using E = fabric::SimEndpoint;
  using Agent = locks::LockAgent<E>;
  using Site = locks::StripeSite;
  using Held = locks::StripeGrant;
  using Index = locks::KindIndex;

  explicit MutantStripe(std::vector<locks::AnyLock> kinds) : kinds_(std::move(kinds)) {}
  std::size_t kinds() const { return kinds_.size(); }
  const locks::AnyLock& kind(Index index) const { return kinds_[index]; }

  template <class PostFirst>
  Result<Held> acquire(Agent& agent, const Site& site, locks::Mode mode, Deadline deadline,
                       Index& known, PostFirst&& post_first) const {
    while (true) {
      if (is(StripeDefect::kLooksBefore)) in_force(agent, site, known, Nothing());
      const Index kind = known;
      auto grant = kinds_[kind].acquire(agent, site.of(kind), mode, deadline);
      if (!grant.ok()) return grant.status();
      if (is(StripeDefect::kDoesNotLook) || is(StripeDefect::kLooksBefore))
        return Held{*grant, kind};
      if (in_force(agent, site, known, post_first) || is(StripeDefect::kEntersStale)) {
        return Held{*grant, kind, looks_remotely(agent, site)};
      }
      if (!is(StripeDefect::kKeepsStale)) kinds_[kind].release(agent, site.of(kind), *grant);
      deadline = deadline.started(agent.ep.now_ns());
    }
  }

  Result<Held> try_acquire(Agent& agent, const Site& site, locks::Mode mode, Index& known) const {
    while (true) {
      const Index kind = known;
      auto grant = kinds_[kind].try_acquire(agent, site.of(kind), mode);
      const bool current = in_force(agent, site, known, Nothing());
      if (grant.ok() && current) return Held{*grant, kind};
      if (grant.ok() && !is(StripeDefect::kTryKeepsStale)) {
        kinds_[kind].release(agent, site.of(kind), *grant);
      }
      if (current) return grant.status();
    }
  }

  void release(Agent& agent, const Site& site, Held& held) const {
    kinds_[held.kind].release(agent, site.of(held.kind), held.grant);
  }

  Status switch_to(Agent& agent, const Site& site, Index target, Deadline deadline,
                   Index& known) const {
    deadline = deadline.started(agent.ep.now_ns());
    const auto mode = is(StripeDefect::kSharesOld) ? locks::Mode::kRead : locks::Mode::kWrite;
    Result<Held> held = Held{{}, known};
    if (is(StripeDefect::kTrustsItself)) {
      auto grant = kinds_[known].acquire(agent, site.of(known), mode, deadline);
      if (!grant.ok()) return grant.status();
      held->grant = *grant;
    } else if (!is(StripeDefect::kWithoutOld)) {
      held = acquire(agent, site, mode, deadline, known, Nothing());
      if (!held.ok()) return held.status();
    }
    Status status;
    if (held->kind != target) status = hand_over(agent, site, *held, target, deadline, known);
    const bool gave_back =
        is(StripeDefect::kWithoutOld) ||
        (is(StripeDefect::kReleasesFirst) && held->kind != target && status.ok()) ||
        (is(StripeDefect::kTimeoutKeepsOld) && !status.ok());
    if (!gave_back) release(agent, site, *held);
    return status;
  }

 private:
  static constexpr bool is(StripeDefect defect) { return D == defect; }

  struct Nothing {
    void operator()() const {}
  };
  static bool looks_remotely(const Agent& agent, const Site& site) {
    return !agent.ep.is_local(site.word.rank());
  }
  template <class PostFirst>
  static bool in_force(Agent& agent, const Site& site, Index& known, PostFirst&& post_first) {
    locks::KindWord found;
    if (looks_remotely(agent, site)) {
      const fabric::Pending look = agent.ep.post_load(fabric::rma, site.word);
      post_first();
      found.word = look.value(agent.ep.flush(site.word.rank()));
    } else {
      found.word = agent.ep.load(fabric::cpu, site.word);
    }
    return std::exchange(known, found.kind()) == found.kind();
  }
  static void name(Agent& agent, const Site& site, Index target) {
    const locks::KindWord word{agent.ep.load(fabric::rma, site.word)};
    agent.ep.store(fabric::rma, site.word, word.switched_to(target).word);
  }

  Status hand_over(Agent& agent, const Site& site, Held& held, Index target, Deadline deadline,
                   Index& known) const {
    const locks::LockSite there = site.of(target);
    E& ep = agent.ep;
    ep.flush(site.word.rank());  // what the grant has posted: an attempt at the next lock may fail
    const auto token = ep.load(fabric::rma, site.of(held.kind).line + locks::kTokenOffset);
    if (is(StripeDefect::kWordFirst)) name(agent, site, target);
    locks::Grant grant;
    if (!is(StripeDefect::kWithoutNew)) {
      auto taken = kinds_[target].acquire(agent, there, locks::Mode::kWrite, deadline);
      if (!taken.ok()) return taken.status();
      grant = *taken;
    }
    if (is(StripeDefect::kReleasesFirst)) release(agent, site, held);
    const fabric::Address its_token = there.line + locks::kTokenOffset;
    constexpr bool kLate = is(StripeDefect::kTokenAfterRelease);
    if (!is(StripeDefect::kForgetsToken) && !kLate) ep.store(fabric::rma, its_token, token);
    if (!is(StripeDefect::kWordFirst)) name(agent, site, target);
    known = target;
    if (!is(StripeDefect::kWithoutNew)) kinds_[target].release(agent, there, grant);
    if (kLate) ep.store(fabric::rma, its_token, token);
    return {};
  }

  std::vector<locks::AnyLock> kinds_;
};

}  // namespace keyway::lockcheck
