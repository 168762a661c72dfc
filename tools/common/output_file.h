// Result files: one that cannot be written is told before anything long begins.
//
// *Thread safety.* Free functions without state.
#pragma once

#include <string>

#include "keyway/locks/base/status.h"

namespace keyway::tools {

/// kInvalidArgument when `path` cannot be written; leaves an existing file as it is.
Status check_writable(const std::string& path);
/// Replaces the file. kUnavailable when that fails.
Status write_file(const std::string& path, const std::string& text);

}  // namespace keyway::tools
