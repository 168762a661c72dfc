// Calibrate: measures this host and writes it down as a coherent machine.
//
// *What.* The result is the text of a machine file (locks/fabric/sim/machine_file.h): the costs of
// a shm endpoint's operations, of cache-line transfers and of the scheduler on this host. A
// simulation of that machine predicts the throughput of locks on this host. *How a figure is
// found.* By the model's own terms (caches.h, coherent_node.h): a ping-pong is a store that takes
// the other's copy away, and a load that fetches it again; half of what is left when the store and
// the load at hand are taken off is the transfer. cpu.overhead_ns is what a call that is not
// inlined and returns a Result adds to an operation, over a mix of three operations that no lock
// has. No lock is measured, so that none is predicted from itself.
// *Limits.* A figure that cannot be measured here says "estimate", or "not on this host" if the
// host has no such part.
// *Thread safety.* Starts and joins threads; not to be called twice at once.
#pragma once

#include <string>

#include "keyway/locks/base/status.h"
#include "keyway/tools/calibrate/measure.h"

namespace keyway::calibrate {

struct Options {
  Effort effort;
  std::string name = "host";  // name of the machine
};

/// The text of a machine file. Takes some seconds with the default effort.
Result<std::string> calibrate(const Options& options);

}  // namespace keyway::calibrate
