// Lane<E>: the objects with which one key at a time is found and changed while its stripe is
// locked.
//
// *What.* A session has one for its operations on one key, and further ones for operations on
// several keys: those of other nodes are worked on at the same time (overlap.h), each with the
// buffers of its lane. Heap, freed blocks and clock are the session's.
// *Thread safety.* One session's. No two lanes work at one stripe at a time.
#pragma once

#include "keyway/kvstore/volume/bucket_chain.h"
#include "keyway/kvstore/volume/element_reader.h"
#include "keyway/kvstore/volume/volume_counters.h"

namespace keyway::store {

template <fabric::Endpoint E>
struct Lane {
  Lane(E& ep, const Geometry& geometry, Heap<E>& heap, OperationClock<E>& clock,
       FreedBlocks<E>& freed)
      : counters(ep, geometry),
        reader(ep, geometry, clock),
        chain(ep, geometry, heap, reader, counters, freed) {}
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Buffers above `most` bytes are freed.
  void shrink_buffers(std::size_t most = kMaxKept) {
    reader.shrink_buffers(most);
    chain.shrink_buffers(most);
  }

  VolumeCounters<E> counters;
  ElementReader<E> reader;
  BucketChain<E> chain;
};

}  // namespace keyway::store
