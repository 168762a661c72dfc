// Functions of kvctl other than sending commands.
//
// *What.* Each prints on stdout, reports a failure in one sentence on stderr, and returns the exit
// code. Ctrl-C ends those without an end.
// *Thread safety.* One thread's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "format/format.h"
#include "tools/kvctl/link.h"
#include "tools/kvctl/options.h"

namespace keyway::kvctl {

/// --pipe: requests of stdin, lines or RESP, sent in batches; replies and errors are counted.
/// Memory is bounded by the longest request and the longest reply.
int run_pipe(Link& link, const Options& options);
/// --stat
int run_stat(Link& link, const Options& options);
/// --latency, --latency-history, --latency-dist
int run_latency(Link& link, const Options& options, Style style);
/// --scan
int run_scan(Link& link, const Options& options, Style style);
/// --bigkeys, --memkeys
int run_sizes(Link& link, const Options& options);
/// --hotkeys
int run_hot_keys(Link& link, const Options& options, Style style);

enum class View : std::uint8_t { kCluster, kLocks };
/// Whether these words are a view: `cluster` alone, `locks` with or without a count.
std::optional<View> view_of(const std::vector<std::string>& words);
int show_view(View view, const std::vector<std::string>& words, Link& link, const Options& options,
              Style style);

// cluster_view.cc, locks_view.cc
int show_cluster(Link& link, Style style);
int show_locks(Link& link, std::uint64_t count, Style style);

}  // namespace keyway::kvctl
