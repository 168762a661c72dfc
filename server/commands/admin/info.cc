// INFO.

#include "keyway/server/commands/admin/info.h"

#include <algorithm>

#include "keyway/locks/base/words.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

enum class In : std::uint8_t { kDefault, kAll, kEverything };

struct Section {
  std::string_view name;   // in lower case
  std::string_view title;  // as it is written
  In in;                   // the least of the sets that it is in
  void (*write)(const Call& call, InfoWriter& out);
};

// In the order of Redis, and then ours.
constexpr Section kSections[] = {
    {"server", "Server", In::kDefault, write_server},
    {"clients", "Clients", In::kDefault, write_clients},
    {"memory", "Memory", In::kDefault, write_memory},
    {"persistence", "Persistence", In::kDefault, write_persistence},
    {"stats", "Stats", In::kDefault, write_stats},
    {"replication", "Replication", In::kDefault, write_replication},
    {"cpu", "CPU", In::kDefault, write_cpu},
    {"modules", "Modules", In::kDefault, write_modules},
    {"commandstats", "Commandstats", In::kAll, write_commandstats},
    {"errorstats", "Errorstats", In::kDefault, write_errorstats},
    {"latencystats", "Latencystats", In::kAll, write_latencystats},
    {"cluster", "Cluster", In::kDefault, write_cluster},
    {"keyspace", "Keyspace", In::kDefault, write_keyspace},
    {"locks", "Locks", In::kDefault, write_locks},
    {"fabric", "Fabric", In::kDefault, write_fabric},
    {"volumes", "Volumes", In::kDefault, write_volumes},
};

/// Whether a word of the request asks for a section.
bool asks_for(std::string_view word, const Section& section) {
  if (is_word(word, "default")) return section.in == In::kDefault;
  if (is_word(word, "all") || is_word(word, "everything")) return true;
  return is_word(word, section.name);
}

void run_info(const Call& call) {
  constexpr std::string_view kWhereNoneIsNamed[] = {"default"};
  const auto words = call.count() == 1 ? std::span<const std::string_view>(kWhereNoneIsNamed)
                                       : call.words.subspan(1);
  InfoWriter out;
  for (const Section& section : kSections) {
    const bool asked = std::any_of(words.begin(), words.end(),
                                   [&](std::string_view word) { return asks_for(word, section); });
    if (!asked) continue;
    out.section(section.title);
    section.write(call, out);
  }
  call.out.verbatim("txt", out.text());
}

}  // namespace

CommandRows commands_of_admin_info() {
  static constexpr auto kRows = checked({
      {.name = "info",
       .arity = -1,
       .group = Group::kServer,
       .flags = kDangerous | kLoading | kStale | kWholeStore,
       .run = run_info,
       .tips = "nondeterministic_output request_policy:all_shards response_policy:special",
       .arguments = "[section ...]",
       .summary = "Returns information about the server: memory, clients, counters, locks."},
  });
  return kRows;
}

}  // namespace keyway::server
