// Caches: the cost of an access to a cache line on a coherent multicore node.
//
// *What.* Keeps for each 64-byte line which hardware threads hold a copy, and until when the line
// is busy.
//   - A load by a holder, or a write by the only holder, is a hit: load_ns, store_ns or atomic_ns.
//   - A load that misses fetches a copy from the nearest holder, or from memory if there is none:
//     that transfer and then load_ns. Transfers from a holder overlap: the line is busy for
//     load_busy_ns of the transfer. Copies in flight are not passed on before all of them have
//     arrived.
//   - A write that misses, or that finds other holders, takes their copies away: it costs the
//     transfer from the farthest of them, invalidate_each_ns for each further one, and the hit. The
//     line is busy until the write is done: writers are served one after another.
//   - A request that finds the line busy waits; lines serve in the order of request.
//   - A request reaches the holder after request_share of the transfer. Until then the holder
//     continues to use the line, so it may do many atomics in a row while another thread requests
//     the line.
//   - The home of a page is the NUMA node of the thread that touches it first, as on Linux.
// *Limits.* Caches never run full, so a line never returns to memory; copies that are dirty,
// exclusive or forwarded cost the same; the directory does not favour near requesters. The store
// buffer is coherent_node.h's.
// *Thread safety.* None: one thread simulates. No fibers and no clock: the caller passes the time.
// *Invariants.* C1: after a write its thread is the only holder. C2: writes of one line do not
// overlap in time. C3: only a thread that has a copy passes it on. C4: a thread that was asked for
// its copy uses it until the request reaches it, and no longer.
// *Source.* MESI with cache-to-cache transfers, costs by distance: Molka, Hackenberg, Schoene,
// Nagel (ICPP'15) for Haswell-EP; David, Guerraoui, Trigonakis (SOSP'13), section 5, for the
// serialization of atomics on a line and for the cost of a store, which is that of the farthest
// sharer.
#pragma once

#include <bitset>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "keyway/locks/base/rng.h"
#include "keyway/locks/fabric/address.h"
#include "keyway/locks/fabric/sim/multicore.h"

namespace keyway::fabric::sim {

enum class AccessKind : std::uint8_t { kLoad, kStore, kAtomic };

/// Counts of accesses.
struct CacheStats {
  std::uint64_t hits = 0;
  std::array<std::uint64_t, kNearnesses> transfers{};  // by the Nearness that was paid for
  std::uint64_t from_memory = 0;
  std::uint64_t invalidated = 0;  // copies taken away
  double waited_ns = 0;           // for busy lines, in all
};

class Caches {
 public:
  static constexpr std::uint64_t kLineBytes = 64;
  static constexpr std::uint64_t kPageBytes = 4096;

  /// The seed is of jitter_share.
  Caches(const MulticoreShape& shape, const CacheCosts& costs, std::uint64_t seed = 0);

  /// An access by a hardware thread that begins at `now`, which never lies before that of an
  /// earlier call: when it is done.
  double access(std::uint32_t thread, Address at, AccessKind kind, double now);
  /// Whether the thread has a copy.
  bool holds(std::uint32_t thread, Address at) const;

  const CacheStats& stats() const { return stats_; }
  /// The line of an address, as a number.
  static std::uint64_t line_of(Address at) { return at.word() / kLineBytes; }

 private:
  using Threads = std::bitset<kMaxHardwareThreads>;
  struct Line {
    Threads holders;
    Threads sources;        // holders with an arrived copy, which can pass it on
    double arrives_at = 0;  // the last of the copies on their way
    double busy_until = 0;
    Threads asked;             // holders that were asked for their copies
    bool asked_alone = false;  // one that could write
    double asked_until = 0;    // when the request reaches them
  };

  double hit_ns(AccessKind kind) const;
  bool hits(std::uint32_t thread, AccessKind kind, const Line& line, double now) const;
  void ask(Line& line, double begins, double transfer_ns);
  double fetch_ns(std::uint32_t thread, Address at, const Line& line);
  double take_ns(std::uint32_t thread, Address at, const Line& line);
  double memory_ns(std::uint32_t thread, Address at);
  double jittered(double transfer);
  const Threads& near(std::uint32_t thread, Nearness how) const {
    return near_[thread * kNearnesses + static_cast<std::size_t>(how)];
  }

  MulticoreShape shape_;
  CacheCosts costs_;
  std::vector<Threads> near_;  // by thread and Nearness: the threads that are just so near
  std::unordered_map<std::uint64_t, Line> lines_;
  std::unordered_map<std::uint64_t, std::uint32_t> home_of_page_;  // NUMA node
  CacheStats stats_;
  Rng rng_;
};

}  // namespace keyway::fabric::sim
