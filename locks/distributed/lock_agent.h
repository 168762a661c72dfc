// LockAgent: what an agent brings to a lock: its endpoint, its queue nodes, its counters, and the
// maps that it has used.
//
// *Thread safety.* Belongs to one agent, as its endpoint does, and does not outlive it.
#pragma once

#include "keyway/locks/base/histogram.h"
#include "keyway/locks/distributed/counter_map.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/queue_node.h"
#include "keyway/locks/distributed/tree_path.h"
#include "keyway/locks/fabric/endpoint.h"

namespace keyway::locks {

/// How long an agent waits for locks and holds them: of each n-th grant, as each costs looks at the
/// clock. Only AnyLock takes times.
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

template <class E>
class LockAgent {
 public:
  LockAgent(E& endpoint, const NodeRegion& region)
      : ep(endpoint), nodes(endpoint, region), path(TreePath::of(endpoint, endpoint.rank())) {}
  LockAgent(const LockAgent&) = delete;
  LockAgent& operator=(const LockAgent&) = delete;

  E& ep;
  NodePool<E> nodes;
  const TreePath path;
  LockStats stats;
  LockTimes* times = nullptr;  // null: no times are taken
  CounterMaps counter_maps;
};

}  // namespace keyway::locks
