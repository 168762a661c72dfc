// EventQueue: the events by time, earliest first; events of the same time in order of creation.
//
// *What.* A radix heap: an event lies in the bucket of the highest bit in which its time differs
// from that of the last one taken, and moves to lower buckets as time comes nearer. It moves by
// copying in order, which a large binary heap does not.
// *Thread safety.* None.
// *Invariants.* Q1: no event is added before the time of the last one taken (checked).
// *Source.* Ahuja, Mehlhorn, Orlin, Tarjan, "Faster algorithms for the shortest path problem",
// JACM 1990.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "keyway/locks/base/check.h"
#include "keyway/locks/fabric/sim/virtual_time.h"

namespace keyway::fabric::sim {

/// The effect of an event; its subject is a flight or an agent.
enum class What : std::uint8_t { kArrive, kServed, kBack, kReturn, kResume, kLook, kAlarm };

struct Event {
  Picos at;
  std::uint32_t subject;
  std::uint32_t stay : 29;  // for agents: void if the agent has continued since
  std::uint32_t what_bits : 3;

  What what() const { return static_cast<What>(what_bits); }
};
static_assert(sizeof(Event) == 16);

class EventQueue {
 public:
  static constexpr std::uint32_t kStayMask = (1u << 29) - 1;

  void add(Picos at, What what, std::uint32_t subject, std::uint32_t stay = 0) {
    KW_DCHECK(at >= last_);
    put({at, subject, stay & kStayMask, static_cast<std::uint32_t>(what) & 7});
    ++size_;
  }
  bool empty() const { return size_ == 0; }
  /// When the next event is due; the end of time when there is none.
  Picos next() const {
    if (next_due_ < due_.size()) return last_;
    return filled_ == 0 ? kEndOfTime : earliest_[lowest()];
  }
  Event take() {
    KW_DCHECK(size_ > 0);
    if (next_due_ == due_.size()) redistribute();
    --size_;
    return due_[next_due_++];
  }
  void clear() { *this = {}; }

 private:
  /// Bucket k holds the events with times that differ from last_ in bit k and in no higher bit.
  void put(const Event& event) {
    if (event.at == last_) return due_.push_back(event);
    const auto k = static_cast<std::size_t>(std::bit_width(event.at ^ last_) - 1);
    const std::uint64_t bit = std::uint64_t{1} << k;
    if ((filled_ & bit) == 0 || event.at < earliest_[k]) earliest_[k] = event.at;
    filled_ |= bit;
    buckets_[k].push_back(event);
  }
  std::size_t lowest() const { return static_cast<std::size_t>(std::countr_zero(filled_)); }
  /// Nothing is due any more: the lowest bucket's earliest time becomes now.
  void redistribute() {
    due_.clear();
    next_due_ = 0;
    const std::size_t k = lowest();
    last_ = earliest_[k];
    filled_ &= filled_ - 1;
    for (const Event& event : buckets_[k]) put(event);  // each into a lower one
    buckets_[k].clear();
  }

  Picos last_ = 0;
  std::vector<Event> due_;  // at last_, in the order in which they were made
  std::size_t next_due_ = 0;
  std::array<std::vector<Event>, 64> buckets_;
  std::array<Picos, 64> earliest_{};  // by bucket, if it has any
  std::uint64_t filled_ = 0;          // a bit per bucket that does
  std::size_t size_ = 0;
};

}  // namespace keyway::fabric::sim
