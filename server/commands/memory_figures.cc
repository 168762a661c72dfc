#include "keyway/server/commands/memory_figures.h"

#include <unistd.h>

#include <fstream>

#include "keyway/server/commands/own_usage.h"

namespace keyway::server {

MemoryFigures memory_figures(const Call& call) {
  const VolumeUsage usage = own_usage(call.session.whole(), call.service.facts);
  MemoryFigures figures;
  figures.used = used_bytes(usage);
  figures.peak = call.service.volumes.raise_peak(figures.used);
  figures.startup = usage.segment_bytes - usage.heap.heap_bytes;
  figures.resident = resident_bytes();
  figures.heap = usage.heap.heap_bytes;
  figures.heap_free = usage.heap.free_bytes;
  figures.elements = usage.elements;
  return figures;
}

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  statm >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace keyway::server
