// VolumeFigures: what is in the memory of this process's ranks, as a worker last told.
//
// *Thread safety.* One thread tells; any may read.
#pragma once

#include "keyway/server/statistics/counter.h"

namespace keyway::server {

struct VolumeFigures {
  Counter elements, expiring;
  Counter segment_bytes, heap_bytes, heap_free_bytes;
};

}  // namespace keyway::server
