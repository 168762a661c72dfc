// INFO: commandstats, errorstats, latencystats.

#include "keyway/server/commands/admin/info.h"
#include "keyway/server/commands/engine/table.h"

namespace keyway::server {
namespace {

constexpr double kMicro = 1e3;  // ns

/// Calls visit(command, totals) for each command that a client has requested.
template <class Visit>
void each_command(const Call& call, Visit&& visit) {
  for (std::size_t number = 0; number < command_numbers(); ++number) {
    const CommandTotals totals = call.service.statistics.command(number);
    if (totals.calls + totals.rejected != 0) visit(command_of(number), totals);
  }
}

double microseconds(std::uint64_t ns) { return static_cast<double>(ns) / kMicro; }

}  // namespace

void write_commandstats(const Call& call, InfoWriter& out) {
  each_command(call, [&](const Command& command, const CommandTotals& totals) {
    const double each =
        totals.calls == 0 ? 0 : microseconds(totals.ns) / static_cast<double>(totals.calls);
    out.field(fmt::format("cmdstat_{}", command.name),
              fmt::format("calls={},usec={},usec_per_call={:.2f},rejected_calls={},failed_calls={}",
                          totals.calls, totals.ns / 1000, each, totals.rejected, totals.failed));
  });
}

void write_errorstats(const Call& call, InfoWriter& out) {
  for (const auto& [kind, count] : call.service.statistics.errors()) {
    out.field(fmt::format("errorstat_{}", kind), fmt::format("count={}", count));
  }
}

void write_latencystats(const Call& call, InfoWriter& out) {
  each_command(call, [&](const Command& command, const CommandTotals& totals) {
    if (totals.calls == 0) return;
    const auto at = [&](double percent) {
      return microseconds(totals.latencies.percentile(percent));
    };
    out.field(fmt::format("latency_percentiles_usec_{}", command.name),
              fmt::format("p50={:.3f},p99={:.3f},p99.9={:.3f}", at(50), at(99), at(99.9)));
  });
}

}  // namespace keyway::server
