// Spec files: the options of a run, or of a sweep, as a file.
//
// *What.* TOML, each key the long name of an option: strings, numbers, booleans, and arrays for
// options that may be given several times:
//
//     lock = "d-mcs"
//     ranks = 1024
//     sweep = ["F_W=0.002,0.02,0.05", "card.atomic_ns=50,100,200"]
//
// TOML and not the properties format of kvload's workloads: YCSB's format is for existing files;
// here values are typed, there are lists, and the machine files are TOML already.
// *Thread safety.* Free functions.
#pragma once

#include <string>
#include <vector>

#include "keyway/locks/base/status.h"

namespace keyway::lockbench {

/// The file as words of a command line; fails with one sentence that names file and line.
Result<std::vector<std::string>> read_spec(const std::string& path);
/// The same for a text; `origin` is its name in messages.
Result<std::vector<std::string>> parse_spec(const std::string& text, const std::string& origin);

}  // namespace keyway::lockbench
