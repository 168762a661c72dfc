// Arenas: the environments of a run, one source file each.
//
// *What.* arena_X.cc defines kXArena. CMake lists those of the build in arenas.cc.
// *Thread safety.* run() of an arena that runs jobs may be called by several threads at once; the
// others by one.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "keyway/locks/base/status.h"
#include "options.h"
#include "result.h"

namespace keyway::lockbench {

struct Arena {
  std::string_view fabric;
  /// Points do not disturb each other, and no clock of this host is in their results.
  bool side_by_side = false;
  /// In a job of several processes: collective; the result is rank 0's, nothing elsewhere.
  /// kInvalidArgument on all ranks alike.
  Result<std::optional<RunResult>> (*run)(const RunOptions& options) = nullptr;
  /// Keeps alive what all runs need. Null: nothing. Collective in a job.
  Result<std::shared_ptr<void>> (*hold)() = nullptr;
};

/// Those of this build.
std::span<const Arena* const> arenas();
/// kInvalidArgument if this build has none for the fabric.
Result<const Arena*> arena_of(std::string_view fabric);

}  // namespace keyway::lockbench
