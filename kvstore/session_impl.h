// The bodies of Session<E> and of its Heap<E>: for the files that instantiate them for a fabric.
//
// A user of a session includes session.h alone, and takes the instance that session_shm.cc or its
// like has compiled.
#pragma once

#include "keyway/kvstore/session.h"
#include "keyway/kvstore/session_lines.h"
#include "keyway/kvstore/session_move.h"
#include "keyway/kvstore/session_multi.h"
#include "keyway/kvstore/session_overwrite.h"
#include "keyway/kvstore/session_read.h"
#include "keyway/kvstore/session_reserve.h"
#include "keyway/kvstore/session_scan.h"
#include "keyway/kvstore/session_stripe.h"
#include "keyway/kvstore/session_sweep.h"
#include "keyway/kvstore/session_time.h"
#include "keyway/kvstore/session_transaction.h"
#include "keyway/kvstore/session_walk.h"
#include "keyway/kvstore/session_write.h"
#include "keyway/kvstore/volume/heap_held.h"
#include "keyway/kvstore/volume/heap_lease.h"
#include "keyway/kvstore/volume/heap_move.h"
#include "keyway/kvstore/volume/heap_run.h"
