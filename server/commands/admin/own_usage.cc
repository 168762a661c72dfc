#include "keyway/server/commands/admin/own_usage.h"

namespace keyway::server {

void look_at_volumes(Session& session, const ServerInfo& server_info, VolumeFigures& figures) {
  if (figures.ranks.empty())
    figures.ranks.resize(server_info.end_rank() - server_info.first_rank());
  VolumeUsage all;
  for (std::uint32_t rank = server_info.first_rank(); rank < server_info.end_rank(); ++rank) {
    const VolumeUsage usage = session.inspector().usage(rank);
    RankFigures& of_rank = figures.ranks[rank - server_info.first_rank()];
    of_rank.segment_bytes.set(usage.segment_bytes);
    of_rank.table_bytes.set(usage.table_bytes);
    of_rank.lock_bytes.set(usage.lock_bytes);
    of_rank.stripes.set(usage.stripes);
    of_rank.heap_bytes.set(usage.heap.heap_bytes);
    of_rank.heap_free_bytes.set(usage.heap.free_bytes);
    of_rank.heap_free_chunks.set(usage.heap.free_chunks);
    all.add(usage);
    all.segment_bytes += usage.segment_bytes;
    all.heap.heap_bytes += usage.heap.heap_bytes;
    all.heap.free_bytes += usage.heap.free_bytes;
  }
  figures.elements.set(all.elements);
  figures.expiring.set(all.expiring);
  figures.longest_chain_lines.set(all.longest_chain_lines);
  figures.segment_bytes.set(all.segment_bytes);
  figures.heap_bytes.set(all.heap.heap_bytes);
  figures.heap_free_bytes.set(all.heap.free_bytes);
  figures.raise_peak(used_bytes(figures));
}

VolumeCounts own_counts(Session& session, const ServerInfo& server_info) {
  VolumeCounts all;
  for (std::uint32_t rank = server_info.first_rank(); rank < server_info.end_rank(); ++rank) {
    all.add(session.inspector().counts(rank));
  }
  return all;
}

std::uint64_t used_bytes(const VolumeFigures& figures) {
  return figures.segment_bytes.value() - figures.heap_free_bytes.value();
}

}  // namespace keyway::server
