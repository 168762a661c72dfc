// Session<E>: the locks of stripes, whose kinds may change. Included by session_impl.h.
#pragma once

#include "keyway/kvstore/session.h"

namespace keyway::store {

/// What this session remembers of a stripe's kind: a hint, which every acquire verifies.
template <fabric::Endpoint E>
inline locks::KindIndex& Session<E>::known(std::uint32_t rank, std::uint64_t stripe) {
  if (lock_.kinds() == 1) return only_;
  if (known_.empty()) known_.resize(ep_.ranks());
  auto& of_rank = known_[rank];
  if (of_rank.empty()) of_rank.resize(geometry_.stripes());
  return of_rank[stripe];
}

template <fabric::Endpoint E>
Result<locks::StripeGrant> Session<E>::lock_stripe(std::uint32_t rank, std::uint64_t stripe,
                                                   locks::Mode mode, Deadline deadline) {
  if (alone_) return locks::StripeGrant();
  return lock_.acquire(agent_, geometry_.stripe_site(rank, stripe), mode, deadline,
                       known(rank, stripe));
}

template <fabric::Endpoint E>
void Session<E>::unlock_stripe(std::uint32_t rank, std::uint64_t stripe,
                               locks::StripeGrant& grant) {
  if (alone_) return static_cast<void>(ep_.flush(rank));  // which the release does, too
  lock_.release(agent_, geometry_.stripe_site(rank, stripe), grant);
}

/// One stripe's lock, given back when this goes, also by an exception.
template <fabric::Endpoint E>
class Session<E>::Hold {
 public:
  Hold(Session& session, std::uint32_t rank, std::uint64_t stripe, locks::StripeGrant& grant)
      : session_(session), rank_(rank), stripe_(stripe), grant_(grant) {}
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold() { session_.unlock_stripe(rank_, stripe_, grant_); }

 private:
  Session& session_;
  std::uint32_t rank_;
  std::uint64_t stripe_;
  locks::StripeGrant& grant_;
};

/// Locks the stripe of one key. The look at a remote stripe's kind and the read of the key's bucket
/// line, which comes next in any case, are one round trip.
template <fabric::Endpoint E>
Result<locks::StripeGrant> Session<E>::lock_place(const Location& location, locks::Mode mode) {
  if (alone_) return locks::StripeGrant();
  begin_time(location.rank);
  const auto read_line = [&] {
    ep_.post_read(fabric::rma, geometry_.bucket(location.rank, location.bucket),
                  std::as_writable_bytes(std::span(line_read_.words)));
    if (mode == locks::Mode::kWrite) post_next_expiry(location);
  };
  const std::uint64_t contended = agent_.stats.contended;
  auto grant = lock_.acquire(agent_, geometry_.stripe_site(location.rank, location.stripe), mode,
                             deadline_, known(location.rank, location.stripe), read_line);
  if (choice_ != nullptr && grant.ok() && --until_sample_ == 0) {
    leave_sample(location, mode, agent_.stats.contended != contended);
  }
  return grant;
}

/// The stripe is locked: a remote sample rides on the flush of its release.
template <fabric::Endpoint E>
void Session<E>::leave_sample(const Location& location, locks::Mode mode, bool waited) {
  const fabric::Address line = geometry_.stripe_counters(location.rank, location.stripe);
  const std::uint64_t one = Samples::one(mode == locks::Mode::kRead, waited);
  if (ep_.is_local(location.rank)) {
    ep_.fetch_add(fabric::cpu, line + kLocalSamplesOffset, one);
  } else {
    ep_.post_fetch_add(fabric::rma, line + kRemoteSamplesOffset, one);
  }
  // Not every n-th visit: a program that does things in turn would show the same thing always.
  until_sample_ = static_cast<std::uint32_t>(1 + sampling_.below(2 * kSampleEvery - 1));
  if (until_look_ > 0) --until_look_;
}

/// Word by word: others change them meanwhile.
template <fabric::Endpoint E>
StripeCounters Session<E>::counters_of(std::uint32_t rank, std::uint64_t stripe) {
  const fabric::Address line = geometry_.stripe_counters(rank, stripe);
  StripeCounters counters;
  with_access(rank, [&](auto access) {
    std::array<fabric::Pending, StripeCounters::kWords> pending;
    for (std::size_t i = 0; i < pending.size(); ++i) {
      pending[i] = ep_.post_load(access, line + i * 8);
    }
    const fabric::Flushed flushed = ep_.flush(rank);
    for (std::size_t i = 0; i < pending.size(); ++i) counters.words[i] = pending[i].value(flushed);
  });
  return counters;
}

template <fabric::Endpoint E>
StripeView Session<E>::look_at(const StripeCounters& counters, locks::KindIndex in_force) const {
  return view_of(counters.local(), counters.remote(), choice_->kinds[in_force]->readers_share,
                 counters.others());
}

/// Looks at a stripe's window, and switches its lock when that is due. The stripe is not locked.
template <fabric::Endpoint E>
void Session<E>::weigh(std::uint32_t rank, std::uint64_t stripe) {
  until_look_ = kLookEvery;
  const fabric::Address line = geometry_.stripe_counters(rank, stripe);
  const StripeCounters counters = counters_of(rank, stripe);
  const locks::KindIndex in_force = kind_of(rank, stripe).kind();
  const StripeView view = look_at(counters, in_force);
  if (view.samples < kMinSamples) return;
  const Verdict verdict = store::weigh(*choice_, in_force, view);
  if (!verdict.due && view.samples < kMaxSamples) return;
  const auto begin = [&](std::size_t word) {
    return verdict.due ? counters.words[word]
                       : Samples::half_way(counters.words[word + 2], counters.words[word]);
  };
  const std::uint64_t window[] = {begin(1), begin(2), LastOthers::word(view.workload.others)};
  with_access(rank, [&](auto access) {
    for (std::size_t i = 0; i < std::size(window); ++i) {
      ep_.store(access, line + kWindowOffset + i * 8, window[i]);
    }
  });
  // A switch that cannot be had in time is tried again when it is due again.
  if (verdict.due && switch_kind(rank, stripe, verdict.best).ok()) ++switches_;
}

template <fabric::Endpoint E>
StripeReport Session<E>::stripe_report(std::uint32_t rank, std::uint64_t stripe) {
  const locks::KindWord word = lock_.kinds() == 1 ? locks::KindWord() : kind_of(rank, stripe);
  StripeReport report{.kind = std::string(lock_.kind(word.kind()).traits().name),
                      .switches = word.switches(),
                      .why = "the store has this kind only, or does not choose"};
  if (choice_ == nullptr) return report;
  const StripeCounters counters = counters_of(rank, stripe);
  const StripeView view = look_at(counters, word.kind());
  report.samples = view.samples;
  report.why = "no visit has been sampled yet, or since the last switch";
  if (view.samples == 0) return report;
  report.reads = view.workload.reads;
  report.local = view.workload.local;
  report.others = view.workload.others;
  report.why = locks::why(choice_->kinds, view.workload, choice_->costs);
  return report;
}

/// The bucket line that lock_place() has read, if it has.
template <fabric::Endpoint E>
const Bucket* Session<E>::line_of(const locks::StripeGrant& grant) const {
  return grant.read_first ? &line_read_ : nullptr;
}

template <fabric::Endpoint E>
Status Session<E>::switch_kind(std::uint32_t rank, std::uint64_t stripe, locks::KindIndex target) {
  if (rank >= ep_.ranks() || stripe >= geometry_.stripes() || target >= lock_.kinds()) {
    return {
        Code::kInvalidArgument,
        fmt::format("there is no stripe {} at rank {}, or no lock kind {}", stripe, rank, target)};
  }
  if (alone_) return {Code::kBusy, "a session that is alone in the store holds all its locks"};
  return lock_.switch_to(agent_, geometry_.stripe_site(rank, stripe), target, deadline_,
                         known(rank, stripe));
}

template <fabric::Endpoint E>
Status Session<E>::switch_kind(std::uint32_t rank, std::uint64_t stripe, std::string_view kind) {
  for (std::size_t i = 0; i < lock_.kinds(); ++i) {
    const auto index = static_cast<locks::KindIndex>(i);
    if (lock_.kind(index).traits().name == kind) return switch_kind(rank, stripe, index);
  }
  return {Code::kInvalidArgument,
          fmt::format("the store's stripes cannot have locks of kind '{}'; lock=auto opens it with "
                      "all that may pay",
                      kind)};
}

template <fabric::Endpoint E>
std::vector<LockKindReport> Session<E>::lock_kinds(std::uint32_t rank) {
  std::vector<LockKindReport> reports(lock_.kinds());
  for (std::size_t i = 0; i < lock_.kinds(); ++i) {
    reports[i].kind = lock_.kind(static_cast<locks::KindIndex>(i)).traits().name;
  }
  for (std::uint64_t stripe = 0; stripe < geometry_.stripes(); ++stripe) {
    const locks::KindWord word = lock_.kinds() == 1 ? locks::KindWord() : kind_of(rank, stripe);
    ++reports[word.kind()].stripes;
    reports[word.kind()].switches += word.switches();
  }
  return reports;
}

template <fabric::Endpoint E>
locks::KindWord Session<E>::kind_of(std::uint32_t rank, std::uint64_t stripe) {
  return with_access(rank, [&](auto access) {
    return lock_.word(agent_, geometry_.stripe_site(rank, stripe), access);
  });
}

}  // namespace keyway::store
