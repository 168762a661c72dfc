// CallSlots: a process's slots for calls to the owners of keys.
//
// *What.* A slot is a place for one request at the owner, and one for its answer here. A session
// claims a slot for each call. The number of slots bounds what a process can ask of an owner at one
// time. A call that ends without its answer keeps its slot until the answer comes, with the buffer
// that the fabric may still read. So an owner that does not answer holds up as many calls as it has
// slots: edits without a slot are one-sided at once.
// *Thread safety.* Any thread.
// *Invariants.* CS1: a call begins after the answer to the last call in its slot has come, and has
// the next number.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace keyway::store {

/// Slots that an owner looks into at one time: a job of a thousand ranks has thousands.
inline constexpr std::size_t kSlotsAtOneLook = 64;

class CallSlots {
 public:
  CallSlots(std::uint32_t ranks, std::uint32_t of_each)
      : of_each_(of_each), slots_(std::size_t{ranks} * of_each) {}

  struct Claim {
    std::uint32_t slot = 0;
    std::uint64_t number = 0;  // this call's
  };
  /// A slot at an owner; nothing if all are in use. has_come(slot, number): whether an answer is
  /// here.
  template <class HasCome>
  std::optional<Claim> claim(std::uint32_t owner, HasCome&& has_come);
  /// The answer has come.
  void release(std::uint32_t owner, const Claim& claim) {
    // release: the next claim sees the number.
    at(owner, claim.slot).state.store(State::kFree, std::memory_order_release);
  }
  /// The call ends without its answer, or with a message that the fabric may still read.
  void abandon(std::uint32_t owner, const Claim& claim, std::vector<std::byte> buffer) {
    Slot& slot = at(owner, claim.slot);
    slot.buffer = std::move(buffer);
    slot.state.store(State::kAbandoned, std::memory_order_release);
  }

 private:
  enum class State : std::uint8_t { kFree, kTaken, kAbandoned };
  struct Slot {
    std::atomic<State> state{State::kFree};
    std::uint64_t number = 0;       // the last call's; the claimer's
    std::vector<std::byte> buffer;  // an abandoned call's
  };

  Slot& at(std::uint32_t owner, std::uint32_t slot) { return slots_[owner * of_each_ + slot]; }

  std::uint32_t of_each_;
  std::vector<Slot> slots_;
};

template <class HasCome>
std::optional<CallSlots::Claim> CallSlots::claim(std::uint32_t owner, HasCome&& has_come) {
  for (std::uint32_t i = 0; i < of_each_; ++i) {
    Slot& slot = at(owner, i);
    State state = slot.state.load(std::memory_order_relaxed);  // a hint
    if (state == State::kTaken) continue;
    // acquire: the number, and what an abandoned call has left.
    if (!slot.state.compare_exchange_strong(state, State::kTaken, std::memory_order_acquire)) {
      continue;
    }
    if (state == State::kAbandoned && !has_come(i, slot.number)) {
      slot.state.store(State::kAbandoned, std::memory_order_release);
      continue;
    }
    slot.buffer.clear();
    return Claim{i, ++slot.number};
  }
  return std::nullopt;
}

}  // namespace keyway::store
