#include "keyway/tools/calibrate/host.h"

#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace keyway::calibrate {
namespace {

using fabric::sim::kMaxHardwareThreads;
using fabric::sim::MulticoreShape;
using fabric::sim::Nearness;

std::string read_cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "an unnamed processor";
}

struct HwlocTopology {
  HwlocTopology() {
    loaded = hwloc_topology_init(&handle) == 0 && hwloc_topology_load(handle) == 0;
  }
  ~HwlocTopology() {
    if (handle != nullptr) hwloc_topology_destroy(handle);
  }
  HwlocTopology(const HwlocTopology&) = delete;
  HwlocTopology& operator=(const HwlocTopology&) = delete;

  std::uint32_t count(hwloc_obj_type_t type) const {
    return static_cast<std::uint32_t>(std::max(1, hwloc_get_nbobjs_by_type(handle, type)));
  }

  hwloc_topology_t handle = nullptr;
  bool loaded = false;
};

/// The shape when every part divides evenly, else each thread as a core.
MulticoreShape shape_of(const HwlocTopology& found, std::uint32_t threads, bool& regular) {
  const std::uint32_t sockets = found.count(HWLOC_OBJ_PACKAGE);
  const std::uint32_t numas = found.count(HWLOC_OBJ_NUMANODE);
  const std::uint32_t cores = found.count(HWLOC_OBJ_CORE);
  regular = numas % sockets == 0 && cores % numas == 0 && threads % cores == 0;
  if (!regular) return {.cores_per_numa = threads};
  return {.sockets = sockets,
          .numa_per_socket = numas / sockets,
          .cores_per_numa = cores / numas,
          .threads_per_core = threads / cores};
}

}  // namespace

Host Host::discover() {
  Host host;
  host.cpu_model = read_cpu_model();
  const HwlocTopology found;
  const std::uint32_t threads = found.loaded ? found.count(HWLOC_OBJ_PU) : 1;
  if (found.loaded) host.shape = shape_of(found, threads, host.regular);
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  for (std::uint32_t i = 0; i < std::min(threads, kMaxHardwareThreads); ++i) {
    const int os =
        found.loaded
            ? static_cast<int>(hwloc_get_obj_by_type(found.handle, HWLOC_OBJ_PU, i)->os_index)
            : 0;
    host.os_index.push_back(os);
    if (os < CPU_SETSIZE && CPU_ISSET(os, &allowed)) host.usable.push_back(i);
  }
  if (host.usable.empty()) host.usable.push_back(0);
  return host;
}

std::pair<std::uint32_t, std::uint32_t> Host::pair_at(Nearness how) const {
  for (const std::uint32_t a : usable) {
    for (const std::uint32_t b : usable) {
      if (a < b && shape.nearness(a, b) == how) return {a, b};
    }
  }
  return {usable.front(), usable.front()};
}

std::pair<std::uint32_t, std::uint32_t> Host::any_pair() const {
  for (const Nearness how :
       {Nearness::kSameNuma, Nearness::kSameSocket, Nearness::kOtherSocket, Nearness::kSameCore}) {
    const auto pair = pair_at(how);
    if (pair.first != pair.second) return pair;
  }
  return {usable.front(), usable.front()};
}

void run_pinned(const Host& host, const std::vector<std::uint32_t>& where,
                const std::function<void(std::size_t)>& body) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < where.size(); ++i) {
    threads.emplace_back([&host, &where, &body, i] {
      cpu_set_t here;
      CPU_ZERO(&here);
      CPU_SET(static_cast<std::size_t>(host.os_index[where[i]]), &here);
      sched_setaffinity(0, sizeof here, &here);  // if it is refused, the system places the thread
      body(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace keyway::calibrate
