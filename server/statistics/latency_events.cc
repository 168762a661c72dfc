#include "keyway/server/statistics/latency_events.h"

#include <algorithm>
#include <utility>

namespace keyway::server {

std::string_view name_of(LatencyEvent event) {
  return event == LatencyEvent::kCommand ? "command" : "fast-command";
}

std::optional<LatencyEvent> latency_event(std::string_view name) {
  for (const LatencyEvent event : kLatencyEvents) {
    if (name == name_of(event)) return event;
  }
  return std::nullopt;
}

void LatencyEvents::add(LatencyEvent event, std::uint64_t unix_s, std::uint64_t ms) {
  const MutexLock held(mutex_);
  History& history = events_[static_cast<std::size_t>(event)];
  history.worst_ms = std::max(history.worst_ms, ms);
  if (!history.samples.empty() && history.samples.back().unix_s == unix_s) {
    LatencySample& last = history.samples.back();
    last.ms = std::max(last.ms, ms);
    return;
  }
  history.samples.push_back({unix_s, ms});
  if (history.samples.size() > kMaxSamples) history.samples.pop_front();
}

LatencyEvents::History LatencyEvents::history(LatencyEvent event) const {
  const MutexLock held(mutex_);
  return events_[static_cast<std::size_t>(event)];
}

bool LatencyEvents::clear(LatencyEvent event) {
  const MutexLock held(mutex_);
  const History before = std::exchange(events_[static_cast<std::size_t>(event)], {});
  return !before.samples.empty();
}

}  // namespace keyway::server
