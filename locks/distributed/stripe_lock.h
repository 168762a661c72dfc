// StripeLock: a lock that can change its kind while it is in use.
//
// *What.* A stripe has a lock of each of a few kinds, each with its own line, and one word that
// names the active kind. Agents remember that word in a byte per stripe. To acquire, an agent takes
// the lock of the remembered kind and then, holding it, checks the word. If the word names another
// kind, the agent releases the lock, remembers the new kind, and starts again. On a local stripe
// the check is a load; on a remote one it is posted together with the caller's first read, and
// costs no round trip.
// *Thread safety.* Immutable, as a kind. The byte belongs to the agent.
// *Invariants.*
//   W1  The word changes only while its writer holds the locks of both kinds exclusively, the one
//       that it names and the one that it will name.
//   W2  So while an agent holds a stripe's lock of kind k in any mode, the word stays equal to k,
//       or stays unequal to k, from the grant to the release: one check at any time between them is
//       enough.
//   W3  While it holds a lock of an inactive kind, an agent waits for nothing but its check. So a
//       switcher that waits for the second lock waits for agents that are about to leave.
//   W4  The switcher copies the token's word while it holds both locks, and an agent asks for its
//       token only when it knows that its kind is active. So the tokens of one stripe increase,
//       whichever kind assigns them (L4).
// *Source.* Ours. A holder may rely on the word, as in the revalidation of lock-coupling trees;
// docs/decisions/008 has the rejected alternative.
#pragma once

#include <utility>
#include <vector>

#include "keyway/locks/distributed/any_lock.h"
#include "keyway/locks/distributed/grant_record.h"
#include "keyway/locks/distributed/kind_word.h"

namespace keyway::locks {

/// The place of a stripe's locks: one after the other, on the word's rank. Zeroed memory is free.
struct StripeSite {
  fabric::Address word;  // KindWord
  LockSite first;        // the lock of kind 0
  /// From one kind's satellites to the next one's.
  std::uint64_t satellite_stride = 0;

  LockSite of(KindIndex kind) const {
    LockSite site = first;
    site.line = site.line + kind * kLockLineBytes;
    if (site.satellites != 0) site.satellites += kind * satellite_stride;
    return site;
  }
};

/// Proof of holding a stripe.
struct StripeGrant {
  Grant grant;
  KindIndex kind = 0;
  bool read_first = false;  // the reads of acquire()'s post_first were made under the lock
};

/// Kinds among which a lock may change: those that exclude (L1), which is all that W2 needs.
template <class L>
concept Switchable = !requires {
  L::kExcludesNobody;
};

template <class L>
class BasicStripeLock {
 public:
  static_assert(Switchable<L>);
  using Site = StripeSite;

  /// The first kind is active if the word is zero. A single kind needs no check.
  explicit BasicStripeLock(std::vector<L> kinds) : kinds_(std::move(kinds)) {
    KW_CHECK(!kinds_.empty() && kinds_.size() <= kMaxKinds);
  }
  explicit BasicStripeLock(L kind) : kinds_{std::move(kind)} {}
  std::size_t kinds() const { return kinds_.size(); }
  const L& kind(KindIndex index) const { return kinds_[index]; }

  /// `known` is the agent's byte of this stripe. `post_first` may be called to post reads of the
  /// stripe's home rank together with the check, or with the lock's own operations if the stripe
  /// has one kind; the grant says whether the reads are complete and were made under the lock. It
  /// may be called more than once: the last call counts.
  template <fabric::Endpoint E, class PostFirst>
  [[gnu::hot]] Result<StripeGrant> acquire(LockAgent<E>& agent, const StripeSite& site, Mode mode,
                                           Deadline deadline, KindIndex& known,
                                           PostFirst&& post_first) const {
    if constexpr (requires(L kind) {
                    kind.acquire(agent, site.first, mode, deadline, post_first);
                  }) {
      if (kinds_.size() == 1) {
        auto grant = kinds_.front().acquire(agent, site.first, mode, deadline, post_first);
        if (!grant.ok()) return grant.status();
        return StripeGrant{*grant, 0, grant->read_first};
      }
    }
    while (true) {
      const KindIndex kind = known;
      auto grant = kinds_[kind].acquire(agent, site.of(kind), mode, deadline);
      if (!grant.ok()) return grant.status();
      if (in_force(agent, site, known, post_first)) {
        return StripeGrant{*grant, kind, looks_remotely(agent, site)};
      }
      kinds_[kind].release(agent, site.of(kind), *grant);
      deadline = deadline.started(agent.ep.now_ns());  // now that it is not the only wait
    }
  }
  template <fabric::Endpoint E>
  Result<StripeGrant> acquire(LockAgent<E>& agent, const StripeSite& site, Mode mode,
                              Deadline deadline, KindIndex& known) const {
    return acquire(agent, site, mode, deadline, known, NoReads());
  }

  /// kBusy if the active lock is taken.
  template <fabric::Endpoint E>
  Result<StripeGrant> try_acquire(LockAgent<E>& agent, const StripeSite& site, Mode mode,
                                  KindIndex& known) const {
    while (true) {
      const KindIndex kind = known;
      auto grant = kinds_[kind].try_acquire(agent, site.of(kind), mode);
      if (!grant.ok() && grant.code() != Code::kBusy) return grant.status();
      const bool current = in_force(agent, site, known, NoReads());
      if (grant.ok() && current) return StripeGrant{*grant, kind};
      if (grant.ok()) kinds_[kind].release(agent, site.of(kind), *grant);
      if (current) return grant.status();
    }
  }

  template <fabric::Endpoint E>
  void release(LockAgent<E>& agent, const StripeSite& site, StripeGrant& held) const {
    kinds_[held.kind].release(agent, site.of(held.kind), held.grant);
  }

  /// Makes another kind active, for all agents. Waits for the stripe as a writer does, and then for
  /// agents that are about to leave the other lock (W3). Several agents may switch at once. Holding
  /// other stripes meanwhile is as safe as in acquire().
  template <fabric::Endpoint E>
  Status switch_to(LockAgent<E>& agent, const StripeSite& site, KindIndex target, Deadline deadline,
                   KindIndex& known) const {
    KW_CHECK(target < kinds_.size());
    deadline = deadline.started(agent.ep.now_ns());
    auto held = acquire(agent, site, Mode::kWrite, deadline, known);
    if (!held.ok()) return held.status();
    Status status;
    if (held->kind != target) status = hand_over(agent, site, *held, target, deadline, known);
    release(agent, site, *held);
    return status;
  }

  /// `access`: the word changes by stores only, so either class may read it.
  template <fabric::Endpoint E, class Access = fabric::RmaClass>
  KindWord word(LockAgent<E>& agent, const StripeSite& site, Access access = {}) const {
    return {agent.ep.load(access, site.word)};
  }
  /// The active lock, described by its kind.
  template <fabric::Endpoint E>
  LockDump dump(LockAgent<E>& agent, const StripeSite& site) const {
    const KindIndex kind = word(agent, site).kind();
    return kinds_[kind].dump(agent, site.of(kind));
  }

 private:
  template <fabric::Endpoint E>
  bool looks_remotely(const LockAgent<E>& agent, const StripeSite& site) const {
    return kinds_.size() > 1 && !agent.ep.is_local(site.word.rank());
  }

  /// The check (W2); remembers the kind that it finds. True if that is the remembered one.
  template <fabric::Endpoint E, class PostFirst>
  bool in_force(LockAgent<E>& agent, const StripeSite& site, KindIndex& known,
                PostFirst&& post_first) const {
    if (kinds_.size() == 1) return true;
    E& ep = agent.ep;
    KindWord found;
    if (looks_remotely(agent, site)) {
      const fabric::Pending look = ep.post_load(fabric::rma, site.word);
      post_first();
      found.word = look.value(ep.flush(site.word.rank()));
    } else {
      found.word = ep.load(fabric::cpu, site.word);
    }
    return std::exchange(known, found.kind()) == found.kind();
  }

  /// Called with the active lock held: takes the target's lock as well, and changes the word.
  template <fabric::Endpoint E>
  Status hand_over(LockAgent<E>& agent, const StripeSite& site, StripeGrant& held, KindIndex target,
                   Deadline deadline, KindIndex& known) const {
    const LockSite there = site.of(target);
    auto grant = kinds_[target].acquire(agent, there, Mode::kWrite, deadline);
    if (!grant.ok()) return grant.status();
    E& ep = agent.ep;
    const auto token = ep.load(fabric::rma, site.of(held.kind).line + kTokenOffset);
    ep.store(fabric::rma, there.line + kTokenOffset, token);                       // W4
    ep.store(fabric::rma, site.word, word(agent, site).switched_to(target).word);  // W1
    known = target;
    kinds_[target].release(agent, there, *grant);
    return {};
  }

  std::vector<L> kinds_;
};

using StripeLock = BasicStripeLock<AnyLock>;

}  // namespace keyway::locks
