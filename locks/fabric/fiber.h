// Fibers: many agents on one thread. An agent that waits switches to a sibling.
//
// *What.* run_fibers() runs n bodies as fibers (Boost.Context) of the calling thread, round
// robin, until all have returned. this_fiber::yield() is called by waiting (wait.h).
// *Thread safety.* A fiber stays on its thread. Groups do not nest.
// *Invariants.* F1: an exception that leaves a body is rethrown by run_fibers once every other
// body has returned. F2: after some rounds of yields the thread yields too, so that fibers
// that wait for another thread do not keep it from running.
#pragma once

#include <cstddef>
#include <functional>

#include "keyway/locks/fabric/fiber_context.h"

namespace keyway::fabric {

/// Runs body(0) .. body(n - 1) as fibers of this thread; returns when all have returned.
void run_fibers(std::size_t n, const std::function<void(std::size_t)>& body,
                std::size_t stack_bytes = kFiberStackBytes);

namespace this_fiber {

/// Whether the caller runs on a fiber of run_fibers.
bool active();
/// Lets the siblings run; false, at once, when the caller is no fiber.
bool yield();

}  // namespace this_fiber

}  // namespace keyway::fabric
