// The interactive shell: prompt, line, reply.
//
// *Thread safety.* One thread's.
#pragma once

#include "tools/kvctl/options.h"
#include "tools/kvctl/runner.h"

namespace keyway::kvctl {

/// Until the person at the terminal has enough. The exit code.
int run_shell(Runner& runner, const Options& options);

/// The commands that stdin has, a line each. The exit code.
int run_lines(Runner& runner, const Options& options);

}  // namespace keyway::kvctl
