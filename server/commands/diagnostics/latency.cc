// LATENCY ...

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "keyway/locks/base/clock.h"
#include "keyway/server/commands/diagnostics/latency_graph.h"
#include "keyway/server/commands/engine/command.h"
#include "keyway/server/commands/engine/help.h"
#include "keyway/server/commands/engine/table.h"

namespace keyway::server {
namespace {

using History = LatencyEvents::History;

constexpr std::uint64_t kMinBound = 1024;  // ns; each of the others is twice the one before

std::int64_t integer(std::uint64_t value) { return static_cast<std::int64_t>(value); }

/// How many calls took at most so long, where that is more than at the bound before.
void reply_histogram(const Call& call, const CommandTotals& totals) {
  struct Step {
    std::uint64_t us;
    std::uint64_t calls;
  };
  std::vector<Step> steps;
  const std::uint64_t all = totals.latencies.count();
  std::uint64_t seen = 0;
  for (std::uint64_t bound = kMinBound; seen < all; bound *= 2) {
    const bool last = bound > LatencyBuckets::kMax;
    const std::uint64_t calls = last ? all : totals.latencies.at_most(bound);
    if (calls != seen) steps.push_back({bound / 1000, calls});
    seen = calls;
  }
  call.out.map(2);
  call.out.bulk("calls");
  call.out.integer(integer(all));
  call.out.bulk("histogram_usec");
  call.out.map(steps.size());
  for (const Step& step : steps) {
    call.out.integer(integer(step.us));
    call.out.integer(integer(step.calls));
  }
}

/// The numbers of a command, and of its subcommands.
void numbers_of(const Command& command, std::vector<std::size_t>& numbers) {
  numbers.push_back(command.number);
  for (const Command& sub : command.subcommands) numbers.push_back(sub.number);
}

/// A line about one event.
void say_of(LatencyEvent event, const History& history, std::string& report) {
  std::uint64_t sum = 0;
  for (const LatencySample& sample : history.samples) sum += sample.ms;
  const std::uint64_t seconds = history.samples.back().unix_s - history.samples.front().unix_s + 1;
  fmt::format_to(std::back_inserter(report),
                 "* {}: in {} of {} seconds; the maximum of a second is {} ms on average, {} ms "
                 "the last time, {} ms ever.\n",
                 name_of(event), history.samples.size(), seconds, sum / history.samples.size(),
                 history.samples.back().ms, history.worst_ms);
}

void run_latency_latest(const Call& call) {
  std::vector<std::pair<LatencyEvent, LatencyEvents::History>> events;
  for (const LatencyEvent event : kLatencyEvents) {
    auto history = call.service.latency_events.history(event);
    if (!history.samples.empty()) events.emplace_back(event, std::move(history));
  }
  call.out.array(events.size());
  for (const auto& [event, history] : events) {
    call.out.array(4);
    call.out.bulk(name_of(event));
    call.out.integer(integer(history.samples.back().unix_s));
    call.out.integer(integer(history.samples.back().ms));
    call.out.integer(integer(history.worst_ms));
  }
}

void run_latency_history(const Call& call) {
  const auto event = latency_event(call.word(2));
  if (!event) return call.out.array(0);
  const auto history = call.service.latency_events.history(*event);
  call.out.array(history.samples.size());
  for (const LatencySample& sample : history.samples) {
    call.out.array(2);
    call.out.integer(integer(sample.unix_s));
    call.out.integer(integer(sample.ms));
  }
}

void run_latency_reset(const Call& call) {
  std::int64_t cleared = 0;
  for (const LatencyEvent event : kLatencyEvents) {
    const auto words = call.words.subspan(2);
    const bool asked =
        words.empty() || std::find(words.begin(), words.end(), name_of(event)) != words.end();
    if (asked && call.service.latency_events.clear(event)) ++cleared;
  }
  call.out.integer(cleared);
}

void run_latency_histogram(const Call& call) {
  std::vector<std::size_t> numbers;
  if (call.count() == 2) {
    for (const Command& command : all_commands()) numbers_of(command, numbers);
  }
  for (const std::string_view name : call.words.subspan(2)) {
    if (const Command* command = find_full_command(name)) numbers_of(*command, numbers);
  }
  std::erase_if(numbers, [&](std::size_t number) {
    return call.service.statistics.command(number).latencies.count() == 0;
  });
  call.out.map(numbers.size());
  for (const std::size_t number : numbers) {
    call.out.bulk(command_of(number).name);
    reply_histogram(call, call.service.statistics.command(number));
  }
}

void run_latency_graph(const Call& call) {
  const auto event = latency_event(call.word(2));
  const auto history = event ? call.service.latency_events.history(*event) : History{};
  if (history.samples.empty()) {
    return call.error(fmt::format("ERR No samples available for event '{}'", call.word(2)));
  }
  call.out.verbatim("txt", latency_graph(name_of(*event), history, wall_ms() / 1000));
}

/// A summary of the events, with hints for the next step.
void run_latency_doctor(const Call& call) {
  if (call.service.latency_events.threshold_ms() == 0) {
    return call.out.verbatim(
        "txt",
        "Latency monitoring is disabled. CONFIG SET latency-monitor-threshold MS "
        "records commands that take at least MS as events.\n");
  }
  std::string report;
  for (const LatencyEvent event : kLatencyEvents) {
    const auto history = call.service.latency_events.history(event);
    if (!history.samples.empty()) say_of(event, history, report);
  }
  if (report.empty()) {
    report = fmt::format("No command took {} ms or more since events were last reset.\n",
                         call.service.latency_events.threshold_ms());
  } else {
    report +=
        "KW.SLOWLOG shows the parts of the time of each slow request. queue_us: requests before "
        "it, or too few --fibers; lock_us: keys with many writers (KW.HOTSTRIPES); network_us: "
        "keys of other ranks; execution_us: the work of the command itself.\n";
  }
  call.out.verbatim("txt", report);
}

void run_latency_help(const Call& call) {
  reply_help(call, "LATENCY",
             {"DOCTOR", "    Return a human readable latency analysis report.", "GRAPH <event>",
              "    Return an ASCII latency graph for the <event> class.", "HISTORY <event>",
              "    Return time-latency samples for the <event> class.", "LATEST",
              "    Return the latest latency samples for all events.", "RESET [<event> ...]",
              "    Reset latency data of one or more <event> classes.",
              "    (default: reset all data for all event classes)", "HISTOGRAM [COMMAND ...]",
              "    Return a cumulative distribution of latencies in the format of a histogram for "
              "the specified command names.",
              "    If no commands are specified then all histograms are replied."});
}

}  // namespace

CommandRows commands_of_diagnostics_latency() {
  static constexpr auto kRows = checked({
      {.name = "latency", .arity = -2, .group = Group::kServer, .flags = kContainer},
      {.name = "latency|doctor",
       .arity = 2,
       .group = Group::kServer,
       .flags = kOfConfig,
       .run = run_latency_doctor,
       .tips = "nondeterministic_output request_policy:all_nodes response_policy:special",
       .summary = "Explains the slow events, with advice."},
      {.name = "latency|graph",
       .arity = 3,
       .group = Group::kServer,
       .flags = kOfConfig,
       .run = run_latency_graph,
       .tips = "nondeterministic_output request_policy:all_nodes response_policy:special",
       .arguments = "event",
       .summary = "Draws the latencies of an event over time."},
      {.name = "latency|help",
       .arity = 2,
       .group = Group::kServer,
       .flags = kLoading | kStale,
       .run = run_latency_help},
      {.name = "latency|histogram",
       .arity = -2,
       .group = Group::kServer,
       .flags = kOfConfig,
       .run = run_latency_histogram,
       .tips = "nondeterministic_output request_policy:all_nodes response_policy:special",
       .arguments = "[command ...]",
       .summary = "Returns the latency histograms of commands."},
      {.name = "latency|history",
       .arity = 3,
       .group = Group::kServer,
       .flags = kOfConfig,
       .run = run_latency_history,
       .tips = "nondeterministic_output request_policy:all_nodes response_policy:special",
       .arguments = "event",
       .summary = "Returns the times and latencies of an event."},
      {.name = "latency|latest",
       .arity = 2,
       .group = Group::kServer,
       .flags = kOfConfig,
       .run = run_latency_latest,
       .tips = "nondeterministic_output request_policy:all_nodes response_policy:special",
       .summary = "Returns the latest slow occurrence of each event."},
      {.name = "latency|reset",
       .arity = -2,
       .group = Group::kServer,
       .flags = kOfConfig,
       .run = run_latency_reset,
       .tips = "request_policy:all_nodes response_policy:all_succeeded",
       .arguments = "[event ...]",
       .summary = "Deletes the records of slow events."},
  });
  return kRows;
}

}  // namespace keyway::server
