// Result files: a file that cannot be written is reported before any long work begins.
//
// *Thread safety.* Free functions without state.
#pragma once

#include <string>

#include "keyway/locks/base/status.h"

namespace keyway::program {

/// kInvalidArgument when `path` cannot be written; leaves an existing file as it is.
Status check_writable(const std::string& path);
/// Replaces the file. kUnavailable when that fails.
Status write_file(const std::string& path, const std::string& text);
/// Adds rows to a table that several programs may write in turn; an empty file gets `head` first.
/// kUnavailable when that fails.
Status append_to_table(const std::string& path, const std::string& head, const std::string& rows);

}  // namespace keyway::program
