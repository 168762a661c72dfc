// INFO: server, clients, memory, persistence, stats, replication, cpu, modules, cluster.

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>

#include "keyway/locks/base/clock.h"
#include "keyway/server/commands/admin/info.h"
#include "keyway/server/commands/admin/memory_figures.h"

namespace keyway::server {
namespace {

constexpr double kMega = 1e6;

std::string system_name() {
  utsname name{};
  if (uname(&name) != 0) return "unknown";
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

std::uint64_t system_bytes() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// "12.34%"
std::string percent(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{:.2f}%", 100 * ratio(part, whole));
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / kMega;
}

std::int64_t wall_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

void write_server(const Call& call, InfoWriter& out) {
  const ServerInfo& server_info = call.service.server_info;
  const std::uint64_t up_s = (steady_ns() - server_info.begin_ns) / 1'000'000'000;
  out.field("redis_version", kLikeRedis);
  out.field("redis_mode", call.service.mode());
  out.field("keyway_version", server_info.version);
  out.field("keyway_revision", server_info.revision);
  out.field("os", system_name());
  out.field("arch_bits", 8 * sizeof(void*));
  out.field("monotonic_clock", "POSIX clock_gettime");
  out.field("multiplexing_api", "epoll");
  out.field("gcc_version", fmt::format("{}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__));
  out.field("process_id", getpid());
  out.field("run_id", server_info.run_id);
  out.field("tcp_port", call.service.port);
  out.field("server_time_usec", wall_us());
  out.field("uptime_in_seconds", up_s);
  out.field("uptime_in_days", up_s / 86'400);
  out.field("executable", server_info.executable);
  out.field("config_file", server_info.config_file);
  out.field("workers", server_info.workers);
  out.field("fibers_per_worker", server_info.fibers);
}

void write_clients(const Call& call, InfoWriter& out) {
  out.field("connected_clients", call.service.statistics.connections());
  out.field("blocked_clients", call.service.statistics.connections_parked());
  out.field("maxclients", +call.service.settings.most_clients);
}

void write_memory(const Call& call, InfoWriter& out) {
  const MemoryFigures memory = memory_figures(call);
  const std::uint64_t most =
      call.service.server_info.memory_bytes *
      (call.service.server_info.end_rank() - call.service.server_info.first_rank());
  out.bytes("used_memory", memory.used);
  out.bytes("used_memory_rss", memory.resident);
  out.bytes("used_memory_peak", memory.peak);
  out.field("used_memory_peak_perc", percent(memory.used, memory.peak));
  out.field("used_memory_overhead", memory.startup);
  out.field("used_memory_startup", memory.startup);
  out.field("used_memory_dataset", memory.dataset());
  out.field("used_memory_dataset_perc", percent(memory.dataset(), memory.used));
  out.bytes("total_system_memory", system_bytes());
  out.bytes("maxmemory", most);
  out.field("maxmemory_policy", "noeviction");
  out.field("mem_fragmentation_ratio", fmt::format("{:.2f}", ratio(memory.resident, memory.used)));
  out.field("mem_fragmentation_bytes", memory.fragmentation_bytes());
  out.field("mem_allocator", "keyway");
}

/// There is no persistence: the data is in memory only.
void write_persistence(const Call&, InfoWriter& out) {
  out.field("loading", 0);
  out.field("async_loading", 0);
  out.field("rdb_bgsave_in_progress", 0);
  out.field("aof_enabled", 0);
  out.field("aof_rewrite_in_progress", 0);
}

void write_stats(const Call& call, InfoWriter& out) {
  constexpr double kKilo = 1024;
  const Statistics& statistics = call.service.statistics;
  const Totals totals = statistics.totals();
  const auto kbps = [](const Pace& pace) {
    return fmt::format("{:.2f}", static_cast<double>(pace.per_second()) / kKilo);
  };
  out.field("total_connections_received", totals.connections_all);
  out.field("total_commands_processed", totals.calls);
  out.field("instantaneous_ops_per_sec", statistics.calls_pace().per_second());
  out.field("total_net_input_bytes", totals.bytes_in);
  out.field("total_net_output_bytes", totals.bytes_out);
  out.field("instantaneous_input_kbps", kbps(statistics.bytes_in_pace()));
  out.field("instantaneous_output_kbps", kbps(statistics.bytes_out_pace()));
  out.field("rejected_connections", totals.connections_rejected);
  out.field("expired_keys", totals.expired);
  out.field("evicted_keys", 0);
  out.field("keyspace_hits", totals.hits);
  out.field("keyspace_misses", totals.misses);
  out.field("pubsub_channels", 0);
  out.field("pubsub_patterns", 0);
  out.field("total_error_replies", totals.error_replies);
  out.field("total_reads_processed", totals.reads);
  out.field("total_writes_processed", totals.writes);
}

void write_replication(const Call&, InfoWriter& out) {
  out.field("role", "master");
  out.field("connected_slaves", 0);
  out.field("master_failover_state", "no-failover");
}

void write_cpu(const Call&, InfoWriter& out) {
  rusage used{};
  rusage children{};
  getrusage(RUSAGE_SELF, &used);
  getrusage(RUSAGE_CHILDREN, &children);
  const auto field = [&](std::string_view name, const timeval& time) {
    out.field(name, fmt::format("{:.6f}", seconds(time)));
  };
  field("used_cpu_sys", used.ru_stime);
  field("used_cpu_user", used.ru_utime);
  field("used_cpu_sys_children", children.ru_stime);
  field("used_cpu_user_children", children.ru_utime);
}

void write_modules(const Call&, InfoWriter&) {}

void write_cluster(const Call& call, InfoWriter& out) {
  out.field("cluster_enabled", call.service.cluster.enabled ? 1 : 0);
}

}  // namespace keyway::server
