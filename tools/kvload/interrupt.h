// Interrupts: the first SIGINT or SIGTERM ends the job early, with a report; the second ends the
// process at once.
//
// *Thread safety.* was_interrupted() is for all threads; take_interrupts() for the main thread,
// once.
#pragma once

namespace keyway::kvload {

/// From here on, the first signal only sets a flag. Before, a signal ends the process: there is
/// nothing to report yet. A signal that the caller has set to be ignored stays ignored (nohup).
void take_interrupts();

/// Whether this process has received a signal.
bool was_interrupted();

}  // namespace keyway::kvload
