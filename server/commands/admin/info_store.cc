// INFO: keyspace, locks, fabric, volumes.

#include <utility>
#include <vector>

#include "keyway/server/commands/admin/info.h"

namespace keyway::server {

/// Expired elements count until a write meets them or needs their room.
void write_keyspace(const Call& call, InfoWriter& out) {
  const VolumeCounts counts = own_counts(call.session.whole(), call.service.server_info);
  if (counts.elements == 0) return;
  out.field("db0", fmt::format("keys={},expires={},avg_ttl=0", counts.elements, counts.expiring));
}

/// The locks that this server's sessions have taken, and the active kinds on the stripes of its
/// ranks.
void write_locks(const Call& call, InfoWriter& out) {
  const ServerInfo& server_info = call.service.server_info;
  const LockTotals locks = call.service.statistics.locks();
  out.field("lock_policy", server_info.lock);
  out.field("lock_shared_grants", locks.shared);
  out.field("lock_exclusive_grants", locks.exclusive);
  out.field("lock_contended", locks.contended);
  out.field("lock_handed_over", locks.handed_over);
  out.field("lock_timeouts", locks.timeouts);
  out.field("lock_not_needed", locks.not_needed);
  for (std::uint32_t rank = server_info.first_rank(); rank < server_info.end_rank(); ++rank) {
    for (const LockKindReport& kind : call.session.whole().inspector().lock_kinds(rank)) {
      out.field(fmt::format("lock_rank{}_{}", rank, kind.kind),
                fmt::format("stripes={},switches={}", kind.stripes, kind.switches));
    }
  }
}

namespace {

/// For each rank that this server has waited for; first the numbers of those that are silent.
void write_rank_waits(const Call& call, InfoWriter& out) {
  std::string silent;
  std::vector<std::pair<std::string, std::string>> lines;
  for (std::uint32_t rank = 0; rank < call.service.server_info.ranks; ++rank) {
    const RankWaits of = call.service.rank_waits(rank);
    if (of.silent) silent += fmt::format("{}{}", silent.empty() ? "" : " ", rank);
    if (of.waits + of.unanswered == 0 && !of.silent) continue;
    constexpr double kNsPerUs = 1e3;
    lines.emplace_back(
        fmt::format("fabric_rank{}", rank),
        fmt::format("waits={},mean_us={:.1f},unanswered={},silent={:d}", of.waits,
                    static_cast<double>(of.mean_ns()) / kNsPerUs, of.unanswered, of.silent));
  }
  out.field("fabric_silent_ranks", silent);
  for (const auto& [name, value] : lines) out.field(name, value);
}

}  // namespace

void write_fabric(const Call& call, InfoWriter& out) {
  const ServerInfo& server_info = call.service.server_info;
  out.field("fabric", server_info.fabric);
  out.field("fabric_ranks", server_info.ranks);
  out.field("fabric_processes", server_info.processes);
  out.field("fabric_process", server_info.process);
  out.field("fabric_topology", server_info.topology);
  const LockTotals remote = call.service.statistics.locks();
  out.field("remote_reads_warm", remote.warm);
  out.field("remote_reads_cold", remote.cold);
  out.field("remote_reads_locked", remote.refused);
  out.field("remote_reads_by_owners", remote.reads_by_owners);
  out.field("remote_reads_repeated", remote.reads_repeated);
  out.field("remote_edits_by_owners", remote.edits_by_owners);
  out.field("remote_messages", remote.messages);
  out.field("remote_round_trips", remote.round_trips);
  out.field("fabric_loopbacks", remote.loopbacks);
  out.field("fabric_flushes", remote.flushes);
  write_rank_waits(call, out);
}

/// Writes the figures of each rank with memory in this process: elements as they are now, bytes as
/// of the last check.
void write_volumes(const Call& call, InfoWriter& out) {
  const ServerInfo& server_info = call.service.server_info;
  const std::deque<RankFigures>& ranks = call.service.volumes.ranks;
  for (std::uint32_t i = 0; i < ranks.size(); ++i) {
    const std::uint32_t rank = server_info.first_rank() + i;
    const VolumeCounts counts = call.session.whole().inspector().counts(rank);
    const RankFigures& of_rank = ranks[i];
    out.field(fmt::format("volume{}", rank),
              fmt::format(
                  "elements={},expiring={},segment_bytes={},heap_bytes={},heap_free_bytes={},"
                  "heap_free_chunks={},table_bytes={},lock_bytes={},stripes={},"
                  "longest_chain_lines={}",
                  counts.elements, counts.expiring, of_rank.segment_bytes.value(),
                  of_rank.heap_bytes.value(), of_rank.heap_free_bytes.value(),
                  of_rank.heap_free_chunks.value(), of_rank.table_bytes.value(),
                  of_rank.lock_bytes.value(), of_rank.stripes.value(), counts.longest_chain_lines));
  }
}

}  // namespace keyway::server
