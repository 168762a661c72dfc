#include <fmt/core.h>

#include <numeric>

#include "keyway/locks/distributed/lock.h"

namespace keyway::locks {

std::string LockDump::describe() const {
  std::string text = fmt::format("{} at rank {} +{:#x}: ", kind, line.rank(), line.offset());
  if (write_held && holder_known) {
    text += fmt::format("written by agent {}.{} (last token {})", holder.rank, holder.slot, token);
  } else if (write_held) {
    text += fmt::format("written by an agent not yet named (last token {})", token);
  } else if (readers > 0) {
    text += fmt::format("read by {} agent{}", readers, readers == 1 ? "" : "s");
  } else {
    text += "free";
  }
  if (all_holders > 0) {
    text += fmt::format(", LOCKALL held by {} agent{}", all_holders, all_holders == 1 ? "" : "s");
  }
  if (!queue.empty()) {
    text += ", waiting:";
    for (const auto& agent : queue) text += fmt::format(" {}.{}", agent.rank, agent.slot);
  }
  return text;
}

std::uint64_t LockStats::handovers() const {
  return std::accumulate(handovers_at.begin(), handovers_at.end(), std::uint64_t{0});
}

LockStats& LockStats::operator+=(const LockStats& other) {
  reads += other.reads;
  writes += other.writes;
  contended += other.contended;
  try_failures += other.try_failures;
  timeouts += other.timeouts;
  for (std::size_t i = 0; i < handovers_at.size(); ++i) handovers_at[i] += other.handovers_at[i];
  return *this;
}

Status timed_out(const LockDump& dump) {
  return {Code::kTimeout, "the deadline passed while waiting for lock " + dump.describe()};
}

}  // namespace keyway::locks
