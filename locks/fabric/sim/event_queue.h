// EventQueue: what happens when, the earliest first; of two events of one time the one made first.
//
// *Thread safety.* None.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "keyway/locks/fabric/sim/virtual_time.h"

namespace keyway::fabric::sim {

/// What an event does; its subject is a flight or an agent.
enum class What : std::uint8_t { kArrive, kServed, kBack, kReturn, kResume, kLook, kAlarm };

struct Event {
  Picos at;
  std::uint64_t order;  // how many were made before it
  std::uint32_t subject;
  std::uint32_t stay;  // of an agent: void when the agent has gone on since
  What what;

  bool operator>(const Event& other) const {
    return at != other.at ? at > other.at : order > other.order;
  }
};

class EventQueue {
 public:
  void add(Picos at, What what, std::uint32_t subject, std::uint32_t stay = 0) {
    heap_.push({at, made_++, subject, stay, what});
  }
  bool empty() const { return heap_.empty(); }
  /// When the next event is due; the end of time when there is none.
  Picos next() const { return heap_.empty() ? kEndOfTime : heap_.top().at; }
  Event take() {
    const Event event = heap_.top();
    heap_.pop();
    return event;
  }
  void clear() { heap_ = {}; }

 private:
  std::priority_queue<Event, std::vector<Event>, std::greater<>> heap_;
  std::uint64_t made_ = 0;
};

}  // namespace keyway::fabric::sim
