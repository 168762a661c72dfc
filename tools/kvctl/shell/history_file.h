// The lines of former sessions, one a line of a file that only its owner can read.
//
// *What.* A line is appended as it is entered, so that two shells do not lose each other's; a file
// that has grown too long is cut as it is loaded.
// *Thread safety.* One shell's; several processes may append.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "keyway/locks/base/status.h"

namespace keyway::kvctl {

inline constexpr std::size_t kMaxHistoryLines = 1000;

/// KVCTL_HISTFILE, else .kvctl_history in the home folder; empty: none is kept.
std::string history_path();

/// The last lines, at most kMaxHistoryLines, oldest first; none if there is no file.
std::vector<std::string> load_history(const std::string& path);

/// kUnavailable when the file cannot be written.
Status append_history(const std::string& path, std::string_view line);

}  // namespace keyway::kvctl
