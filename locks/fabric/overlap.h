// Overlap: several computations of one agent at the same time, which share their flushes.
//
// *What.* An agent that does the same at many places of other ranks, one after the other, waits for
// a round trip at every flush. run() gives each body a separate stack. A body that flushes stops
// there. Once all bodies have stopped or returned, one flush of each rank completes what all of
// them have issued, and each of them proceeds. So the bodies together take as many round trips as
// the longest of them alone.
// *Thread safety.* One agent's. A run ends on the thread on which it began.
// *Invariants.*
//   OV1  Bodies change places only where they flush or wait, so between two such points a body is
//        alone. They work at distinct places: two locks, two buckets.
//   OV2  All that may block happens on the stack that called run(). So the agent waits as it would
//        without bodies, whether it is a thread, a fiber, or an agent of a simulation.
//   OV3  A body's wait for other agents begins when no body stands at a flush any more: so it holds
//        up none that could proceed without it.
// *Source.* Ours; docs/decisions/030 has the rejected alternatives.
#pragma once

#include <cstddef>
#include <cstdint>

#include "keyway/locks/base/function_ref.h"

namespace keyway::fabric {

class Overlap {
 public:
  /// The maximum number of bodies of one run.
  static constexpr std::size_t kMaxBodies = 16;
  using Body = FunctionRef<void(std::size_t)>;

  /// How the agent completes its operations, on its own stack.
  struct Flushes {
    FunctionRef<void(std::uint32_t rank)> one;
    FunctionRef<void()> all;
  };

  /// Runs body(0) .. body(n - 1), n <= kMaxBodies; returns when all have returned. An exception
  /// that leaves a body is thrown again once the others have returned, the first of them alone;
  /// buffers of operations that it has posted are in use until then. In a body the agent counts as
  /// on no fiber. From a body, or without memory for stacks, it runs them one by one.
  void run(std::size_t n, Body body, const Flushes& flushes);

  // --- from the endpoint's operations
  /// Whether the caller is a body.
  bool in_body() const { return running_ != nullptr; }
  /// From a body: returns when the agent has flushed the rank, or all ranks.
  void flush(std::uint32_t rank);
  void flush_all();
  /// make(), which waits for no other agent: from a body, on the agent's stack.
  template <class Make>
  void make(Make&& make) {
    if (!in_body()) return make();
    leave_to_agent(make, /*waits=*/false);
  }
  /// The same for what waits (OV3); its result.
  template <class Wait>
  auto wait(Wait&& wait) {
    if (!in_body()) return wait();
    decltype(wait()) result{};
    leave_to_agent([&] { result = wait(); }, /*waits=*/true);
    return result;
  }

 private:
  struct Run;
  struct Lane;

  static void stop(Lane& lane);
  void leave_to_agent(FunctionRef<void()> call, bool waits);

  Lane* running_ = nullptr;  // the body that runs
};

/// Calls step(i, lane) for all i below n in overlapping bodies, of which each takes the next i when
/// it is done with one. `lane` is the body's number, below lanes <= Overlap::kMaxBodies.
template <class E, class Step>
void overlap_steps(E& ep, std::size_t n, std::size_t lanes, Step&& step) {
  std::size_t next = 0;
  ep.overlap(n < lanes ? n : lanes, [&](std::size_t lane) {
    while (next < n) step(next++, lane);
  });
}

}  // namespace keyway::fabric
