// Heap<E>: leasing, handing out and freeing the blocks of cut chunks. Included by session_impl.h.
#pragma once

#include <algorithm>
#include <new>
#include <utility>

#include "keyway/kvstore/heap.h"

namespace keyway::store {

using fabric::rma;

template <fabric::Endpoint E>
Heap<E>::Heap(E& ep, const Geometry& geometry)
    : ep_(ep), geometry_(geometry), leases_(ep.ranks()) {}

template <fabric::Endpoint E>
typename Heap<E>::Leases& Heap<E>::leases(std::uint32_t rank) {
  if (!leases_[rank]) {
    leases_[rank] = std::make_unique<Leases>();
    // Agents begin their searches apart, so that they do not fight for the same chunks.
    leases_[rank]->rover = ep_.agent().slot * (kScanWords * 8 + 1) % geometry_.chunks();
  }
  return *leases_[rank];
}

template <fabric::Endpoint E>
std::optional<Block> Heap<E>::allocate(std::uint32_t rank, std::uint64_t bytes) {
  const std::uint32_t size_class = class_for(bytes);
  if (size_class == kRunClass) {
    const std::uint64_t offset = allocate_run(rank, run_chunks(bytes));
    if (offset == kNone) return std::nullopt;
    return Block{offset, kRunClass};
  }
  auto& blocks = leases(rank).blocks[size_class];
  if (blocks.empty() && !refill(rank, size_class)) return std::nullopt;
  const Block block{blocks.back(), size_class};
  blocks.pop_back();
  return block;
}

template <fabric::Endpoint E>
void Heap<E>::free(std::uint32_t rank, const Block& block, std::uint64_t bytes) {
  if (block.size_class == kRunClass) {
    free_run(rank, block.offset, run_chunks(bytes));
    return;
  }
  if (keeps(rank, block.size_class)) {
    leases(rank).blocks[block.size_class].push_back(block.offset);
  } else {
    return_block(rank, block.size_class, block.offset);
  }
}

/// Makes room to note so many blocks more. H5.
template <fabric::Endpoint E>
bool Heap<E>::has_room(std::vector<std::uint64_t>& blocks, std::uint64_t more) {
  if (blocks.capacity() - blocks.size() >= more) return true;
  try {
    blocks.reserve(std::max<std::size_t>(blocks.size() + more, 2 * blocks.capacity()));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// Whether a freed block stays with this agent. H5.
template <fabric::Endpoint E>
bool Heap<E>::keeps(std::uint32_t rank, std::uint32_t size_class) {
  try {
    auto& blocks = leases(rank).blocks[size_class];
    return blocks.size() < class_capacity(size_class) && has_room(blocks, 1);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

template <fabric::Endpoint E>
bool Heap<E>::ensure(std::uint32_t rank, std::uint64_t bytes, std::uint64_t count) {
  const std::uint32_t size_class = class_for(bytes);
  Leases& held = leases(rank);
  held.set_aside = true;
  if (size_class == kRunClass) held.runs.reserve(held.runs.size() + count);  // none is lost
  while (!ready(rank, bytes, count)) {
    if (size_class != kRunClass) {
      if (!refill(rank, size_class)) return false;
      continue;
    }
    const std::uint64_t first = search_run(rank, run_chunks(bytes));
    if (first == kNone) return false;
    held.runs.emplace_back(run_chunks(bytes), geometry_.chunk(rank, first).offset());
  }
  return true;
}

template <fabric::Endpoint E>
bool Heap<E>::ready(std::uint32_t rank, std::uint64_t bytes, std::uint64_t count) {
  const std::uint32_t size_class = class_for(bytes);
  Leases& held = leases(rank);
  if (size_class != kRunClass) return held.blocks[size_class].size() >= count;
  const auto fits = [&](const auto& run) { return run.first == run_chunks(bytes); };
  return static_cast<std::uint64_t>(std::count_if(held.runs.begin(), held.runs.end(), fits)) >=
         count;
}

/// Where to look for blocks, cheapest first: the chunk leased from last, the one the owner's
/// header hints at, a chunk never used before, any chunk with room, and at the end whatever this
/// agent holds in other classes.
template <fabric::Endpoint E>
bool Heap<E>::refill(std::uint32_t rank, std::uint32_t size_class) {
  Leases& held = leases(rank);
  if (!has_room(held.blocks[size_class], class_capacity(size_class))) return false;
  const std::uint64_t last = held.last_chunk[size_class];
  if (last != 0 && lease_from(rank, last - 1, size_class)) return true;
  const std::uint64_t hint = ep_.load(rma, geometry_.header(rank) + kHintsOffset + size_class * 8);
  if (hint != 0 && hint != last && lease_from(rank, hint - 1, size_class)) return true;
  if (lease_fresh(rank, size_class)) return true;
  if (lease_by_search(rank, size_class)) return true;
  // ensure() comes here with blocks of this class in hand; it must not lose them.
  auto mine = std::exchange(held.blocks[size_class], {});
  return_rank(rank);
  held.blocks[size_class] = std::move(mine);
  return lease_by_search(rank, size_class);
}

/// Leases every block of a chunk that is not taken. False when it is of another class or full.
template <fabric::Endpoint E>
bool Heap<E>::lease_from(std::uint32_t rank, std::uint64_t chunk, std::uint32_t size_class) {
  const fabric::Address at = geometry_.chunk_state(rank, chunk);
  std::uint64_t seen = ep_.load(rma, at);
  while (true) {
    const ChunkState state(seen);
    if (!state.is_cut() || state.size_class() != size_class) return false;
    const std::uint64_t room = class_capacity(size_class) - state.count();
    if (room == 0) return false;
    const std::uint64_t old = ep_.compare_swap(rma, at, seen, seen + room);  // H1: count first
    if (old == seen) {
      leases(rank).last_chunk[size_class] = chunk + 1;
      return collect_bits(rank, chunk, size_class, room);
    }
    seen = old;
  }
}

/// The bits of a bitmap word that stand for blocks.
template <fabric::Endpoint E>
std::uint64_t Heap<E>::bitmap_mask(std::uint32_t size_class, std::uint64_t word) {
  const std::uint64_t capacity = class_capacity(size_class);
  if (capacity >= (word + 1) * 64) return ~0ULL;
  return capacity <= word * 64 ? 0 : (1ULL << (capacity - word * 64)) - 1;
}

/// Sets `count` clear bits, which exist by H1: the loop ends once agents that counted before us
/// have set theirs and agents that freed have cleared theirs.
template <fabric::Endpoint E>
bool Heap<E>::collect_bits(std::uint32_t rank, std::uint64_t chunk, std::uint32_t size_class,
                           std::uint64_t count) {
  auto& blocks = leases(rank).blocks[size_class];
  const std::uint64_t base = geometry_.chunk(rank, chunk).offset();
  const auto sweep = [&] {
    for (std::uint64_t word = 0; word < kBitmapWords && count > 0; ++word) {
      const std::uint64_t valid = bitmap_mask(size_class, word);
      if (valid == 0) break;
      const fabric::Address at = geometry_.chunk_bitmap(rank, chunk) + word * 8;
      std::uint64_t wanted = valid & ~ep_.load(rma, at);
      while (static_cast<std::uint64_t>(std::popcount(wanted)) > count) wanted &= wanted - 1;
      if (wanted == 0) continue;
      std::uint64_t got = wanted & ~ep_.fetch_or(rma, at, wanted);
      count -= static_cast<std::uint64_t>(std::popcount(got));
      for (; got != 0; got &= got - 1) {
        const auto index = word * 64 + static_cast<std::uint64_t>(std::countr_zero(got));
        blocks.push_back(base + index * class_bytes(size_class));
      }
    }
    return count == 0;
  };
  return ep_.retry_until(sweep, fabric::Backoff::none(), Deadline::never());
}

/// Takes a free chunk, cuts it, and leases all of it.
template <fabric::Endpoint E>
bool Heap<E>::claim_chunk(std::uint32_t rank, std::uint64_t chunk, std::uint32_t size_class) {
  const std::uint64_t capacity = class_capacity(size_class);
  const auto cut = ChunkState::cut(size_class, capacity);  // full: nobody else leases from it yet
  if (ep_.compare_swap(rma, geometry_.chunk_state(rank, chunk), 0, cut.word()) != 0) return false;
  ep_.store(rma, geometry_.header(rank) + kHintsOffset + size_class * 8, chunk + 1);
  leases(rank).last_chunk[size_class] = chunk + 1;
  return collect_bits(rank, chunk, size_class, capacity);
}

template <fabric::Endpoint E>
bool Heap<E>::lease_fresh(std::uint32_t rank, std::uint32_t size_class) {
  const fabric::Address fresh = geometry_.header(rank) + kFreshChunkOffset;
  while (ep_.load(rma, fresh) < geometry_.chunks()) {
    const std::uint64_t chunk = ep_.fetch_add(rma, fresh, 1);
    if (chunk >= geometry_.chunks()) return false;
    if (claim_chunk(rank, chunk, size_class)) return true;  // else a search was here before us
  }
  return false;
}

template <fabric::Endpoint E>
template <class Visit>
void Heap<E>::each_state(std::uint32_t rank, std::uint64_t from, std::uint64_t to, Visit&& visit) {
  std::array<std::uint64_t, kScanWords> words;
  for (std::uint64_t at = from; at < to; at += kScanWords) {
    const std::uint64_t n = std::min(kScanWords, to - at);
    // Word by word when local, so that the read races with nobody; in bulk when remote.
    if (ep_.is_local(rank)) {
      for (std::uint64_t i = 0; i < n; ++i) {
        words[i] = ep_.load(fabric::cpu, geometry_.chunk_state(rank, at + i));
      }
    } else {
      ep_.read(rma, geometry_.chunk_state(rank, at),
               std::as_writable_bytes(std::span(words).first(n)));
    }
    for (std::uint64_t i = 0; i < n; ++i) {
      if (visit(at + i, ChunkState(words[i]))) return;
    }
  }
}

template <fabric::Endpoint E>
bool Heap<E>::lease_by_search(std::uint32_t rank, std::uint32_t size_class) {
  Leases& held = leases(rank);
  const std::uint64_t start = held.rover;
  bool found = false;
  const auto visit = [&](std::uint64_t chunk, ChunkState state) {
    found = state.free() ? claim_chunk(rank, chunk, size_class)
                         : state.is_cut() && state.size_class() == size_class &&
                               state.count() < class_capacity(size_class) &&
                               lease_from(rank, chunk, size_class);
    if (found) held.rover = chunk;
    return found;
  };
  each_state(rank, start, geometry_.chunks(), visit);
  if (!found) each_state(rank, 0, start, visit);
  return found;
}

template <fabric::Endpoint E>
void Heap<E>::return_block(std::uint32_t rank, std::uint32_t size_class, std::uint64_t offset) {
  const std::uint64_t chunk = geometry_.chunk_of(offset);
  const std::uint64_t index =
      (offset - geometry_.chunk(rank, chunk).offset()) / class_bytes(size_class);
  const fabric::Address word = geometry_.chunk_bitmap(rank, chunk) + index / 64 * 8;
  ep_.fetch_add(rma, word,
                minus(1ULL << (index % 64)));  // H1: the bit first; it is set, so this clears it
  const fabric::Address state = geometry_.chunk_state(rank, chunk);
  const std::uint64_t before = ep_.fetch_add(rma, state, minus(1));
  if (ChunkState(before).count() == 1) {
    ep_.compare_swap(rma, state, before - 1, 0);  // H2: free for any class, if still empty
  }
}

template <fabric::Endpoint E>
void Heap<E>::return_class(std::uint32_t rank, std::uint32_t size_class, std::uint64_t keep) {
  auto& blocks = leases(rank).blocks[size_class];
  for (; blocks.size() > keep; blocks.pop_back()) return_block(rank, size_class, blocks.back());
}

template <fabric::Endpoint E>
void Heap<E>::return_rank(std::uint32_t rank) {
  Leases& held = leases(rank);
  for (std::uint32_t c = 0; c < kClasses; ++c) return_class(rank, c);
  for (const auto& [chunks, offset] : held.runs) free_run(rank, offset, chunks);
  held.runs.clear();
}

template <fabric::Endpoint E>
void Heap<E>::return_all() {
  for (std::uint32_t rank = 0; rank < leases_.size(); ++rank) {
    if (leases_[rank]) return_rank(rank);
  }
}

template <fabric::Endpoint E>
void Heap<E>::trim() {
  for (std::uint32_t rank = 0; rank < leases_.size(); ++rank) {
    if (!leases_[rank] || !std::exchange(leases_[rank]->set_aside, false)) continue;
    for (std::uint32_t c = 0; c < kClasses; ++c) return_class(rank, c, class_capacity(c));
    for (const auto& [chunks, offset] : leases_[rank]->runs) free_run(rank, offset, chunks);
    leases_[rank]->runs.clear();
  }
}

template <fabric::Endpoint E>
std::uint64_t Heap<E>::span(const Block& block, std::uint64_t bytes) const {
  if (block.size_class == kRunClass) return run_chunks(bytes) * kChunkBytes;
  const std::uint64_t chunk = geometry_.chunk_of(block.offset);
  const std::uint64_t within = block.offset - geometry_.chunk(0, chunk).offset();
  return block_span(block.size_class,
                    static_cast<std::uint32_t>(within / class_bytes(block.size_class)));
}

template <fabric::Endpoint E>
std::uint64_t Heap<E>::leased_bytes(std::uint32_t rank) const {
  std::uint64_t total = 0;
  if (!leases_[rank]) return total;
  for (std::uint32_t c = 0; c < kClasses; ++c) {
    for (const std::uint64_t offset : leases_[rank]->blocks[c]) total += span({offset, c}, 0);
  }
  for (const auto& run : leases_[rank]->runs) total += run.first * kChunkBytes;
  return total;
}

template <fabric::Endpoint E>
HeapReport Heap<E>::usage(std::uint32_t rank) {
  HeapReport report{.heap_bytes = geometry_.heap_bytes()};
  each_state(rank, 0, geometry_.chunks(), [&](std::uint64_t, ChunkState state) {
    if (state.free()) {
      ++report.free_chunks;
      report.free_bytes += kChunkBytes;
    } else if (state.is_cut()) {
      const std::uint32_t c = state.size_class();
      // More than there are may be counted in while agents look for room.
      const std::uint64_t taken = std::min<std::uint64_t>(state.count(), class_capacity(c));
      report.free_bytes += (class_capacity(c) - taken) * class_bytes(c);
    }
    return false;
  });
  return report;
}

template <fabric::Endpoint E>
HeapReport Heap<E>::report(std::uint32_t rank) {
  HeapReport report{.heap_bytes = geometry_.heap_bytes()};
  each_state(rank, 0, geometry_.chunks(), [&](std::uint64_t chunk, ChunkState state) {
    if (state.free()) {
      ++report.free_chunks;
      report.free_bytes += kChunkBytes;
    } else if (state.is_cut()) {
      const std::uint32_t c = state.size_class();
      std::uint64_t word = 0;
      for (std::uint32_t index = 0; index < class_capacity(c); ++index) {
        if (index % 64 == 0) word = ep_.load(rma, geometry_.chunk_bitmap(rank, chunk) + index / 8);
        if ((word >> (index % 64) & 1) == 0) report.free_bytes += block_span(c, index);
      }
    }
    return false;
  });
  return report;
}

}  // namespace keyway::store
