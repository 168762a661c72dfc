#include "keyway/server/statistics/statistics.h"

#include "keyway/locks/base/clock.h"

namespace keyway::server {

CommandTotals& CommandTotals::operator-=(const CommandTotals& earlier) {
  calls -= earlier.calls;
  failed -= earlier.failed;
  rejected -= earlier.rejected;
  ns -= earlier.ns;
  latencies -= earlier.latencies;
  return *this;
}

Totals& Totals::operator-=(const Totals& earlier) {
  calls -= earlier.calls;
  error_replies -= earlier.error_replies;
  connections_all -= earlier.connections_all;
  connections_rejected -= earlier.connections_rejected;
  bytes_in -= earlier.bytes_in;
  bytes_out -= earlier.bytes_out;
  reads -= earlier.reads;
  writes -= earlier.writes;
  hits -= earlier.hits;
  misses -= earlier.misses;
  expired -= earlier.expired;
  return *this;
}

WorkerStatistics& Statistics::add_worker(std::size_t fibers) {
  return *workers_.emplace_back(
      std::make_unique<WorkerStatistics>(commands_, fibers, steady_ns() + workers_.size()));
}

CommandTotals Statistics::counted(std::size_t command) const {
  CommandTotals totals;
  for (const auto& worker : workers_) {
    const CommandCounters* counters = worker->look_at(command);
    if (counters == nullptr) continue;
    totals.calls += counters->calls.value();
    totals.failed += counters->failed.value();
    totals.rejected += counters->rejected.value();
    totals.ns += counters->ns.value();
    counters->latencies.add_to(totals.latencies);
  }
  return totals;
}

Totals Statistics::counted() const {
  Totals totals;
  for (const auto& worker : workers_) {
    totals.calls += worker->calls.value();
    totals.error_replies += worker->error_replies.value();
    totals.connections_all += worker->connections_all.value();
    totals.bytes_in += worker->bytes_in.value();
    totals.bytes_out += worker->bytes_out.value();
    totals.reads += worker->reads.value();
    totals.writes += worker->writes.value();
    totals.hits += worker->hits.value();
    totals.misses += worker->misses.value();
    totals.expired += worker->expired.value();
  }
  totals.connections_rejected = rejected_.load(std::memory_order_relaxed);  // a figure for people
  return totals;
}

std::map<std::string, std::uint64_t> Statistics::counted_errors() const {
  std::map<std::string, std::uint64_t> errors;
  for (const auto& worker : workers_) {
    worker->errors.each(
        [&](std::string_view kind, std::uint64_t count) { errors[std::string(kind)] += count; });
  }
  return errors;
}

CommandTotals Statistics::command(std::size_t command) const {
  const MutexLock held(mutex_);  // first: or a reset between the two would turn it negative
  CommandTotals totals = counted(command);
  const auto base = command_base_.find(command);
  if (base != command_base_.end()) totals -= base->second;
  return totals;
}

Totals Statistics::totals() const {
  const MutexLock held(mutex_);
  Totals totals = counted();
  return totals -= base_;
}

std::map<std::string, std::uint64_t> Statistics::errors() const {
  const MutexLock held(mutex_);
  auto errors = counted_errors();
  for (const auto& [kind, count] : error_base_) errors[kind] -= count;
  std::erase_if(errors, [](const auto& entry) { return entry.second == 0; });
  return errors;
}

std::uint64_t Statistics::connections() const {
  std::uint64_t connections = 0;
  for (const auto& worker : workers_) connections += worker->connections.value();
  return connections;
}

std::uint64_t Statistics::connections_parked() const {
  std::uint64_t parked = 0;
  for (const auto& worker : workers_) parked += worker->connections_parked.value();
  return parked;
}

LockTotals Statistics::locks() const {
  LockTotals totals;
  for (const auto& worker : workers_) {
    for (const LockCounters& session : worker->locks) {
      totals.shared += session.shared.value();
      totals.exclusive += session.exclusive.value();
      totals.contended += session.contended.value();
      totals.handed_over += session.handed_over.value();
      totals.timeouts += session.timeouts.value();
      totals.not_needed += session.not_needed.value();
      totals.warm += session.warm.value();
      totals.cold += session.cold.value();
      totals.refused += session.refused.value();
      totals.reads_by_owners += session.reads_by_owners.value();
      totals.edits_by_owners += session.edits_by_owners.value();
      totals.messages += session.messages.value();
      totals.round_trips += session.round_trips.value();
      totals.loopbacks += session.loopbacks.value();
      totals.reads_repeated += session.reads_repeated.value();
      totals.flushes += session.flushes.value();
    }
  }
  return totals;
}

HotReport Statistics::hottest(Spot spot, Access access, std::size_t most) const {
  HotReport report;
  for (const auto& worker : workers_) worker->hot_spots.add_to(report, spot, access);
  keep_top(report.entries, most);
  return report;
}

void Statistics::pace(std::uint64_t now_ns) {
  const Totals all = counted();
  calls_pace_.look(now_ns, all.calls);
  bytes_in_pace_.look(now_ns, all.bytes_in);
  bytes_out_pace_.look(now_ns, all.bytes_out);
}

void Statistics::reset() {
  const MutexLock held(mutex_);
  base_ = counted();
  error_base_ = counted_errors();
  command_base_.clear();
  for (std::size_t command = 0; command < commands_; ++command) {
    CommandTotals totals = counted(command);
    if (totals.calls + totals.rejected != 0) command_base_.emplace(command, totals);
  }
  for (const auto& worker : workers_) worker->hot_spots.clear();
}

}  // namespace keyway::server
