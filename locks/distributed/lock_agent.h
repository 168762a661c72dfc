// LockAgent: an agent as seen by locks: its endpoint, its queue nodes, its counters, and the values
// that kinds have computed for it.
//
// *Thread safety.* Belongs to one agent, as its endpoint does, and does not outlive it.
#pragma once

#include <algorithm>
#include <array>
#include <memory>

#include "keyway/locks/base/check.h"
#include "keyway/locks/base/histogram.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/queue_node.h"
#include "keyway/locks/fabric/endpoint.h"

namespace keyway::locks {

/// How long an agent waits for locks and holds them. Samples each n-th grant, because each sample
/// reads the clock. Only AnyLock takes times.
class LockTimes {
 public:
  /// `every` is 1 at least.
  explicit LockTimes(std::uint32_t every) : every_(every) { KW_CHECK(every >= 1); }

  Histogram wait_ns;  // acquire and try_acquire that ended in a grant
  Histogram hold_ns;  // from the grant to the end of release

  /// Whether this acquire is one of those to be timed.
  bool samples() { return ++count_ % every_ == 0; }

 private:
  std::uint32_t every_;
  std::uint32_t count_ = 0;
};

/// Values that kinds compute once for an agent, one object of each type. The first use allocates;
/// later uses read a few words.
class AgentCache {
 public:
  static constexpr std::size_t kMaxTypes = 4;

  /// The object of type T; the first call makes it by make().
  template <class T, class Make>
  T& of(const Make& make) {
    for (std::size_t i = 0; i < kSeenAtOnce; ++i) {
      if (slots_[i].type == &kType<T>) [[likely]]
        return *static_cast<T*>(slots_[i].object.get());
    }
    return find_or_add<T>(make);
  }
  /// The same if there is one, else null.
  template <class T>
  const T* find() const {
    const auto slot = std::find_if(slots_.begin(), slots_.end(),
                                   [](const Slot& each) { return each.type == &kType<T>; });
    return slot == slots_.end() ? nullptr : static_cast<const T*>(slot->object.get());
  }

 private:
  static constexpr std::size_t kSeenAtOnce = 3;  // no kind uses more
  template <class T>
  static constexpr char kType = 0;  // its address names the type
  struct Slot {
    const char* type = nullptr;
    std::shared_ptr<void> object;
  };

  template <class T, class Make>
  [[gnu::noinline]] T& find_or_add(const Make& make) {
    Slot* const slot = std::find_if(slots_.begin(), slots_.end(), [](const Slot& each) {
      return each.type == nullptr || each.type == &kType<T>;
    });
    KW_CHECK(slot != slots_.end());
    if (slot->type == nullptr) {
      slot->object = std::make_shared<T>(make());
      slot->type = &kType<T>;
    }
    return *static_cast<T*>(slot->object.get());
  }

  std::array<Slot, kMaxTypes> slots_;
};

/// The widest level of the machine on which the agent reaches all members by the `cpu` class; 1,
/// the whole machine, if there is none.
template <fabric::Endpoint E>
std::uint32_t widest_local_level(const E& ep) {
  const Topology& topology = ep.topology();
  for (std::uint32_t level = 1; level <= topology.levels(); ++level) {
    const auto members = topology.members(level, topology.element(ep.rank(), level));
    if (std::all_of(members.begin(), members.end(),
                    [&](std::uint32_t member) { return ep.is_local(member); })) {
      return level;
    }
  }
  return 1;
}

template <class E>
class LockAgent {
 public:
  LockAgent(E& endpoint, const NodeRegion& region)
      : ep(endpoint), nodes(endpoint, region), local_level(widest_local_level(endpoint)) {}
  LockAgent(const LockAgent&) = delete;
  LockAgent& operator=(const LockAgent&) = delete;

  E& ep;
  NodePool<E> nodes;
  const std::uint32_t local_level;
  LockStats stats;
  LockTimes* times = nullptr;  // null: no times are taken

  /// The value that a kind has computed for this agent (AgentCache); T() if there is no make().
  template <class T, class Make>
  T& cache(const Make& make) {
    return cache_.of<T>(make);
  }
  template <class T>
  T& cache() {
    return cache_.of<T>([] { return T(); });
  }
  /// The same if a kind has computed one, else null.
  template <class T>
  const T* cached() const {
    return cache_.find<T>();
  }

 private:
  AgentCache cache_;
};

}  // namespace keyway::locks
