// The bodies of Heap<E>, for the files that instantiate it.
#pragma once

#include "keyway/kvstore/volume/heap.h"
#include "keyway/kvstore/volume/heap_held.h"
#include "keyway/kvstore/volume/heap_lease.h"
#include "keyway/kvstore/volume/heap_move.h"
#include "keyway/kvstore/volume/heap_run.h"
