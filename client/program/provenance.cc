#include "keyway/client/program/provenance.h"

#include <fmt/core.h>

#include <fstream>

#include "keyway/client/program/revision.h"
#include "keyway/locks/base/topology.h"

namespace keyway::program {
namespace {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) {
      const std::size_t colon = line.find(": ");
      if (colon != std::string::npos) return line.substr(colon + 2);
    }
  }
  return "unknown";
}

}  // namespace

std::string_view version() { return KEYWAY_VERSION; }
std::string_view revision() { return KEYWAY_REVISION; }
std::string_view compiler() { return KEYWAY_COMPILER; }

std::string version_line(std::string_view program) {
  return fmt::format("{} {} ({})", program, version(), revision());
}

nlohmann::ordered_json host_json() {
  const HostShape host = discover_host();
  return {{"cpu", cpu_model()},
          {"cores", host.cores},
          {"numa_nodes", host.numa_nodes},
          {"memory_bytes", host.memory_bytes}};
}

}  // namespace keyway::program
