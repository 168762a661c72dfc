// Exponentially distributed times by integer arithmetic alone.
//
// *What.* The logarithm of a C library may differ in its last bit between versions and processors,
// and one bit makes another run. This draws with comparisons and shifts only.
// *Source.* Knuth, The Art of Computer Programming 2, section 3.4.1, algorithm S (Ahrens and
// Dieter).
#pragma once

#include <cstdint>

#include "keyway/locks/base/rng.h"
#include "keyway/locks/fabric/sim/virtual_time.h"

namespace keyway::fabric::sim {

/// A draw with the given mean.
Picos exponential(Rng& rng, Picos mean);

}  // namespace keyway::fabric::sim
