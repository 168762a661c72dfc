// Settings: what CONFIG SET may change while the server runs.
//
// *Thread safety.* Each is a value by itself, read and written by anybody. The thresholds of the
// slow log and of latency events are with them.
#pragma once

#include <atomic>
#include <cstdint>

namespace keyway::server {

struct Settings {
  // relaxed wherever it is used: a limit by itself.
  std::atomic<std::uint32_t> most_clients{10'000};
  /// As many files as may be open allow for no more. Set before anybody executes.
  std::uint32_t clients_limit = 1'000'000;
};

}  // namespace keyway::server
