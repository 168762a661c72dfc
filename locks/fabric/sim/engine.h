// Engine: decides when the operations of a simulated machine happen.
//
// *What.* An endpoint passes every operation to its engine and gets control back when the engine
// resumes its agent. One engine tries every order: it explores. The other follows a machine's
// costs: it measures. Locks and the store see no difference.
// *Thread safety.* None: one thread simulates; an agent is a fiber of it, or the thread itself
// while nothing runs, and then every operation happens at once.
#pragma once

#include <cstdint>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/backoff.h"
#include "keyway/locks/fabric/endpoint.h"
#include "keyway/locks/fabric/sim/memory.h"
#include "keyway/locks/fabric/sim/operation.h"

namespace keyway::fabric::sim {

/// A predicate on a word that outlives the wait it is for.
struct PredicateRef {
  const void* object = nullptr;
  bool (*call)(const void* object, std::uint64_t word) = nullptr;

  template <class P>
  static PredicateRef to(const P& predicate) {
    return {&predicate, [](const void* object, std::uint64_t word) {
              return static_cast<bool>((*static_cast<const P*>(object))(word));
            }};
  }
  bool operator()(std::uint64_t word) const { return call(object, word); }
};

class Engine {
 public:
  /// Instead of an agent's number: the calling agent. Engines of virtual time know it.
  static constexpr std::uint32_t kCaller = ~0u;

  virtual ~Engine() = default;

  Memory& memory() { return memory_; }
  const Memory& memory() const { return memory_; }

  /// Issues an operation and waits until it has happened: its result.
  virtual std::uint64_t perform(std::uint32_t agent, const Operation& op) = 0;
  /// Issues an operation that happens some time before the flush of its rank; its result goes to
  /// `result`, which may be null.
  virtual void post(std::uint32_t agent, const Operation& op, ResultSlot* result) = 0;
  /// Waits until all that the agent has posted to `rank` has happened.
  virtual void flush(std::uint32_t agent, std::uint32_t rank) = 0;
  virtual void flush_all(std::uint32_t agent) {
    for (std::uint32_t rank = 0; rank < memory_.ranks(); ++rank) flush(agent, rank);
  }
  /// The same, and the stores of the agent's processor have happened as well.
  virtual void fence(std::uint32_t agent) { flush_all(agent); }
  /// The agent's earlier operations on `rank` happen before its later operations on it.
  virtual void order(std::uint32_t agent, std::uint32_t rank) = 0;
  /// Whether that takes as long as a flush.
  virtual bool orders_by_flush() const { return false; }
  /// Until the predicate holds for a word of the agent's own node.
  virtual WaitResult wait(std::uint32_t agent, Address word, PredicateRef predicate,
                          Deadline deadline) = 0;
  /// The same for a word of any rank, which is polled through the network.
  virtual WaitResult wait_remote(std::uint32_t agent, Address word, PredicateRef predicate,
                                 BackoffSteps&, Deadline deadline) {
    return wait(agent, word, predicate, deadline);
  }
  /// Around each attempt of a retry_until(). An attempt that failed leaves nothing behind; the next
  /// one begins some time later. False when the deadline has passed instead.
  virtual void attempt_begins(std::uint32_t agent) = 0;
  virtual void attempt_succeeded(std::uint32_t agent) = 0;
  virtual bool attempt_failed(std::uint32_t agent, std::uint64_t wait_ns, Deadline deadline) = 0;
  /// Whether the next attempt uses the same result slots, so that it differs in nothing.
  virtual bool attempts_are_equal() const { return false; }
  virtual std::uint64_t now_ns(std::uint32_t agent) const = 0;
  /// Makes the draws of one wait's back-off differ from the last one's, and from another seed's.
  virtual std::uint64_t salt() const { return 0; }
  /// Whether the two access classes coincide.
  virtual bool one_class() const { return false; }

 protected:
  Engine(std::uint32_t ranks, std::uint64_t segment_bytes,
         Memory::Hashing hashing = Memory::Hashing::kKept)
      : memory_(ranks, segment_bytes, hashing) {}

 private:
  Memory memory_;
};

}  // namespace keyway::fabric::sim
