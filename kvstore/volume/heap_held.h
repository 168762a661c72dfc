// Heap<E>: the blocks in an agent's hands, chunk by chunk. Included by heap_impl.h.
#pragma once

#include <algorithm>
#include <new>
#include <utility>

#include "keyway/kvstore/volume/heap.h"

namespace keyway::store {

using fabric::rma;

template <fabric::Endpoint E>
Heap<E>::Heap(E& ep, const Geometry& geometry)
    : ep_(ep),
      geometry_(geometry),
      most_held_(static_cast<std::uint32_t>(std::min<std::uint64_t>(
          geometry.chunks() / kHeldShare / ep.ranks() / geometry.nodes().agents_per_rank,
          kMaxHeld))),
      leases_(ep.ranks()) {}

template <fabric::Endpoint E>
typename Heap<E>::Leases& Heap<E>::leases(std::uint32_t rank) {
  if (!leases_[rank]) {
    auto made = std::make_unique<Leases>();
    made->held.reserve(most_held_);  // keep_block() allocates nothing
    // Agents begin their searches apart, so that they do not fight for the same chunks.
    made->rover = ep_.agent().slot * (kScanWords * 8 + 1) % geometry_.chunks();
    leases_[rank] = std::move(made);
  }
  return *leases_[rank];
}

template <fabric::Endpoint E>
typename Heap<E>::Held* Heap<E>::find_chunk(Leases& mine, std::uint64_t chunk) {
  const auto is_it = [&](const Held& held) { return held.chunk == chunk; };
  const auto at = std::find_if(mine.held.begin(), mine.held.end(), is_it);
  return at == mine.held.end() ? nullptr : &*at;
}

/// A chunk with blocks of this class: the one used last, or another. There is one.
template <fabric::Endpoint E>
typename Heap<E>::Held& Heap<E>::find_class(Leases& mine, std::uint32_t size_class) {
  const std::uint32_t recent = mine.recent[size_class];
  if (recent < mine.held.size() && mine.held[recent].size_class == size_class) {
    return mine.held[recent];
  }
  const auto is_it = [&](const Held& held) { return held.size_class == size_class; };
  return *std::find_if(mine.held.begin(), mine.held.end(), is_it);
}

template <fabric::Endpoint E>
void Heap<E>::note_use(Leases& mine, Held& held) {
  held.used_at = ++mine.clock;
  mine.recent[held.size_class] = static_cast<std::uint32_t>(&held - mine.held.data());
}

/// Makes room to note the blocks of one chunk more. H5.
template <fabric::Endpoint E>
bool Heap<E>::has_room(Leases& mine) {
  if (mine.held.size() < mine.held.capacity()) return true;
  try {
    mine.held.reserve(2 * mine.held.capacity() + 1);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// The entry of a chunk, which is there already or has room.
template <fabric::Endpoint E>
typename Heap<E>::Held& Heap<E>::add_chunk(Leases& mine, std::uint64_t chunk,
                                           std::uint32_t size_class) {
  if (Held* held = find_chunk(mine, chunk)) return *held;
  KW_CHECK(mine.held.size() < mine.held.capacity());  // H5
  return mine.held.emplace_back(Held{.chunk = chunk, .size_class = size_class});
}

/// The offset of a block of this class, of which there is one in hand.
template <fabric::Endpoint E>
std::uint64_t Heap<E>::take_block(std::uint32_t rank, Leases& mine, std::uint32_t size_class) {
  Held& held = find_class(mine, size_class);
  std::uint32_t word = 0;
  while (held.bits[word] == 0) ++word;
  const auto index = word * 64 + static_cast<std::uint64_t>(std::countr_zero(held.bits[word]));
  const std::uint64_t offset =
      geometry_.chunk(rank, held.chunk).offset() + index * class_bytes(size_class);
  held.bits[word] &= held.bits[word] - 1;
  --mine.blocks[size_class];
  if (--held.count > 0) {
    note_use(mine, held);
  } else {
    held = mine.held.back();
    mine.held.pop_back();
  }
  return offset;
}

template <fabric::Endpoint E>
std::uint64_t Heap<E>::index_of(std::uint32_t rank, const Block& block) const {
  const std::uint64_t chunk = geometry_.chunk_of(block.offset);
  return (block.offset - geometry_.chunk(rank, chunk).offset()) / class_bytes(block.size_class);
}

/// Keeps a freed block where H6 allows it.
template <fabric::Endpoint E>
bool Heap<E>::keep_block(std::uint32_t rank, const Block& block) {
  if (!leases_[rank]) return false;  // an agent that has allocated nothing there needs none
  Leases& mine = *leases_[rank];
  const std::uint32_t c = block.size_class;
  if (mine.blocks[c] >= class_capacity(c)) return false;
  const std::uint64_t chunk = geometry_.chunk_of(block.offset);
  Held* held = find_chunk(mine, chunk);
  if (held == nullptr) {
    if (mine.held.size() >= most_held_) return false;
    held = &add_chunk(mine, chunk, c);
  }
  const std::uint64_t index = index_of(rank, block);
  held->bits[index / 64] |= 1ULL << (index % 64);
  ++held->count;
  ++mine.blocks[c];
  note_use(mine, *held);
  return true;
}

/// Clears the bits of the last `count` blocks of a chunk, before this agent's next operation on the
/// rank.
template <fabric::Endpoint E>
void Heap<E>::clear_bits(std::uint32_t rank, Held& held, std::uint64_t count) {
  std::uint64_t left = count;
  for (std::uint64_t word = kBitmapWords; word-- > 0 && left > 0;) {
    std::uint64_t mask = held.bits[word];
    while (static_cast<std::uint64_t>(std::popcount(mask)) > left) mask &= mask - 1;
    if (mask == 0) continue;
    // The bits are set, so to subtract them clears them.
    ep_.post_fetch_add(rma, geometry_.chunk_bitmap(rank, held.chunk) + word * 8, minus(mask));
    held.bits[word] &= ~mask;
    left -= static_cast<std::uint64_t>(std::popcount(mask));
  }
  held.count -= static_cast<std::uint32_t>(count);
  ep_.order(rank);
}

/// Returns blocks of a chunk to the owner; true if this makes the chunk free. On a remote rank it
/// costs one round trip, or two if the chunk may be empty.
template <fabric::Endpoint E>
bool Heap<E>::return_bits(std::uint32_t rank, Held& held, std::uint64_t count) {
  if (count == 0) return false;
  expect_room(rank);
  clear_bits(rank, held, count);  // H1: the bits first
  const fabric::Address state = geometry_.chunk_state(rank, held.chunk);
  const std::uint64_t before = ep_.fetch_add(rma, state, minus(count));
  if (ChunkState(before).count() != count) return false;
  // H2: free for any class, if the chunk is still empty.
  return ep_.compare_swap(rma, state, before - count, 0) == before - count;
}

/// The same of a chunk in hand. Its entry stays, also without blocks: drop_empty().
template <fabric::Endpoint E>
void Heap<E>::return_held(std::uint32_t rank, Held& held, std::uint64_t count) {
  leases_[rank]->blocks[held.size_class] -= static_cast<std::uint32_t>(count);
  return_bits(rank, held, count);
}

template <fabric::Endpoint E>
void Heap<E>::drop_empty(Leases& mine) {
  std::erase_if(mine.held, [](const Held& held) { return held.count == 0; });
}

template <fabric::Endpoint E>
void Heap<E>::return_oldest(std::uint32_t rank) {
  Leases& mine = *leases_[rank];
  const auto by_use = [](const Held& a, const Held& b) { return a.used_at < b.used_at; };
  const auto oldest = std::min_element(mine.held.begin(), mine.held.end(), by_use);
  return_held(rank, *oldest, oldest->count);
  drop_empty(mine);
}

/// Returns a block that is not in hand.
template <fabric::Endpoint E>
void Heap<E>::return_block(std::uint32_t rank, const Block& block) {
  Held one{.chunk = geometry_.chunk_of(block.offset), .size_class = block.size_class, .count = 1};
  const std::uint64_t index = index_of(rank, block);
  one.bits[index / 64] = 1ULL << (index % 64);
  return_bits(rank, one, 1);
}

/// Returns what is in hand of a rank, but for blocks of one class.
template <fabric::Endpoint E>
void Heap<E>::return_rank(std::uint32_t rank, std::uint32_t except_class) {
  Leases& mine = *leases_[rank];
  for (Held& held : mine.held) {
    if (held.size_class != except_class) return_held(rank, held, held.count);
  }
  drop_empty(mine);
  for (const auto& [chunks, offset] : mine.runs) free_run(rank, offset, chunks);
  mine.runs.clear();
}

template <fabric::Endpoint E>
void Heap<E>::return_all() {
  for (std::uint32_t rank = 0; rank < leases_.size(); ++rank) {
    if (leases_[rank]) return_rank(rank);
  }
}

template <fabric::Endpoint E>
void Heap<E>::trim() {
  if (!std::exchange(to_trim_, false)) return;
  for (std::uint32_t rank = 0; rank < leases_.size(); ++rank) {
    if (!leases_[rank] || !std::exchange(leases_[rank]->set_aside, false)) continue;
    Leases& mine = *leases_[rank];
    for (Held& held : mine.held) {
      const std::uint32_t most = class_capacity(held.size_class);
      const std::uint32_t have = mine.blocks[held.size_class];
      if (have > most) return_held(rank, held, std::min(held.count, have - most));
    }
    drop_empty(mine);
    while (mine.held.size() > most_held_) return_oldest(rank);
    for (const auto& [chunks, offset] : mine.runs) free_run(rank, offset, chunks);
    mine.runs.clear();
  }
}

template <fabric::Endpoint E>
std::uint64_t Heap<E>::leased_bytes(std::uint32_t rank) const {
  std::uint64_t total = 0;
  if (!leases_[rank]) return total;
  for (const Held& held : leases_[rank]->held) {
    for (std::uint32_t index = 0; index < class_capacity(held.size_class); ++index) {
      const bool ours = (held.bits[index / 64] >> (index % 64) & 1) != 0;
      if (ours) total += block_span(held.size_class, index);
    }
  }
  for (const auto& run : leases_[rank]->runs) total += run.first * kChunkBytes;
  return total;
}

}  // namespace keyway::store
