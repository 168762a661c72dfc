// Heap<E>: leasing blocks of cut chunks, and reports. Included by heap_impl.h.
#pragma once

#include <algorithm>
#include <array>

#include "keyway/kvstore/volume/heap.h"

namespace keyway::store {

using fabric::rma;

template <fabric::Endpoint E>
std::optional<Block> Heap<E>::allocate(std::uint32_t rank, std::uint64_t bytes) {
  const std::uint32_t size_class = class_for(bytes);
  if (size_class == kRunClass) {
    const std::uint64_t offset = allocate_run(rank, run_chunks(bytes));
    if (offset != kNone) return Block{offset, kRunClass};
    shortage_ = Shortage{.rank = rank, .chunks = run_chunks(bytes), .searched = searched_};
    return std::nullopt;
  }
  Leases& mine = leases(rank);
  if (mine.blocks[size_class] == 0 && !refill(rank, size_class, 1)) {
    shortage_ = Shortage{.rank = rank, .searched = searched_};
    return std::nullopt;
  }
  return Block{take_block(rank, mine, size_class), size_class};
}

template <fabric::Endpoint E>
std::optional<Block> Heap<E>::allocate(std::uint32_t rank, std::uint64_t bytes,
                                       std::uint64_t spare) {
  if (spare > 0) {
    if (const auto block = allocate_roomy(rank, bytes, bytes + spare)) return block;
  }
  return allocate(rank, bytes);
}

/// A block for `roomy` bytes, if one is at hand: a failure is not a shortage, and no lease is
/// returned for the block. There is none if its class or its last chunk adds much to `roomy`: then
/// the block for `bytes` has about as much room by itself. Nor if a run for `bytes` is set aside.
template <fabric::Endpoint E>
std::optional<Block> Heap<E>::allocate_roomy(std::uint32_t rank, std::uint64_t bytes,
                                             std::uint64_t roomy) {
  const std::uint32_t size_class = class_for(roomy);
  const bool run = size_class == kRunClass;
  Leases& mine = leases(rank);
  const std::uint64_t room = run ? run_chunks(roomy) * kChunkBytes : class_bytes(size_class);
  if (room - roomy > roomy / kRoomShare) return std::nullopt;
  if (run) {
    if (class_for(bytes) == kRunClass && ready(rank, bytes, 1)) return std::nullopt;
    if (lacks_run(rank, run_chunks(roomy))) return std::nullopt;
    const std::uint64_t first = search_run(rank, run_chunks(roomy));
    if (first == kNone) return std::nullopt;
    return Block{geometry_.chunk(rank, first).offset(), kRunClass};
  }
  if (mine.blocks[size_class] == 0) {
    if (lacks_class(rank, size_class)) return {};
    // H6: to note one chunk more, refill() would return another one's blocks.
    if (!mine.set_aside && !mine.held.empty() && mine.held.size() >= most_held_) return {};
    if (!has_room(mine) || !lease_nearby(rank, size_class, most_leased(size_class, 1))) return {};
  }
  return Block{take_block(rank, mine, size_class), size_class};
}

template <fabric::Endpoint E>
void Heap<E>::free(std::uint32_t rank, const Block& block, std::uint64_t bytes) {
  if (block.size_class == kRunClass) {
    free_run(rank, block.offset, run_chunks(bytes));
  } else if (!keep_block(rank, block)) {
    return_block(rank, block);
  }
}

template <fabric::Endpoint E>
bool Heap<E>::ensure(std::uint32_t rank, std::uint64_t bytes, std::uint64_t count) {
  const std::uint32_t size_class = class_for(bytes);
  Leases& mine = leases(rank);
  to_trim_ = mine.set_aside = true;
  if (size_class == kRunClass) mine.runs.reserve(mine.runs.size() + count);  // none is lost
  while (!ready(rank, bytes, count)) {
    if (size_class != kRunClass) {
      if (refill(rank, size_class, count - mine.blocks[size_class])) continue;
      shortage_ = Shortage{.rank = rank, .searched = searched_};
      return false;
    }
    searched_ = !lacks_run(rank, run_chunks(bytes));
    const std::uint64_t first = searched_ ? search_run(rank, run_chunks(bytes)) : kNone;
    if (first == kNone) {
      shortage_ = Shortage{.rank = rank, .chunks = run_chunks(bytes), .searched = searched_};
      return false;
    }
    mine.runs.emplace_back(run_chunks(bytes), geometry_.chunk(rank, first).offset());
  }
  return true;
}

template <fabric::Endpoint E>
bool Heap<E>::ready(std::uint32_t rank, std::uint64_t bytes, std::uint64_t count) {
  const std::uint32_t size_class = class_for(bytes);
  Leases& mine = leases(rank);
  if (size_class != kRunClass) return mine.blocks[size_class] >= count;
  const auto fits = [&](const auto& run) { return run.first == run_chunks(bytes); };
  return static_cast<std::uint64_t>(std::count_if(mine.runs.begin(), mine.runs.end(), fits)) >=
         count;
}

/// Leases blocks of a class, at least one and up to a chunk's worth; `wanted` of them are lacking.
/// It tries the cheapest place first: the chunk leased from last, the one the owner's header hints
/// at, a chunk never used before, any chunk with room, and at the end the blocks that this agent
/// holds in other classes. The agent has leases of the rank, so nothing is thrown (H5).
template <fabric::Endpoint E>
bool Heap<E>::refill(std::uint32_t rank, std::uint32_t size_class, std::uint64_t wanted) {
  if (!may_search(rank, size_class, [&] { return lacks_class(rank, size_class); })) return false;
  Leases& mine = *leases_[rank];
  // H6. The next writes use the blocks that are set aside, and trim() returns the rest of them.
  while (!mine.set_aside && !mine.held.empty() && mine.held.size() >= most_held_) {
    return_oldest(rank);
  }
  if (!has_room(mine)) return false;
  const std::uint64_t most = most_leased(size_class, wanted);
  if (lease_nearby(rank, size_class, most)) return true;
  if (lease_by_search(rank, size_class, most, /*may_claim=*/true)) return true;
  return_rank(rank, size_class);  // ensure() comes here with blocks of this class in hand
  return !lacks_class(rank, size_class) &&
         lease_by_search(rank, size_class, most, /*may_claim=*/true);
}

/// Before a search for a class or a run: false if it is known to be lacking, also after all else
/// that this agent holds has been returned.
template <fabric::Endpoint E>
template <class Lacks>
bool Heap<E>::may_search(std::uint32_t rank, std::uint32_t size_class, Lacks&& lacks) {
  if (lacks()) return_rank(rank, size_class);
  return searched_ = !lacks();
}

/// Whether a search of a moment ago has found no block of this class. The agent has leases of the
/// rank.
template <fabric::Endpoint E>
bool Heap<E>::lacks_class(std::uint32_t rank, std::uint32_t size_class) {
  return !ep_.is_local(rank) && leases_[rank]->full.lacks_class(size_class, ep_.now_ns());
}

template <fabric::Endpoint E>
void Heap<E>::expect_room(std::uint32_t rank) {
  if (leases_[rank]) leases_[rank]->full.forget();
}

/// H6: a chunk's worth, but where nothing is kept just the blocks that are lacking.
template <fabric::Endpoint E>
std::uint64_t Heap<E>::most_leased(std::uint32_t size_class, std::uint64_t wanted) const {
  return most_held_ > 0 ? class_capacity(size_class) : wanted;
}

/// The part of refill() that tries only a few chunks. There is room to note the blocks.
template <fabric::Endpoint E>
bool Heap<E>::lease_nearby(std::uint32_t rank, std::uint32_t size_class, std::uint64_t most) {
  const std::uint64_t last = leases_[rank]->last_chunk[size_class];
  if (last != 0 && lease_from(rank, last - 1, size_class, most)) return true;
  const std::uint64_t hint = ep_.load(rma, geometry_.header(rank) + kHintsOffset + size_class * 8);
  if (hint != 0 && hint != last && lease_from(rank, hint - 1, size_class, most)) return true;
  return lease_fresh(rank, size_class, most);
}

/// Counts blocks of a chunk in that are not taken (H1), up to `most`; returns how many: none when
/// the chunk is of another class or full.
template <fabric::Endpoint E>
std::uint64_t Heap<E>::count_in(std::uint32_t rank, std::uint64_t chunk, std::uint32_t size_class,
                                std::uint64_t most) {
  const fabric::Address at = geometry_.chunk_state(rank, chunk);
  std::uint64_t seen = ep_.load(rma, at);
  while (true) {
    const ChunkState state(seen);
    if (!state.is_cut() || state.size_class() != size_class) return 0;
    const std::uint64_t count = std::min(class_capacity(size_class) - state.count(), most);
    if (count == 0) return 0;
    const std::uint64_t old = ep_.compare_swap(rma, at, seen, seen + count);
    if (old == seen) return count;
    seen = old;
  }
}

/// Leases blocks of a chunk that are not taken. False when there are none of this class. There is
/// room to note them.
template <fabric::Endpoint E>
bool Heap<E>::lease_from(std::uint32_t rank, std::uint64_t chunk, std::uint32_t size_class,
                         std::uint64_t most) {
  const std::uint64_t count = count_in(rank, chunk, size_class, most);
  if (count == 0) return false;
  lease_counted(rank, chunk, size_class, count);
  return true;
}

/// Takes blocks of the chunk, which are already counted, into this agent's hands.
template <fabric::Endpoint E>
void Heap<E>::lease_counted(std::uint32_t rank, std::uint64_t chunk, std::uint32_t size_class,
                            std::uint64_t count) {
  Leases& mine = *leases_[rank];
  Held& held = add_chunk(mine, chunk, size_class);
  collect_bits(rank, held, count);
  mine.blocks[size_class] += static_cast<std::uint32_t>(count);
  mine.last_chunk[size_class] = chunk + 1;
  note_use(mine, held);
}

/// The bits of a bitmap word that stand for blocks.
template <fabric::Endpoint E>
std::uint64_t Heap<E>::bitmap_mask(std::uint32_t size_class, std::uint64_t word) {
  const std::uint64_t capacity = class_capacity(size_class);
  if (capacity >= (word + 1) * 64) return ~0ULL;
  return capacity <= word * 64 ? 0 : (1ULL << (capacity - word * 64)) - 1;
}

/// Sets `count` clear bits that have been counted in. By H1 this many are clear at every instant. A
/// pass misses some only if other agents set and clear bits meanwhile: then one of them has
/// progressed, so no agent waits here for a stopped one (H4). A pass is two round trips.
template <fabric::Endpoint E>
void Heap<E>::collect_bits(std::uint32_t rank, Held& held, std::uint64_t count) {
  const fabric::Address bitmap = geometry_.chunk_bitmap(rank, held.chunk);
  const std::uint64_t used = (class_capacity(held.size_class) + 63) / 64;
  const auto pass = [&] {
    std::array<fabric::Pending, kBitmapWords> words;
    for (std::uint64_t i = 0; i < used; ++i) words[i] = ep_.post_load(rma, bitmap + i * 8);
    const fabric::Flushed seen = ep_.flush(rank);
    std::array<std::uint64_t, kBitmapWords> wanted{};
    std::uint64_t left = count;
    for (std::uint64_t i = 0; i < used; ++i) {
      std::uint64_t bits = bitmap_mask(held.size_class, i) & ~words[i].value(seen);
      while (static_cast<std::uint64_t>(std::popcount(bits)) > left) bits &= bits - 1;
      left -= static_cast<std::uint64_t>(std::popcount(bits));
      wanted[i] = bits;
    }
    for (std::uint64_t i = 0; i < used; ++i) {
      if (wanted[i] != 0) words[i] = ep_.post_fetch_or(rma, bitmap + i * 8, wanted[i]);
    }
    const fabric::Flushed set = ep_.flush(rank);
    for (std::uint64_t i = 0; i < used; ++i) {
      if (wanted[i] == 0) continue;
      const std::uint64_t got = wanted[i] & ~words[i].value(set);
      held.bits[i] |= got;
      held.count += static_cast<std::uint32_t>(std::popcount(got));
      count -= static_cast<std::uint64_t>(std::popcount(got));
    }
    return count == 0;
  };
  ep_.retry_until(pass, fabric::Backoff::none(), Deadline::never());
}

/// Takes a free chunk, cuts it, and leases all of it, or `most`. There is room to note the blocks.
template <fabric::Endpoint E>
bool Heap<E>::claim_chunk(std::uint32_t rank, std::uint64_t chunk, std::uint32_t size_class,
                          std::uint64_t most) {
  const std::uint64_t count = std::min<std::uint64_t>(class_capacity(size_class), most);
  const auto cut = ChunkState::cut(size_class, count);
  if (ep_.compare_swap(rma, geometry_.chunk_state(rank, chunk), 0, cut.word()) != 0) return false;
  ep_.store(rma, geometry_.header(rank) + kHintsOffset + size_class * 8, chunk + 1);
  lease_counted(rank, chunk, size_class, count);
  return true;
}

template <fabric::Endpoint E>
bool Heap<E>::lease_fresh(std::uint32_t rank, std::uint32_t size_class, std::uint64_t most) {
  const fabric::Address fresh = geometry_.header(rank) + kFreshChunkOffset;
  while (ep_.load(rma, fresh) < geometry_.chunks()) {
    const std::uint64_t chunk = ep_.fetch_add(rma, fresh, 1);
    if (chunk >= geometry_.chunks()) return false;
    if (claim_chunk(rank, chunk, size_class, most)) return true;  // else a search was here first
  }
  return false;
}

template <fabric::Endpoint E>
template <class Visit>
void Heap<E>::each_state(std::uint32_t rank, std::uint64_t from, std::uint64_t to, Visit&& visit) {
  std::array<std::uint64_t, kRemoteScanWords> words;
  const std::uint64_t most = ep_.is_local(rank) ? kScanWords : kRemoteScanWords;
  for (std::uint64_t at = from; at < to; at += most) {
    const std::uint64_t n = std::min(most, to - at);
    // Word by word when local, so that the read is no data race; in bulk when remote.
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

/// Leases from any chunk of the class with room or, if it may claim one, from a free chunk. Chunks
/// that are being emptied are left out: a block that is moved there would stay, and pin the chunk.
template <fabric::Endpoint E>
bool Heap<E>::lease_by_search(std::uint32_t rank, std::uint32_t size_class, std::uint64_t most,
                              bool may_claim) {
  Leases& mine = *leases_[rank];
  const std::uint64_t start = mine.rover;
  bool found = false;
  bool passed = false;  // by a chunk with room, which was another agent's then, or is left out
  const auto visit = [&](std::uint64_t chunk, ChunkState state) {
    const bool has_room = state.is_cut() && state.size_class() == size_class &&
                          state.count() < class_capacity(size_class);
    if (!state.free() && !has_room) return false;
    if (!leaves(rank, chunk)) {
      found = has_room ? lease_from(rank, chunk, size_class, most)
                       : may_claim && claim_chunk(rank, chunk, size_class, most);
    }
    if (found) mine.rover = chunk;
    passed = passed || !found;
    return found;
  };
  each_state(rank, start, geometry_.chunks(), visit);
  if (!found) each_state(rank, 0, start, visit);
  if (!found && !passed && !ep_.is_local(rank)) mine.full.note_class(size_class, ep_.now_ns());
  return found;
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
