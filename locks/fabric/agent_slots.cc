#include "keyway/locks/fabric/agent_slots.h"

#include <fmt/core.h>

#include <algorithm>

namespace keyway::fabric {

Status check_agents(std::uint32_t ranks, std::uint32_t agents_per_rank) {
  constexpr std::uint64_t kMaxOfARank = 0xffff;  // AgentId
  const std::uint64_t most = std::min(kMaxOfARank, kMaxAgents / ranks);
  if (agents_per_rank != 0 && agents_per_rank <= most) return {};
  return {Code::kInvalidArgument,
          fmt::format("{} agents per rank: ask for 1 to {}", agents_per_rank, most)};
}

Result<SlotHold> hold_slot(AgentSlots& slots, std::uint32_t rank) {
  const auto slot = slots.take();
  if (slot) return SlotHold(slots, *slot);
  return Status(Code::kUnavailable,
                fmt::format("rank {} has no free agent slot; raise agents_per_rank", rank));
}

}  // namespace keyway::fabric
