// MEMORY DOCTOR, PURGE, MALLOC-STATS: the memory of the process and of the store, for people.

#include <fmt/core.h>
#include <malloc.h>

#include <iterator>

#include "keyway/server/commands/admin/info_writer.h"
#include "keyway/server/commands/admin/memory_figures.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

constexpr double kMaxTaken = 0.9;           // share of the heap
constexpr double kMuchMore = 1.5;           // at the peak, or resident, than now in use
constexpr std::uint64_t kLittle = 5 << 20;  // bytes; below, ratios say nothing

/// Adds one finding to the report.
void say(std::string& report, std::string_view what) {
  fmt::format_to(std::back_inserter(report), "* {}\n", what);
}

std::string report_of(const MemoryFigures& memory) {
  std::string report;
  const double taken = 1 - ratio(memory.heap_free, memory.heap);
  if (taken > kMaxTaken) {
    say(report, fmt::format("The heap is {:.0f}% taken ({} of {} free): writes fail with OOM once "
                            "it is full. Start with more --memory, or delete keys.",
                            100 * taken, human_bytes(memory.heap_free), human_bytes(memory.heap)));
  }
  const std::uint64_t process = memory.resident > memory.used ? memory.resident - memory.used : 0;
  if (process > kLittle && ratio(memory.resident, memory.used) > kMuchMore) {
    say(report, fmt::format("{} are resident beyond the memory that the store uses: pages of "
                            "deleted keys, buffers of clients (CLIENT LIST), or free memory that "
                            "MEMORY PURGE returns to the operating system.",
                            human_bytes(process)));
  }
  if (memory.peak > kLittle && ratio(memory.peak, memory.used) > kMuchMore) {
    say(report, fmt::format("The peak was higher: {}, now {}. The store keeps these pages for "
                            "future keys.",
                            human_bytes(memory.peak), human_bytes(memory.used)));
  }
  if (report.empty()) return "The memory of this server has no problems.\n";
  return report;
}

void run_memory_doctor(const Call& call) {
  call.out.verbatim("txt", report_of(memory_figures(call)));
}

/// For the process's memory: the store's segments stay as they are.
void run_memory_purge(const Call& call) {
  malloc_trim(0);
  call.ok();
}

void run_memory_malloc_stats(const Call& call) {
  const struct mallinfo2 process = mallinfo2();
  const MemoryFigures store = memory_figures(call);
  InfoWriter out;
  out.section("Process (glibc)");
  out.bytes("arena_bytes", process.arena);
  out.bytes("used_bytes", process.uordblks);
  out.bytes("free_bytes", process.fordblks);
  out.bytes("mapped_bytes", process.hblkhd);
  out.field("mapped_blocks", process.hblks);
  out.section("Store");
  out.bytes("heap_bytes", store.heap);
  out.bytes("heap_free_bytes", store.heap_free);
  out.bytes("other_bytes", store.startup);
  call.out.verbatim("txt", out.text());
}

}  // namespace

CommandRows commands_of_admin_memory_doctor() {
  static constexpr auto kRows = checked({
      {.name = "memory|doctor",
       .arity = 2,
       .group = Group::kServer,
       .flags = kWholeStore,
       .run = run_memory_doctor,
       .tips = "nondeterministic_output request_policy:all_shards response_policy:special",
       .summary = "Reports problems of the server's memory, with advice."},
      {.name = "memory|malloc-stats",
       .arity = 2,
       .group = Group::kServer,
       .flags = kWholeStore,
       .run = run_memory_malloc_stats,
       .tips = "nondeterministic_output request_policy:all_shards response_policy:special",
       .summary = "Returns the state of the allocator and of the heap."},
      {.name = "memory|purge",
       .arity = 2,
       .group = Group::kServer,
       .run = run_memory_purge,
       .tips = "request_policy:all_shards response_policy:all_succeeded",
       .summary = "Returns free memory of the process to the operating system."},
  });
  return kRows;
}

}  // namespace keyway::server
