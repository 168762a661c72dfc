#include "keyway/server/commands/admin/memory_figures.h"

#include <unistd.h>

#include <fstream>

#include "keyway/server/commands/admin/own_usage.h"

namespace keyway::server {

MemoryFigures memory_figures(const Call& call) {
  VolumeFigures& volumes = call.service.volumes;
  MemoryFigures figures;
  figures.used = used_bytes(volumes);
  figures.peak = volumes.raise_peak(figures.used);
  figures.startup = volumes.segment_bytes.value() - volumes.heap_bytes.value();
  figures.resident = resident_bytes();
  figures.heap = volumes.heap_bytes.value();
  figures.heap_free = volumes.heap_free_bytes.value();
  figures.elements = own_counts(call.session.whole(), call.service.server_info).elements;
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
