// Machine files by name, compiled in from workloads/machines/.
#pragma once

#include <string_view>
#include <vector>

namespace keyway::workloads {

/// The TOML text of the machine called `name`; empty when there is none.
std::string_view machine_text(std::string_view name);
/// All names, sorted.
std::vector<std::string_view> machine_names();

}  // namespace keyway::workloads
