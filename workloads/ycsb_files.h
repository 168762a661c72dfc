// YCSB's core workloads by letter, compiled in from workloads/ycsb/.
#pragma once

#include <string_view>

namespace keyway::workloads {

/// The properties text of workload `letter`, 'a' to 'f'; empty for any other letter.
std::string_view ycsb_workload(char letter);

}  // namespace keyway::workloads
