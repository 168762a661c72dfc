// CLIENT PAUSE, UNPAUSE, UNBLOCK: the events that stop clients, and those that resume them.

#include <fmt/core.h>

#include <limits>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/words.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

void too_many_words(const Call& call) {
  call.error(
      fmt::format("ERR unknown subcommand or wrong number of arguments for '{}'. Try CLIENT HELP.",
                  call.word(1)));
}

void run_client_pause(const Call& call) {
  constexpr std::uint64_t kNsPerMs = 1'000'000;
  constexpr std::uint64_t kMaxMs = std::numeric_limits<std::uint64_t>::max() / kNsPerMs / 2;
  if (call.count() > 4) return too_many_words(call);
  Pause::Kind kind = Pause::Kind::kAll;
  if (call.count() == 4 && is_word(call.word(3), "write")) {
    kind = Pause::Kind::kWrites;
  } else if (call.count() == 4 && !is_word(call.word(3), "all")) {
    return call.error("ERR CLIENT PAUSE mode must be WRITE or ALL");
  }
  const auto ms = integer_or_error(call, 2, "ERR timeout is not an integer or out of range");
  if (!ms) return;
  if (*ms < 0) return call.error("ERR timeout is negative");
  const auto length = std::min(static_cast<std::uint64_t>(*ms), kMaxMs);
  call.service.pause.begin(kind, steady_ns() + length * kNsPerMs);
  call.ok();
}

void run_client_unpause(const Call& call) {
  call.service.pause.lift();
  call.ok();
}

void run_client_unblock(const Call& call) {
  if (call.count() > 4) return too_many_words(call);
  BlockState how = BlockState::kTimedOut;
  if (call.count() == 4 && is_word(call.word(3), "error")) {
    how = BlockState::kUnblocked;
  } else if (call.count() == 4 && !is_word(call.word(3), "timeout")) {
    return call.error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
  }
  const auto id = integer_or_error(call, 2);
  if (!id) return;
  const auto those = call.service.clients.those([&](const ClientInfo& info) {
    return *id > 0 && info.id == static_cast<std::uint64_t>(*id);
  });
  bool done = false;
  for (const auto& info : those) {
    BlockState waits = BlockState::kWaits;
    // relaxed: the word alone decides whether this or the awaited event ends the wait.
    done = info->block.compare_exchange_strong(waits, how, std::memory_order_relaxed);
    if (done) info->waker->wake(info->id);
  }
  call.out.integer(done ? 1 : 0);
}

}  // namespace

CommandRows commands_of_connection_client_pause() {
  static constexpr auto kRows = checked({
      {.name = "client|pause",
       .arity = -3,
       .group = Group::kConnection,
       .flags = kOfConfig,
       .run = run_client_pause,
       .arguments = "timeout-ms [WRITE|ALL]",
       .summary = "Delays the requests of all clients, or only writes, for a time."},
      {.name = "client|unblock",
       .arity = -3,
       .group = Group::kConnection,
       .flags = kOfConfig,
       .run = run_client_unblock,
       .arguments = "client-id [TIMEOUT|ERROR]",
       .summary = "Ends a client's wait for a named lock."},
      {.name = "client|unpause",
       .arity = 2,
       .group = Group::kConnection,
       .flags = kOfConfig,
       .run = run_client_unpause,
       .summary = "Ends CLIENT PAUSE."},
  });
  return kRows;
}

}  // namespace keyway::server
