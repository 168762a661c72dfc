#include "keyway/server/statistics/worker_statistics.h"

#include <algorithm>

namespace keyway::server {

void ErrorCounters::add(std::string_view kind) {
  kind = kind.substr(0, kLongestKind);
  const std::size_t used = used_.load(std::memory_order_relaxed);  // this thread wrote it
  for (std::size_t i = 0; i < used; ++i) {
    if (kinds_[i].text() == kind) return kinds_[i].count.add(1);
  }
  if (used == kMaxKinds) return;
  Kind& fresh = kinds_[used];
  std::copy(kind.begin(), kind.end(), fresh.name.begin());
  fresh.bytes = static_cast<std::uint8_t>(kind.size());
  fresh.count.add(1);
  used_.store(used + 1, std::memory_order_release);  // the name, to each()
}

WorkerStatistics::WorkerStatistics(std::size_t commands, std::size_t fibers, std::uint64_t seed)
    : locks(fibers), hot_spots(seed), commands_(commands) {}

WorkerStatistics::~WorkerStatistics() {
  for (const auto& counters : commands_) {
    const std::unique_ptr<CommandCounters> owned(counters.load(std::memory_order_relaxed));
  }
}

CommandCounters& WorkerStatistics::make(std::size_t command) {
  auto made = std::make_unique<CommandCounters>();
  CommandCounters& counters = *made;
  commands_[command].store(made.release(), std::memory_order_release);  // to look_at()
  return counters;
}

}  // namespace keyway::server
