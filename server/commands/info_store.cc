// INFO: keyspace, locks, fabric, volumes.

#include "keyway/server/commands/info.h"

namespace keyway::server {

/// What has expired counts until a write meets it or needs its room.
void write_keyspace(const Call& call, InfoWriter& out) {
  const VolumeUsage usage = own_usage(call.session.whole(), call.service.facts);
  if (usage.elements == 0) return;
  out.field("db0", fmt::format("keys={},expires={},avg_ttl=0", usage.elements, usage.expiring));
}

/// What this server's sessions have taken, and the kinds in force on the stripes of its ranks.
void write_locks(const Call& call, InfoWriter& out) {
  const Facts& facts = call.service.facts;
  const LockTotals locks = call.service.statistics.locks();
  out.field("lock_policy", facts.lock);
  out.field("lock_shared_grants", locks.shared);
  out.field("lock_exclusive_grants", locks.exclusive);
  out.field("lock_contended", locks.contended);
  out.field("lock_handed_over", locks.handed_over);
  out.field("lock_timeouts", locks.timeouts);
  for (std::uint32_t rank = facts.first_rank(); rank < facts.end_rank(); ++rank) {
    for (const LockKindReport& kind : call.session.whole().lock_kinds(rank)) {
      out.field(fmt::format("lock_rank{}_{}", rank, kind.kind),
                fmt::format("stripes={},switches={}", kind.stripes, kind.switches));
    }
  }
}

void write_fabric(const Call& call, InfoWriter& out) {
  const Facts& facts = call.service.facts;
  out.field("fabric", facts.fabric);
  out.field("fabric_ranks", facts.ranks);
  out.field("fabric_processes", facts.processes);
  out.field("fabric_process", facts.process);
  out.field("fabric_topology", facts.topology);
}

/// Of each rank whose memory this process has.
void write_volumes(const Call& call, InfoWriter& out) {
  const Facts& facts = call.service.facts;
  for (std::uint32_t rank = facts.first_rank(); rank < facts.end_rank(); ++rank) {
    const VolumeUsage usage = call.session.whole().usage(rank);
    out.field(
        fmt::format("volume{}", rank),
        fmt::format("elements={},expiring={},segment_bytes={},heap_bytes={},heap_free_bytes={},"
                    "heap_free_chunks={},table_bytes={},lock_bytes={},stripes={},"
                    "longest_chain_lines={}",
                    usage.elements, usage.expiring, usage.segment_bytes, usage.heap.heap_bytes,
                    usage.heap.free_bytes, usage.heap.free_chunks, usage.table_bytes,
                    usage.lock_bytes, usage.stripes, usage.longest_chain_lines));
  }
}

}  // namespace keyway::server
