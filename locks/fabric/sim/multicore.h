// Multicore: shape and costs of one cache-coherent node, as plain data.
//
// *What.* Sockets of NUMA nodes of cores of hardware threads; the costs of accesses to a cache
// line, by the line's place, and of the scheduler. caches.h and cores.h explain each figure. All
// times are ns.
// *Thread safety.* Plain data.
#pragma once

#include <array>
#include <cstdint>

namespace keyway::fabric::sim {

/// How near two hardware threads are, nearest first.
enum class Nearness : std::uint8_t { kSameThread, kSameCore, kSameNuma, kSameSocket, kOtherSocket };
inline constexpr std::size_t kNearnesses = 5;

/// Most hardware threads of a simulated node.
inline constexpr std::uint32_t kMaxHardwareThreads = 256;

/// Hardware threads count from 0: the threads of a core follow one another, then the cores of a
/// NUMA node, the NUMA nodes of a socket, the sockets.
struct MulticoreShape {
  std::uint32_t sockets = 1;
  std::uint32_t numa_per_socket = 1;
  std::uint32_t cores_per_numa = 1;
  std::uint32_t threads_per_core = 1;

  std::uint32_t cores() const { return sockets * numa_per_socket * cores_per_numa; }
  std::uint32_t threads() const { return cores() * threads_per_core; }
  std::uint32_t core_of(std::uint32_t thread) const { return thread / threads_per_core; }
  std::uint32_t numa_of(std::uint32_t thread) const { return core_of(thread) / cores_per_numa; }
  std::uint32_t socket_of(std::uint32_t thread) const { return numa_of(thread) / numa_per_socket; }
  Nearness nearness(std::uint32_t a, std::uint32_t b) const {
    if (a == b) return Nearness::kSameThread;
    if (core_of(a) == core_of(b)) return Nearness::kSameCore;
    if (numa_of(a) == numa_of(b)) return Nearness::kSameNuma;
    return socket_of(a) == socket_of(b) ? Nearness::kSameSocket : Nearness::kOtherSocket;
  }
};

/// Costs of the cache lines: see caches.h.
struct CacheCosts {
  double load_ns = 0;  // a load of a line that the thread holds
  double store_ns = 0;
  double atomic_ns = 0;
  /// A line's way from the cache of another hardware thread, by Nearness; [kSameThread] is unused.
  std::array<double, kNearnesses> transfer_ns{};
  /// From memory, by where its NUMA node is seen from the thread: the same, the same socket's, the
  /// other socket's.
  std::array<double, 3> memory_ns{};
  double invalidate_each_ns = 0;  // each further copy that a write takes away
  double load_busy_ns = 0;        // how long a transfer of one copy keeps the line busy
  /// The part of a transfer that its request takes: until then the holder continues to use the
  /// line.
  double request_share = 0;
  /// Transfers take up to this share more or less, drawn for each. Without it agents can fall into
  /// a step that no real machine keeps.
  double jitter_share = 0;
  /// The share of a load's wait that overlaps with waits for earlier loads, unless one of them
  /// brings its address: 0 in order, 1 with a window that holds them all.
  double overlap_share = 0;
};

/// Which hardware thread an agent gets, in the order of the agents. With the defaults: one thread
/// of each core, NUMA node after NUMA node, then the second threads. Both false: the threads of a
/// core one after another ("compact").
struct Placement {
  bool siblings_last = true;  // every core gets one agent before any gets a second
  bool scatter = false;       // cores are taken around the sockets and their NUMA nodes
};

/// Costs of the scheduler: see cores.h.
struct CoreCosts {
  double switch_ns = 0;   // from one agent of a hardware thread to the next
  double yield_ns = 0;    // a poll and a yield with no other agent to run
  double quantum_ns = 0;  // how long an agent may run while others want its hardware thread
  double wake_ns = 0;     // from a futex wake to when the sleeper runs, if its thread is free
};

/// Costs of waiting in the endpoint, locks/fabric/wait.h.
struct WaitCosts {
  double look_ns = 0;    // between two polls of a waiter that spins: a pause and a load
  double spin_ns = 0;    // how long a waiter spins before it gives its hardware thread away
  double retry_ns = 0;   // from a failed attempt to the next without back-off
  double signal_ns = 0;  // a futex wake, of its caller's time, for each sleeper
  bool sleeps = false;   // after spinning: a waiter sleeps on a futex instead of yielding
};

struct Multicore {
  MulticoreShape shape;
  Placement placement;
  CacheCosts cache;
  CoreCosts core;
  WaitCosts wait;
  /// Instructions around each operation that are not the memory access itself.
  double overhead_ns = 0;
};

}  // namespace keyway::fabric::sim
