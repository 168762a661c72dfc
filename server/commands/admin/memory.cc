// MEMORY USAGE, STATS, HELP.

#include "keyway/locks/base/words.h"
#include "keyway/server/commands/admin/memory_figures.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"
#include "keyway/server/commands/engine/help.h"

namespace keyway::server {
namespace {

void reply_named(const Call& call, std::string_view name, std::uint64_t value) {
  call.out.bulk(name);
  call.out.integer(static_cast<std::int64_t>(value));
}

void reply_named(const Call& call, std::string_view name, double value) {
  call.out.bulk(name);
  call.out.real(value);
}

/// SAMPLES is for values of many parts, which are not here.
void run_memory_usage(const Call& call) {
  for (std::size_t i = 3; i < call.count(); i += 2) {
    if (!is_word(call.word(i), "samples") || i + 1 == call.count()) {
      return call.error(kSyntaxError);
    }
    const auto samples = integer_or_error(call, i + 1);
    if (!samples) return;
    if (*samples < 0) return call.error(kSyntaxError);
  }
  const auto info = call.session.info(call.word(2));
  if (info.ok()) {
    // An element that has grown may have a quarter more (9/8 times 9/8: kGrowthShare, kRoomShare).
    Inspector inspector = call.session.whole().inspector();
    return call.out.integer(static_cast<std::int64_t>(inspector.stored_bytes(call.word(2), *info)));
  }
  if (!is_absent(info.status())) return call.failed(info.status());
  call.out.null();
}

/// Those of Redis' fields that mean something here.
void run_memory_stats(const Call& call) {
  const MemoryFigures memory = memory_figures(call);
  call.out.map(11);
  reply_named(call, "peak.allocated", memory.peak);
  reply_named(call, "total.allocated", memory.used);
  reply_named(call, "startup.allocated", memory.startup);
  reply_named(call, "overhead.total", memory.startup);
  reply_named(call, "keys.count", memory.elements);
  reply_named(call, "keys.bytes-per-key",
              memory.elements == 0 ? 0 : memory.dataset() / memory.elements);
  reply_named(call, "dataset.bytes", memory.dataset());
  reply_named(call, "dataset.percentage", 100 * ratio(memory.dataset(), memory.used));
  reply_named(call, "peak.percentage", 100 * ratio(memory.used, memory.peak));
  reply_named(call, "fragmentation", ratio(memory.resident, memory.used));
  call.out.bulk("fragmentation.bytes");
  call.out.integer(memory.fragmentation_bytes());
}

void run_memory_help(const Call& call) {
  reply_help(call, "MEMORY",
             {"DOCTOR", "    Return memory problems reports.", "MALLOC-STATS",
              "    Return internal statistics report from the memory allocator.", "PURGE",
              "    Attempt to purge dirty pages for reclamation by the allocator.", "STATS",
              "    Return information about the memory usage of the server.",
              "USAGE <key> [SAMPLES <count>]",
              "    Return memory in bytes used by <key> and its value. Nested values are",
              "    sampled up to <count> times (default: 5, 0 means sample all)."});
}

}  // namespace

CommandRows commands_of_admin_memory() {
  static constexpr auto kRows = checked({
      {.name = "memory", .arity = -2, .group = Group::kServer, .flags = kContainer},
      {.name = "memory|help",
       .arity = 2,
       .group = Group::kServer,
       .flags = kLoading | kStale,
       .run = run_memory_help},
      {.name = "memory|stats",
       .arity = 2,
       .group = Group::kServer,
       .flags = kWholeStore,
       .run = run_memory_stats,
       .tips = "nondeterministic_output request_policy:all_shards response_policy:special",
       .summary = "Returns the memory use of the server by purpose."},
      {.name = "memory|usage",
       .arity = -3,
       .group = Group::kServer,
       .flags = kReadOnly,
       .run = run_memory_usage,
       .keys = {2, 2, 1, "RO"},
       .arguments = "key [SAMPLES count]",
       .summary = "Returns the number of bytes that a key and its value take."},
  });
  return kRows;
}

}  // namespace keyway::server
