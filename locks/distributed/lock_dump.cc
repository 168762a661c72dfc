#include <fmt/format.h>

#include "keyway/locks/distributed/lock.h"

namespace keyway::locks {

std::string LockDump::describe() const {
  std::string text = fmt::format("{} at rank {} +{:#x}: ", kind, line.rank(), line.offset());
  if (write_held && holder_known) {
    text += fmt::format("written by agent {}.{} (token {})", holder.rank, holder.slot, token);
  } else if (write_held) {
    text += fmt::format("written by an agent not yet named (token {})", token);
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

LockStats& LockStats::operator+=(const LockStats& other) {
  reads += other.reads;
  writes += other.writes;
  contended += other.contended;
  try_failures += other.try_failures;
  timeouts += other.timeouts;
  handovers += other.handovers;
  return *this;
}

Status timed_out(const LockDump& dump) {
  return {Code::kTimeout, "the deadline passed while waiting for lock " + dump.describe()};
}

}  // namespace keyway::locks
