// Backend: a store on one fabric, as the client library sees it. Internal: not installed API.
//
// A back-end is a type XBackend in backend_X.h with
//
//   Session                    a session of the store
//   serves(uri)                whether the URI is of its scheme
//   open(uri, parsed)          a store; `parsed` may be a failure
//   session(), owner_of(), options(), describe(), fabric->ranks()
//   process() ... rank_waits() of the job; OneProcess has them for a single process
//
// CMake lists those of the build in backends.h (backends.cmake), and any_backend.h makes a variant
// of them: client code switches on it, without a virtual call on the way to an operation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/client/client.h"
#include "keyway/client/lock_policy.h"
#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/owner/call_slots.h"
#include "keyway/kvstore/session.h"
#include "keyway/kvstore/volume/address_cache.h"
#include "keyway/locks/distributed/queue_node.h"
#include "keyway/locks/distributed/stripe_lock.h"

namespace keyway::client {

/// Slots of each rank for calls to each other one: as many sessions of a rank have edits under way
/// at an owner, and the others make theirs one-sided. Fewer in a large job, so that the owner sees
/// all at one look; fewer, or none, where they would take more than a sixteenth of the memory.
inline std::uint32_t call_slots_of(const StoreOptions& options, std::uint32_t ranks) {
  constexpr std::uint64_t kMaxSlots = 32;
  constexpr std::uint64_t kMinSlots = 4;
  constexpr std::uint64_t kShare = 16;
  if (options.path != EditPath::kOwner || ranks == 1) return 0;
  const std::uint64_t wanted = std::min<std::uint64_t>(
      options.sessions, std::clamp(store::kSlotsAtOneLook / ranks, kMinSlots, kMaxSlots));
  const std::uint64_t of_each = ranks * (store::kCallBytes + store::kAnswerBytes);
  return static_cast<std::uint32_t>(std::min(wanted, options.memory_bytes / kShare / of_each));
}

/// Locks that a session may hold if its kind needs queue nodes.
inline std::uint32_t room_for_locks(const StoreOptions& options, std::uint32_t ranks) {
  constexpr std::uint64_t kShare = 32;
  const std::uint64_t all = std::uint64_t{options.stripes} * ranks;
  const std::uint64_t sessions = std::max(options.sessions, 1u);
  const std::uint64_t room = options.memory_bytes / kShare / sessions / locks::kNodeBytes;
  return static_cast<std::uint32_t>(
      std::max<std::uint64_t>(std::min(all, room), locks::kDefaultNodesPerAgent));
}

/// `one_class`: every session reaches all memory directly.
inline store::GeometryOptions geometry_options(const StoreOptions& options,
                                               const LockPolicy& policy, std::uint32_t ranks,
                                               bool one_class) {
  return {.memory_bytes = options.memory_bytes,
          .element_bytes = options.element_bytes,
          .buckets = options.buckets,
          .stripes = options.stripes,
          .agents_per_rank = options.sessions,
          .nodes_per_agent = options.locks_per_session,
          .lock_kinds = static_cast<std::uint32_t>(policy.lock.kinds()),
          .satellite_kinds = policy.satellite_kinds,
          .call_slots = call_slots_of(options, ranks),
          .ranks = ranks,
          .proofs = !one_class};
}

/// Everything that must be the same on every process of a job, as one line.
std::string fingerprint(const StoreOptions& options);

/// The options' secret, or else one from the operating system. One process of a job asks, for all.
Result<store::HashSecret> hash_secret_of(const StoreOptions& options);

/// The state of a store besides its fabric. On the heap: sessions keep references.
struct Plan {
  store::Geometry geometry;
  LockPolicy policy;
  StoreOptions options;

  /// For this many ranks on this many nodes. Fails with a sentence if the options do not fit.
  static Result<std::unique_ptr<Plan>> make(StoreOptions options, std::uint32_t ranks,
                                            std::uint32_t nodes, const store::HashSecret& secret);
  /// The choices for each rank, for people.
  std::string describe() const;
};

template <class Fabric>
using StoreSession = store::Session<typename Fabric::Endpoint>;

/// The collective functions for one process.
struct OneProcess {
  std::uint32_t process() const { return 0; }
  std::uint32_t processes() const { return 1; }
  void barrier() {}
  std::vector<std::string> gather(std::string_view bytes) { return {std::string(bytes)}; }
  std::vector<std::string> gather_everywhere(std::string_view bytes) { return gather(bytes); }
  void notify_all() {}
  bool notified() const { return false; }
  RankWaits rank_waits(std::uint32_t) const { return {}; }
};

/// The common part of the back-ends with sessions that access the memory of the ranks.
template <class Fabric>
struct FabricBackend {
  using Session = StoreSession<Fabric>;

  std::unique_ptr<Plan> plan;
  std::unique_ptr<Fabric> fabric;
  std::unique_ptr<store::AddressCache> addresses = {};  // null: no element has another node
  std::unique_ptr<store::CallSlots> calls = {};         // null: no edit goes to its owner

  Result<std::unique_ptr<StoreSession<Fabric>>> session(std::uint32_t rank) {
    auto endpoint = fabric->endpoint(rank);
    if (!endpoint.ok()) return endpoint.status();
    return std::make_unique<StoreSession<Fabric>>(
        std::move(*endpoint), plan->geometry, plan->policy.lock,
        store::SessionOptions{.timeout = plan->options.timeout,
                              .lock_times = plan->options.lock_times,
                              .choice = plan->policy.automatic ? &plan->policy.choice : nullptr,
                              .addresses = addresses.get(),
                              .reads_lock = plan->options.reads_lock,
                              .calls = calls.get(),
                              .patience = plan->options.patience});
  }
  std::uint32_t owner_of(std::string_view key) const {
    return store::owner_of_slot(store::slot_of(key), fabric->ranks());
  }
  const StoreOptions& options() const { return plan->options; }
  std::string describe() const {
    return fabric->topology().describe() + "; per rank " + plan->describe();
  }
};

}  // namespace keyway::client
