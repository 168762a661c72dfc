// Provenance: the build and the host that made a result.
//
// *Thread safety.* Free functions without state.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace keyway::program {

/// "0.1.0"
std::string_view version();
/// The git revision as of the build, "unknown" outside git; ends in "-dirty" if there were changes.
std::string_view revision();
/// "GNU 12.2.0 Release"
std::string_view compiler();
/// "kvload 0.1.0 (a1b2c3d4e5f6)", what --version prints.
std::string version_line(std::string_view program);
/// Processor, cores, NUMA nodes and memory of this host.
nlohmann::ordered_json host_json();

}  // namespace keyway::program
