// MemoryFigures: how much memory a server uses, as INFO and MEMORY report it. A thread measures the
// store's volumes once a second, and the figures are its last measurement.
//
// *Thread safety.* As Call.
#pragma once

#include <cstdint>

#include "keyway/server/commands/engine/call.h"

namespace keyway::server {

/// Bytes, unless said.
struct MemoryFigures {
  std::uint64_t used = 0;      // in the segments of this process's ranks
  std::uint64_t peak = 0;      // the highest measurement: one each second
  std::uint64_t startup = 0;   // part of `used`: tables, locks, headers; all but the heap
  std::uint64_t resident = 0;  // the process's
  std::uint64_t heap = 0;
  std::uint64_t heap_free = 0;
  std::uint64_t elements = 0;  // a number

  std::uint64_t dataset() const { return used - startup; }
  /// Negative where memory of the segments has never been touched.
  std::int64_t fragmentation_bytes() const {
    return static_cast<std::int64_t>(resident) - static_cast<std::int64_t>(used);
  }
};

MemoryFigures memory_figures(const Call& call);
/// The process's, as the kernel counts it.
std::uint64_t resident_bytes();
/// 0 of nothing.
double ratio(std::uint64_t part, std::uint64_t whole);

}  // namespace keyway::server
