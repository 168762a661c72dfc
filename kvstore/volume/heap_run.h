// Heap<E>: runs of whole chunks, for elements larger than a chunk. Included by heap_impl.h.
#pragma once

#include <algorithm>
#include <array>

#include "keyway/kvstore/volume/heap.h"

namespace keyway::store {

using fabric::rma;

/// Offset of a run, or kNone.
template <fabric::Endpoint E>
std::uint64_t Heap<E>::allocate_run(std::uint32_t rank, std::uint64_t chunks) {
  Leases& mine = leases(rank);
  for (auto& run : mine.runs) {
    if (run.first != chunks) continue;
    const std::uint64_t offset = run.second;
    run = mine.runs.back();
    mine.runs.pop_back();
    return offset;
  }
  if (!may_search(rank, kRunClass, [&] { return lacks_run(rank, chunks); })) return kNone;
  std::uint64_t first = search_run(rank, chunks);
  if (first == kNone) {
    return_rank(rank);
    if (!lacks_run(rank, chunks)) first = search_run(rank, chunks);
  }
  return first == kNone ? kNone : geometry_.chunk(rank, first).offset();
}

/// Whether a search of a moment ago has found no run as long. The agent has leases of the rank.
template <fabric::Endpoint E>
bool Heap<E>::lacks_run(std::uint32_t rank, std::uint64_t chunks) {
  return !ep_.is_local(rank) && leases_[rank]->full.lacks_run(chunks, ep_.now_ns());
}

/// Makes chunks free, which are all this agent's: chunk_at(0) .. chunk_at(count - 1).
template <fabric::Endpoint E>
template <class ChunkAt>
void Heap<E>::free_chunks(std::uint32_t rank, std::uint64_t count, ChunkAt&& chunk_at) {
  expect_room(rank);
  for (std::uint64_t i = 0; i < count; ++i) {
    ep_.post_store(rma, geometry_.chunk_state(rank, chunk_at(i)), 0);
    if ((i + 1) % kStatesAtOnce == 0) ep_.flush(rank);
  }
  ep_.flush(rank);
}

/// Claims chunks first .. first + chunks - 1, or none of them. It begins with the first one alone:
/// one of several agents gets a gap that all want, and the others take nothing.
template <fabric::Endpoint E>
bool Heap<E>::claim_run(std::uint32_t rank, std::uint64_t first, std::uint64_t chunks) {
  const ChunkState rest(ChunkState::kRunRest, 0);
  if (ep_.compare_swap(rma, geometry_.chunk_state(rank, first), 0, rest.word()) != 0) return false;
  std::array<fabric::Pending, kStatesAtOnce> before;
  std::array<std::uint64_t, kStatesAtOnce> ours;
  for (std::uint64_t done = 1; done < chunks; done += kStatesAtOnce) {
    const std::uint64_t n = std::min(chunks - done, kStatesAtOnce);
    for (std::uint64_t i = 0; i < n; ++i) {
      const fabric::Address state = geometry_.chunk_state(rank, first + done + i);
      before[i] = ep_.post_compare_swap(rma, state, 0, rest.word());
    }
    const fabric::Flushed asked = ep_.flush(rank);
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      if (before[i].value(asked) == 0) ours[count++] = first + done + i;
    }
    if (count == n) continue;
    free_chunks(rank, count, [&](std::uint64_t i) { return ours[i]; });
    free_chunks(rank, done, [&](std::uint64_t i) { return first + i; });
    return false;
  }
  const ChunkState head(ChunkState::kRunHead, chunks);
  ep_.store(rma, geometry_.chunk_state(rank, first), head.word());
  return true;
}

/// The first chunk of a newly claimed run, or kNone: chunks never used before if there are enough,
/// else the first gap that is wide enough.
template <fabric::Endpoint E>
std::uint64_t Heap<E>::search_run(std::uint32_t rank, std::uint64_t chunks) {
  if (chunks > geometry_.chunks()) return kNone;
  const fabric::Address fresh = geometry_.header(rank) + kFreshChunkOffset;
  std::uint64_t first = ep_.load(rma, fresh);
  while (first + chunks <= geometry_.chunks()) {
    const std::uint64_t seen = ep_.compare_swap(rma, fresh, first, first + chunks);
    if (seen == first && claim_run(rank, first, chunks)) return first;
    first = seen == first ? ep_.load(rma, fresh) : seen;
  }
  std::uint64_t gap = 0;
  bool passed = false;  // by a gap that was another agent's then
  std::uint64_t found = kNone;
  each_state(rank, 0, geometry_.chunks(), [&](std::uint64_t chunk, ChunkState state) {
    gap = state.free() ? gap + 1 : 0;
    if (gap < chunks) return false;
    if (claim_run(rank, chunk + 1 - chunks, chunks)) found = chunk + 1 - chunks;
    passed = passed || found == kNone;
    gap = 0;
    return found != kNone;
  });
  if (found == kNone && !passed && !ep_.is_local(rank)) {
    leases_[rank]->full.note_run(chunks, ep_.now_ns());
  }
  return found;
}

template <fabric::Endpoint E>
std::uint64_t Heap<E>::capacity(std::uint32_t rank, const Block& block) {
  if (block.size_class != kRunClass) return class_bytes(block.size_class);
  const ChunkState head(
      ep_.load(rma, geometry_.chunk_state(rank, geometry_.chunk_of(block.offset))));
  KW_CHECK(head.kind() == ChunkState::kRunHead);
  return head.count() * kChunkBytes;
}

template <fabric::Endpoint E>
void Heap<E>::free_run(std::uint32_t rank, std::uint64_t offset, std::uint64_t chunks) {
  const std::uint64_t first = geometry_.chunk_of(offset);
  free_chunks(rank, chunks, [&](std::uint64_t i) { return first + i; });
}

}  // namespace keyway::store
