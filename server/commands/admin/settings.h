// Settings: values that CONFIG SET may change while the server runs.
//
// *Thread safety.* Each is an independent value; any thread may read and write it. The thresholds
// of the slow log and of latency events, and the password, are with them.
#pragma once

#include <atomic>
#include <cstdint>

namespace keyway::server {

/// relaxed wherever it is used: a limit by itself, which publishes nothing.
template <class Number>
class Setting {
 public:
  constexpr Setting(Number value) : value_(value) {}  // NOLINT: as the number is written
  Setting& operator=(Number value) {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }
  operator Number() const { return value_.load(std::memory_order_relaxed); }  // NOLINT

 private:
  std::atomic<Number> value_;
};

struct Settings {
  Setting<std::uint32_t> most_clients = 10'000;
  /// Limited by the number of files that may be open. Set before any request is executed.
  std::uint32_t clients_limit = 1'000'000;

  /// A client's requests on keys of other nodes are executed one after the other, too
  /// (--pipeline-order). Set before any request is executed.
  bool strict_pipelines = false;

  // Bytes, of one connection.
  Setting<std::uint64_t> word_bytes = 512ULL << 20;  // of one word of a request
  Setting<std::uint64_t> query_bytes = 1ULL << 30;   // received and not executed: more is not read
  Setting<std::uint64_t> output_bytes = 1ULL << 30;  // replies that wait to be sent; 0: no limit

  // Seconds; 0: for ever.
  Setting<std::uint32_t> idle_s = 0;     // without a request
  Setting<std::uint32_t> login_s = 60;   // until it has shaken hands (TLS) and given its password
  Setting<std::uint32_t> output_s = 60;  // without taking any of the replies that wait for it
  Setting<std::uint32_t> shutdown_s = 10;
  Setting<std::uint32_t> keepalive_s = 300;  // of silence, for new connections
};

}  // namespace keyway::server
