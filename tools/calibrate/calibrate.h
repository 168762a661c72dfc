// Calibrate: measures this host and writes it down as a coherent machine.
//
// *What.* The result is the text of a machine file (locks/fabric/sim/machine_file.h): what the
// operations of a shm endpoint cost here, where its cache lines come from, what its scheduler
// takes. A simulation of that machine predicts what locks do on this host. *How a figure is found.*
// By the model's own terms (caches.h, coherent_node.h): a ping-pong is a store that takes the
// other's copy away, and a load that fetches it again; half of what is left when the store and the
// load at hand are taken off is the transfer. cpu.overhead_ns is what a call that is not inlined
// and returns a Result adds to an operation, over a mix of three operations that no lock has. No
// lock is measured, so that none is predicted from itself. *What cannot be found out here* says
// "estimate", or "not on this host" where it has no such part. *Thread safety.* Starts and joins
// threads of its own; not to be called twice at once.
#pragma once

#include <string>

#include "keyway/locks/base/status.h"
#include "keyway/tools/calibrate/measure.h"

namespace keyway::calibrate {

struct Options {
  Effort effort;
  std::string name = "host";  // of the machine
};

/// The text of a machine file. Takes some seconds with the default effort.
Result<std::string> calibrate(const Options& options);

}  // namespace keyway::calibrate
