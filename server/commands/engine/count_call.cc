// The counting of a call: see call_command().

#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/fiber_time.h"
#include "keyway/server/commands/diagnostics/stripe_name.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

constexpr std::size_t kMaxKeysLookedAt = 64;  // keys of a request that are sampled

/// The words without passwords.
std::vector<std::string_view> without_secrets(const Call& call) {
  std::vector<std::string_view> words(call.words.begin(), call.words.end());
  if (call.command.hide_secrets != nullptr) call.command.hide_secrets(words);
  return words;
}

void keep_slow(const Call& call, std::uint64_t begin, std::uint64_t took,
               const fabric::this_fiber::Waited& waited) {
  const std::uint64_t came = call.client.came_ns;
  const RequestTimes times{.queue = came != 0 && came < begin ? begin - came : 0,
                           .lock_wait = waited.lock_ns,
                           .network = waited.network_ns,
                           .all = took};
  call.service.slow_log.add(times, without_secrets(call), call.client.address, call.client.name);
}

/// If a command treats its keys differently, the first one is the one written.
Access access_of(const Command& command, bool first) {
  if ((command.flags & kWrite) == 0) return Access::kRead;
  return first || command.keys.access.find(';') == std::string_view::npos ? Access::kWrite
                                                                          : Access::kRead;
}

void look_at_keys(const Call& call, HotSpots& spots) {
  std::size_t seen = 0;
  for_each_key(call.command, call.words, [&](std::string_view key) {
    if (is_storable(key)) {
      const StripePlace place = call.session.whole().inspector().stripe_of(key);
      spots.add(access_of(call.command, seen == 0), key, name_of(place));
    }
    return ++seen < kMaxKeysLookedAt;
  });
}

}  // namespace

void call_command(const Call& call) {
  if (call.client.info != nullptr) {
    // relaxed: the row is constant.
    call.client.info->last.store(&call.command, std::memory_order_relaxed);
  }
  WorkerStatistics* statistics = counts_of(call.client);
  if (statistics == nullptr) return call.command.run(call);
  const std::uint64_t begin = statistics->now_ns();
  const auto waited = fabric::this_fiber::waited();
  const std::size_t mark = call.out.mark();
  if (has_keys(call.command) && statistics->hot_spots.due()) {
    look_at_keys(call, statistics->hot_spots);
  }
  call.command.run(call);
  const std::uint64_t took = statistics->look_at_clock() - begin;
  CommandCounters& counters = statistics->of(call.command.number);
  counters.calls.add(1);
  counters.ns.add(took);
  counters.latencies.record(took);
  statistics->calls.add(1);
  if (call.out.is_error(mark)) [[unlikely]] {
    counters.failed.add(1);
    count_error(call.client, call.out, mark);
  }
  if (call.service.latency_events.takes(took)) [[unlikely]] {
    const bool fast = (call.command.flags & kFast) != 0;
    call.service.latency_events.add(fast ? LatencyEvent::kFastCommand : LatencyEvent::kCommand,
                                    wall_ms() / 1000, took / 1'000'000);
  }
  if (call.service.slow_log.takes(took) && (call.command.flags & kSkipSlowLog) == 0) [[unlikely]] {
    keep_slow(call, begin, took, fabric::this_fiber::waited() - waited);
  }
}

void count_error(Client& client, const resp::ReplyWriter& out, std::size_t mark) {
  if (counts_of(client) == nullptr || !out.is_error(mark)) return;
  client.statistics->error_replies.add(1);
  client.statistics->errors.add(out.error_kind(mark));
}

void count_rejected(Client& client, const Command& command) {
  if (client.statistics == nullptr) return;
  client.statistics->of(command.number).rejected.add(1);
}

}  // namespace keyway::server
