// SLOWLOG ..., KW.SLOWLOG.

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"
#include "keyway/server/commands/engine/help.h"

namespace keyway::server {
namespace {

constexpr std::size_t kShown = 10;  // default of a request without a number

/// The number of entries that the i-th word names, -1 for all.
std::optional<std::size_t> count_or_error(const Call& call, std::size_t i) {
  constexpr std::string_view kOutOfRange = "ERR count should be greater than or equal to -1";
  if (call.count() <= i) return kShown;
  const auto count = integer_or_error(call, i, kOutOfRange);
  if (!count) return std::nullopt;
  if (*count < -1) {
    call.error(kOutOfRange);
    return std::nullopt;
  }
  if (*count == -1) return std::numeric_limits<std::size_t>::max();
  return static_cast<std::size_t>(*count);
}

void reply_words(const Call& call, const std::vector<std::string>& words) {
  call.out.array(words.size());
  for (const std::string& word : words) call.out.bulk(word);
}

std::int64_t whole_us(std::uint64_t ns) { return static_cast<std::int64_t>(ns / 1000); }

void reply_named(const Call& call, std::string_view name, std::int64_t value) {
  call.out.bulk(name);
  call.out.integer(value);
}

void run_slowlog_get(const Call& call) {
  if (call.count() > 3) {
    return call.error(fmt::format(
        "ERR unknown subcommand or wrong number of arguments for '{}'. Try SLOWLOG HELP.",
        call.word(1)));
  }
  const auto count = count_or_error(call, 2);
  if (!count) return;
  const auto newest = call.service.slow_log.newest(*count);
  call.out.array(newest.size());
  for (const SlowRequest& slow : newest) {
    call.out.array(6);
    call.out.integer(static_cast<std::int64_t>(slow.id));
    call.out.integer(static_cast<std::int64_t>(slow.unix_s));
    call.out.integer(whole_us(slow.times.all));
    reply_words(call, slow.words);
    call.out.bulk(slow.address);
    call.out.bulk(slow.name);
  }
}

void run_slowlog_len(const Call& call) {
  call.out.integer(static_cast<std::int64_t>(call.service.slow_log.size()));
}

void run_slowlog_reset(const Call& call) {
  call.service.slow_log.clear();
  call.ok();
}

void run_slowlog_help(const Call& call) {
  reply_help(call, "SLOWLOG",
             {"GET [<count>]",
              "    Return top <count> entries from the slowlog (default: 10, -1 mean all).",
              "    Entries are made of:",
              "    id, timestamp, time in microseconds, arguments array, client IP and port,",
              "    client name", "LEN", "    Return the length of the slowlog.", "RESET",
              "    Reset the slowlog."});
}

/// The same with where the time went, each by its name.
void run_kw_slowlog(const Call& call) {
  if (call.count() > 2) return call.wrong_arity();
  const auto count = count_or_error(call, 1);
  if (!count) return;
  const auto newest = call.service.slow_log.newest(*count);
  call.out.array(newest.size());
  for (const SlowRequest& slow : newest) {
    call.out.map(10);
    reply_named(call, "id", static_cast<std::int64_t>(slow.id));
    reply_named(call, "time", static_cast<std::int64_t>(slow.unix_s));
    reply_named(call, "microseconds", whole_us(slow.times.all));
    reply_named(call, "queue_us", whole_us(slow.times.queue));
    reply_named(call, "lock_us", whole_us(slow.times.lock_wait));
    reply_named(call, "network_us", whole_us(slow.times.network));
    reply_named(call, "execution_us", whole_us(slow.times.execution()));
    call.out.bulk("words");
    reply_words(call, slow.words);
    call.out.bulk("client");
    call.out.bulk(slow.address);
    call.out.bulk("name");
    call.out.bulk(slow.name);
  }
}

}  // namespace

CommandRows commands_of_diagnostics_slowlog() {
  static constexpr auto kRows = checked({
      {.name = "slowlog", .arity = -2, .group = Group::kServer, .flags = kContainer},
      {.name = "kw.slowlog",
       .arity = -1,
       .group = Group::kServer,
       .flags = kOfServer,
       .run = run_kw_slowlog,
       .tips = "nondeterministic_output",
       .arguments = "[count]",
       .summary = "Returns the latest slow commands with the parts of their time."},
      {.name = "slowlog|get",
       .arity = -2,
       .group = Group::kServer,
       .flags = kOfServer,
       .run = run_slowlog_get,
       .tips = "request_policy:all_nodes nondeterministic_output",
       .arguments = "[count]",
       .summary = "Returns the latest slow commands."},
      {.name = "slowlog|help",
       .arity = 2,
       .group = Group::kServer,
       .flags = kLoading | kStale,
       .run = run_slowlog_help},
      {.name = "slowlog|len",
       .arity = 2,
       .group = Group::kServer,
       .flags = kOfServer,
       .run = run_slowlog_len,
       .tips = "request_policy:all_nodes response_policy:agg_sum nondeterministic_output",
       .summary = "Returns the number of slow commands in the log."},
      {.name = "slowlog|reset",
       .arity = 2,
       .group = Group::kServer,
       .flags = kOfServer,
       .run = run_slowlog_reset,
       .tips = "request_policy:all_nodes response_policy:all_succeeded",
       .summary = "Deletes the log of slow commands."},
  });
  return kRows;
}

}  // namespace keyway::server
