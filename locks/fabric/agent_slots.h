// AgentSlots: the free and taken agent slots of a rank, and the maximum number of agents of a job.
// Only the rank's own process hands out its slots.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "keyway/locks/base/mutex.h"
#include "keyway/locks/base/status.h"

namespace keyway::fabric {

/// Maximum number of agents in a job: lock words count them in 23 bits (rma_rw_counter.h).
inline constexpr std::uint64_t kMaxAgents = 1ULL << 22;

/// Whether a job of `ranks` ranks (at least 1) may have this many agents on each of them.
Status check_agents(std::uint32_t ranks, std::uint32_t agents_per_rank);

/// Thread-safe.
class AgentSlots {
 public:
  explicit AgentSlots(std::uint32_t count) : taken_(count, false) {}

  /// The lowest free slot, or nothing if all are taken.
  std::optional<std::uint32_t> take() {
    const MutexLock guard(mutex_);
    for (std::uint32_t slot = 0; slot < taken_.size(); ++slot) {
      if (!taken_[slot]) {
        taken_[slot] = true;
        return slot;
      }
    }
    return std::nullopt;
  }
  void release(std::uint32_t slot) {
    const MutexLock guard(mutex_);
    taken_[slot] = false;
  }

 private:
  Mutex mutex_;
  std::vector<bool> taken_ KW_GUARDED_BY(mutex_);
};

/// Holds one slot of a rank for the life of an endpoint.
class SlotHold {
 public:
  SlotHold() = default;
  SlotHold(AgentSlots& slots, std::uint32_t slot) : slots_(&slots), slot_(slot) {}
  /// For an agent with a slot beyond those that are handed out.
  explicit SlotHold(std::uint32_t slot) : slot_(slot) {}
  SlotHold(SlotHold&& other) noexcept : slots_(other.slots_), slot_(other.slot_) {
    other.slots_ = nullptr;
  }
  SlotHold& operator=(SlotHold&& other) noexcept {
    if (this != &other) {
      release();
      slots_ = other.slots_;
      slot_ = other.slot_;
      other.slots_ = nullptr;
    }
    return *this;
  }
  ~SlotHold() { release(); }
  std::uint32_t slot() const { return slot_; }

 private:
  void release() {
    if (slots_ != nullptr) slots_->release(slot_);
    slots_ = nullptr;
  }
  AgentSlots* slots_ = nullptr;
  std::uint32_t slot_ = 0;
};

/// Takes a free slot of `rank` from its `slots`. kUnavailable if all are taken.
Result<SlotHold> hold_slot(AgentSlots& slots, std::uint32_t rank);

}  // namespace keyway::fabric
