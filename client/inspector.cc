// Inspector: each call goes to the store's session, most to the function of the same name.
#include <fmt/core.h>

#include "keyway/client/session_impl.h"
#include "keyway/locks/distributed/lock_agent.h"

namespace keyway {

Result<VolumeReport> Inspector::report(std::uint32_t rank) {
  return session_->with([&](auto& s) { return s.report(rank); });
}

VolumeUsage Inspector::usage(std::uint32_t rank) {
  return session_->with([&](auto& s) { return s.usage(rank); });
}

VolumeCounts Inspector::counts(std::uint32_t rank) {
  return session_->with([&](auto& s) { return s.counts(rank); });
}

std::uint64_t Inspector::leased_bytes(std::uint32_t rank) {
  return session_->with([&](auto& s) { return s.leased_bytes(rank); });
}

std::uint64_t Inspector::stored_bytes(std::string_view key, const ElementInfo& info) {
  return session_->with([&](auto& s) { return s.stored_bytes(key, info); });
}

StripePlace Inspector::stripe_of(std::string_view key) {
  return session_->with([&](auto& s) { return s.stripe_of(key); });
}

std::vector<LockKindReport> Inspector::lock_kinds(std::uint32_t rank) {
  return session_->with([&](auto& s) { return s.lock_kinds(rank); });
}

StripeReport Inspector::stripe_report(std::uint32_t rank, std::uint64_t stripe) {
  return session_->with([&](auto& s) { return s.stripe_report(rank, stripe); });
}

Status Inspector::switch_lock(std::uint32_t rank, std::uint64_t stripe, std::string_view kind) {
  return session_->with([&](auto& s) { return s.switch_kind(rank, stripe, kind); });
}

Result<std::uint64_t> Inspector::sweep_expired(std::uint32_t rank) {
  return session_->with([&](auto& s) { return s.sweep_expired(rank); });
}

Result<SweepPart> Inspector::sweep_part(std::uint32_t rank, std::uint64_t from,
                                        std::uint64_t lines) {
  return session_->with([&](auto& s) { return s.sweep_part(rank, from, lines); });
}

namespace {

LockCounts lock_counts_of(const auto& session) {
  const locks::LockStats& stats = session.lock_stats();
  return {.shared = stats.reads,
          .exclusive = stats.writes,
          .contended = stats.contended,
          .handed_over = stats.handovers(),
          .timeouts = stats.timeouts,
          .not_needed = session.local_reads()};
}

LockCounts lock_counts_of(const remote::Session&) { return {}; }

RemoteWork remote_work_of(const auto& session) { return session.remote_work(); }

RemoteWork remote_work_of(const remote::Session&) { return {}; }

std::string lock_report_of(const auto& session) {
  const LockCounts counts = lock_counts_of(session);
  std::string text = fmt::format(
      "{} shared and {} exclusive grants, {} contended, {} handed over, {} timed out; not needed "
      "by "
      "{} local reads",
      counts.shared, counts.exclusive, counts.contended, counts.handed_over, counts.timeouts,
      counts.not_needed);
  if (const auto* times = session.lock_times()) {
    text += fmt::format("; waited {} ns at the median, {} at 99%; held {} and {}",
                        times->wait_ns.percentile(50), times->wait_ns.percentile(99),
                        times->hold_ns.percentile(50), times->hold_ns.percentile(99));
  }
  return text;
}

std::string lock_report_of(const remote::Session&) { return "the locks are the server's"; }

}  // namespace

LockCounts Inspector::lock_counts() {
  return session_->with([](const auto& s) { return lock_counts_of(s); });
}

RemoteWork Inspector::remote_work() {
  return session_->with([](const auto& s) { return remote_work_of(s); });
}

std::string Inspector::lock_report() {
  return session_->with([](const auto& s) { return lock_report_of(s); });
}

}  // namespace keyway
