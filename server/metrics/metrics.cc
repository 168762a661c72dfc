#include "keyway/server/metrics/metrics.h"

#include <sys/resource.h>

#include <string>
#include <utility>

#include "keyway/locks/base/clock.h"
#include "keyway/server/commands/admin/memory_figures.h"
#include "keyway/server/commands/engine/table.h"

namespace keyway::server {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

using Families = std::vector<MetricFamily>;
using Labels = std::vector<ClientMetric::Label>;

constexpr double kNsPerS = 1e9;

/// A family to which metrics are added one by one.
class Family {
 public:
  Family(Families& families, std::string name, std::string help, MetricType type)
      : family_(families.emplace_back(MetricFamily{std::move(name), std::move(help), type, {}})) {}

  void add(double value, Labels labels = {}) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.counter.value = value;
    metric.gauge.value = value;
    family_.metric.push_back(std::move(metric));
  }
  void add(std::uint64_t value, Labels labels = {}) {
    add(static_cast<double>(value), std::move(labels));
  }
  void add(ClientMetric metric) { family_.metric.push_back(std::move(metric)); }

 private:
  MetricFamily& family_;
};

void add_one(Families& families, const char* name, const char* help, MetricType type,
             double value) {
  Family(families, name, help, type).add(value);
}

template <class Number>
void add_counter(Families& families, const char* name, const char* help, Number value) {
  add_one(families, name, help, MetricType::Counter, static_cast<double>(value));
}

template <class Number>
void add_gauge(Families& families, const char* name, const char* help, Number value) {
  add_one(families, name, help, MetricType::Gauge, static_cast<double>(value));
}

/// Bounds twice as long each, from 1 us to 17 s.
ClientMetric duration_of(std::string command, const CommandTotals& totals) {
  constexpr std::uint64_t kMin = 1024;  // ns
  constexpr int kBounds = 25;
  ClientMetric metric;
  metric.label = {{"command", std::move(command)}};
  auto& histogram = metric.histogram;
  histogram.sample_count = totals.latencies.count();
  histogram.sample_sum = static_cast<double>(totals.ns) / kNsPerS;
  for (int i = 0; i < kBounds; ++i) {
    const std::uint64_t bound = kMin << i;
    histogram.bucket.push_back(
        {totals.latencies.at_most(bound - 1), static_cast<double>(bound) / kNsPerS});
  }
  histogram.bucket.push_back({histogram.sample_count, std::numeric_limits<double>::infinity()});
  return metric;
}

void add_commands(Families& families, const Service& service) {
  constexpr std::size_t kFamilies = 4;
  families.reserve(families.size() + kFamilies);  // the four are filled side by side
  Family calls(families, "keyway_commands_total", "Calls of a command, failed ones included.",
               MetricType::Counter);
  Family failed(families, "keyway_commands_failed_total", "Calls that answered with an error.",
                MetricType::Counter);
  Family rejected(families, "keyway_commands_rejected_total",
                  "Requests that were refused before they ran.", MetricType::Counter);
  Family durations(families, "keyway_command_duration_seconds", "Durations of calls.",
                   MetricType::Histogram);
  for (std::size_t number = 0; number < command_numbers(); ++number) {
    const CommandTotals totals = service.statistics.command(number);
    if (totals.calls + totals.rejected == 0) continue;
    const std::string name(command_of(number).name);
    calls.add(totals.calls, {{"command", name}});
    failed.add(totals.failed, {{"command", name}});
    rejected.add(totals.rejected, {{"command", name}});
    if (totals.calls != 0) durations.add(duration_of(name, totals));
  }
}

void add_errors(Families& families, const Service& service) {
  Family errors(families, "keyway_errors_total", "Errors answered, by their kind.",
                MetricType::Counter);
  for (const auto& [kind, count] : service.statistics.errors()) errors.add(count, {{"kind", kind}});
}

void add_connections(Families& families, const Service& service) {
  const Totals totals = service.statistics.totals();
  add_gauge(families, "keyway_connections", "Clients connected at present.",
            service.statistics.connections());
  add_gauge(families, "keyway_connections_limit", "Maximum number of clients at one time.",
            +service.settings.most_clients);
  add_counter(families, "keyway_connections_received_total", "Connections accepted.",
              totals.connections_all);
  add_counter(families, "keyway_connections_rejected_total", "Connections rejected at the limit.",
              totals.connections_rejected);
  add_gauge(families, "keyway_connections_blocked",
            "Clients with a waiting request, such as KW.LOCK.",
            service.statistics.connections_parked());
  add_counter(families, "keyway_received_bytes_total", "Bytes that clients have sent.",
              totals.bytes_in);
  add_counter(families, "keyway_sent_bytes_total", "Bytes of replies.", totals.bytes_out);
}

void add_store(Families& families, const Service& service) {
  const Totals totals = service.statistics.totals();
  {
    Family lookups(families, "keyway_key_lookups_total", "Lookups of keys by reads.",
                   MetricType::Counter);
    lookups.add(totals.hits, {{"found", "yes"}});
    lookups.add(totals.misses, {{"found", "no"}});
  }
  add_counter(families, "keyway_expired_total", "Expired keys that the sweep has removed.",
              totals.expired);
  const VolumeFigures& volumes = service.volumes;
  add_gauge(families, "keyway_elements", "Keys in the memory of this server.",
            volumes.elements.value());
  add_gauge(families, "keyway_expiring_elements", "Keys with an expiry.", volumes.expiring.value());
  add_gauge(families, "keyway_longest_chain_lines",
            "Lines of 64 bytes in the longest chain of a bucket since the start.",
            volumes.longest_chain_lines.value());
  add_gauge(families, "keyway_memory_bytes", "Memory of the store's segments.",
            volumes.segment_bytes.value());
  add_gauge(families, "keyway_heap_bytes", "Memory of the heaps in the segments.",
            volumes.heap_bytes.value());
  add_gauge(families, "keyway_heap_free_bytes", "Free bytes of the heaps.",
            volumes.heap_free_bytes.value());
}

void add_locks(Families& families, const Service& service) {
  const LockTotals locks = service.statistics.locks();
  {
    Family grants(families, "keyway_lock_grants_total", "Grants of locks.", MetricType::Counter);
    grants.add(locks.shared, {{"mode", "shared"}});
    grants.add(locks.exclusive, {{"mode", "exclusive"}});
  }
  add_counter(families, "keyway_lock_not_needed_total",
              "Reads of keys of this node that took no lock.", locks.not_needed);
  {
    Family reads(families, "keyway_remote_reads_total",
                 "Reads of single keys on other nodes, by the way they took.", MetricType::Counter);
    reads.add(locks.warm, {{"way", "warm"}});
    reads.add(locks.cold, {{"way", "cold"}});
    reads.add(locks.refused, {{"way", "locked"}});
    reads.add(locks.reads_by_owners, {{"way", "by_owner"}});
  }
  add_counter(families, "keyway_remote_edits_total", "Edits of other nodes' keys by their owners.",
              locks.edits_by_owners);
  add_counter(families, "keyway_remote_messages_total",
              "Operations that requests sent to other nodes.", locks.messages);
  add_counter(families, "keyway_remote_round_trips_total", "Waits for operations on other nodes.",
              locks.round_trips);
  add_counter(families, "keyway_fabric_loopbacks_total",
              "Operations of requests on this node that went through the fabric.", locks.loopbacks);
  add_counter(families, "keyway_fabric_flushes_total", "Calls of MPI_Win_flush for requests.",
              locks.flushes);
  add_counter(families, "keyway_remote_reads_repeated_total",
              "Elements of other nodes that reads fetched again.", locks.reads_repeated);
  add_counter(families, "keyway_lock_contended_total", "Acquires that waited.", locks.contended);
  add_counter(families, "keyway_lock_handovers_total", "Releases that woke the next waiter.",
              locks.handed_over);
  add_counter(families, "keyway_lock_timeouts_total", "Acquires that timed out.", locks.timeouts);
}

void add_ranks(Families& families, const Service& service) {
  constexpr std::size_t kFamilies = 4;
  families.reserve(families.size() + kFamilies);  // the four are filled side by side
  Family waits(families, "keyway_rank_waits_total",
               "Waits of requests for a rank that it answered.", MetricType::Counter);
  Family durations(families, "keyway_rank_wait_seconds_total",
                   "Total time of the waits that the rank answered.", MetricType::Counter);
  Family unanswered(families, "keyway_rank_waits_unanswered_total",
                    "Waits of requests for a rank that ended at a deadline.", MetricType::Counter);
  Family silent(
      families, "keyway_rank_silent",
      "1 if a request has waited for the rank for a second, and no later one was answered.",
      MetricType::Gauge);
  for (std::uint32_t rank = 0; rank < service.server_info.ranks; ++rank) {
    const RankWaits of = service.rank_waits(rank);
    const Labels labels = {{"rank", std::to_string(rank)}};
    waits.add(of.waits, labels);
    durations.add(static_cast<double>(of.waited_ns) / kNsPerS, labels);
    unanswered.add(of.unanswered, labels);
    silent.add(of.silent ? 1.0 : 0.0, labels);
  }
}

void add_hot(Families& families, const Service& service) {
  Family hottest(families, "keyway_hottest_key_ratio",
                 "Share of the most visited key in the sampled accesses.", MetricType::Gauge);
  for (const Access access : kAccesses) {
    const HotReport report = service.statistics.hottest(Spot::kKey, access, 1);
    const double share = report.samples == 0 ? 0
                                             : static_cast<double>(report.entries[0].count) /
                                                   static_cast<double>(report.samples);
    hottest.add(share, {{"access", access == Access::kRead ? "read" : "write"}});
  }
}

void add_process(Families& families, const Service& service) {
  const ServerInfo& server_info = service.server_info;
  Family(families, "keyway_build_info", "Constant 1; the labels are the version and the revision.",
         MetricType::Gauge)
      .add(1.0, {{"version", server_info.version}, {"revision", server_info.revision}});
  add_gauge(families, "keyway_uptime_seconds", "Time since the start of the server.",
            static_cast<double>(steady_ns() - server_info.begin_ns) / kNsPerS);
  add_gauge(families, "process_resident_memory_bytes", "Resident memory of the process.",
            resident_bytes());
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  add_counter(families, "process_cpu_seconds_total", "Processor time of the process.",
              seconds(used.ru_utime) + seconds(used.ru_stime));
}

}  // namespace

std::vector<MetricFamily> metrics_of(const Service& service) {
  Families families;
  add_process(families, service);
  add_commands(families, service);
  add_errors(families, service);
  add_connections(families, service);
  add_store(families, service);
  add_locks(families, service);
  add_ranks(families, service);
  add_hot(families, service);
  return families;
}

}  // namespace keyway::server
