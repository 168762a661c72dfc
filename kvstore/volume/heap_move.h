// Heap<E>: emptying sparse chunks. Included by heap_impl.h.
//
// When an allocation finds no room though enough bytes are free, the agent that asked chooses
// chunks by a MovePlan and takes their free blocks (H7). Its session walks the table, and moves
// every block that it meets in these chunks to blocks of the same class elsewhere. A walk costs
// about the same for one chunk and for many, so it empties many.
#pragma once

#include <algorithm>
#include <new>
#include <utility>

#include "keyway/kvstore/volume/heap.h"

namespace keyway::store {

using fabric::rma;

/// Chunks that one plan examines, which bounds its memory: 1 GiB of heap. A larger heap is examined
/// part by part, until a plan finds something.
inline constexpr std::uint64_t kMaxPlanned = 1 << 16;
/// Plans pass over the chunks that walks have not emptied. begin_move() forgets these chunks if
/// they are more than this, so the heap notes at most this many and those of one plan.
inline constexpr std::size_t kMaxPinned = 64;

/// Chooses among the candidates from number `first` on. If no place is wide enough for all that is
/// lacking, it chooses one for the least that is a gain.
inline MovePlan::Choice choose(const MovePlan& plan, const Shortage& lacking, std::uint64_t first) {
  if (lacking.chunks == 1) return plan.chunks(first);
  const MovePlan::Choice all = plan.window(lacking.chunks, first);
  if (!all.chunks.empty() || lacking.least() == lacking.chunks) return all;
  MovePlan::Choice part = plan.window(lacking.least(), first);
  if (part.chunks.empty()) part.next = std::max(part.next, all.next);
  return part;
}

template <fabric::Endpoint E>
std::optional<Shortage> Heap<E>::take_shortage() {
  return std::exchange(shortage_, std::nullopt);
}

/// Plans a move out of chunks from `from` to `to`. Candidates that gained nothing before come last.
template <fabric::Endpoint E>
MovePlan::Choice Heap<E>::plan_move(const Shortage& lacking, std::uint64_t from, std::uint64_t to) {
  std::vector<ChunkState> states;
  states.reserve(to - from);
  if (std::exchange(pinned_rank_, lacking.rank) != lacking.rank) pinned_.clear();
  std::sort(pinned_.begin(), pinned_.end());
  each_state(lacking.rank, from, to, [&](std::uint64_t chunk, ChunkState state) {
    // The plan sees a chunk that a walk has not emptied as one of a run.
    const bool pinned = std::binary_search(pinned_.begin(), pinned_.end(), chunk);
    states.push_back(pinned ? ChunkState(ChunkState::kRunRest, 0) : state);
    return false;
  });
  const MovePlan plan(states);
  const std::uint64_t first = std::exchange(passed_over_, 0);
  MovePlan::Choice choice = choose(plan, lacking, first);
  // Candidates that no plan has examined come before those that gained nothing.
  const bool again = choice.chunks.empty() && choice.next == 0 && first != 0;
  if (again) choice = choose(plan, lacking, 0);
  if (!choice.chunks.empty() || choice.next != 0 || pinned_.empty()) return choice;
  pinned_.clear();  // nothing else is left, and by now a walk may empty them
  return plan_move(lacking, from, to);
}

template <fabric::Endpoint E>
bool Heap<E>::begin_move(const Shortage& lacking) {
  KW_CHECK(!move_);
  try {
    leases(lacking.rank);
    return_rank(lacking.rank);  // nothing in hand lies in a chunk that is chosen
    const std::uint64_t parts = (geometry_.chunks() + kMaxPlanned - 1) / kMaxPlanned;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    MovePlan::Choice choice;
    for (std::uint64_t n = 0; n < parts && choice.chunks.empty(); ++n) {
      if (n > 0) pass_over();
      from = plan_from_;
      to = std::min(geometry_.chunks(), from + kMaxPlanned);
      choice = plan_move(lacking, from, to);
      candidate_after_ = choice.next;
    }
    if (choice.chunks.empty()) {
      pass_over();
      return false;
    }
    // H5: the code below does not allocate.
    auto move = std::make_unique<Move>();
    move->lacking = {lacking.rank, choice.width};
    move->from = from;
    move->leaving.resize(to - from);
    move->chunks.reserve(choice.chunks.size() * choice.width);
    move->claimed.reserve(choice.width);
    if (pinned_.size() > kMaxPinned) pinned_.clear();
    pinned_.reserve(pinned_.size() + choice.chunks.size() * choice.width);
    leases_[lacking.rank]->runs.reserve(1);  // return_rank() has emptied it
    move_ = std::move(move);
    bool taken = true;
    for (const std::uint64_t first : choice.chunks) taken = take_window(from + first) && taken;
    std::sort(move_->chunks.begin(), move_->chunks.end(),
              [](const Held& a, const Held& b) { return a.chunk < b.chunk; });
    to_trim_ = leases_[lacking.rank]->set_aside = true;  // destinations of all classes stay in hand
    if (!taken) end_move();
    return taken;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// Takes what is free of as many chunks as are lacking, from `first` on. A run is made of the free
/// chunks among them, so they are claimed at once; no agent finds a head to them yet. False if a
/// run was allocated in between, so that a walk would gain nothing.
template <fabric::Endpoint E>
bool Heap<E>::take_window(std::uint64_t first) {
  move_->first = first;
  const bool for_run = move_->lacking.chunks > 1;
  for (std::uint64_t chunk = first; chunk < first + move_->lacking.chunks; ++chunk) {
    if (!for_run) {
      take_leaving(chunk);
      continue;
    }
    // One that becomes free between the two is claimed by the next round.
    LeavingChunk is = LeavingChunk::kFree;
    while (is == LeavingChunk::kFree && !claim_for_run(chunk)) is = take_leaving(chunk);
    if (is == LeavingChunk::kRun) return false;
  }
  return true;
}

/// Claims a chunk of the window where it is free.
template <fabric::Endpoint E>
bool Heap<E>::claim_for_run(std::uint64_t chunk) {
  const fabric::Address at = geometry_.chunk_state(move_->lacking.rank, chunk);
  const ChunkState rest(ChunkState::kRunRest, 0);
  if (ep_.compare_swap(rma, at, 0, rest.word()) != 0) return false;
  move_->claimed.push_back(chunk);
  return true;
}

/// Takes all free blocks of a chunk that is to be emptied, if it is still cut. A full chunk has no
/// free blocks.
template <fabric::Endpoint E>
typename Heap<E>::LeavingChunk Heap<E>::take_leaving(std::uint64_t chunk) {
  const std::uint32_t rank = move_->lacking.rank;
  const ChunkState state(ep_.load(rma, geometry_.chunk_state(rank, chunk)));
  if (!state.is_cut()) return state.free() ? LeavingChunk::kFree : LeavingChunk::kRun;
  const std::uint32_t c = state.size_class();
  Held& held = move_->chunks.emplace_back(Held{.chunk = chunk, .size_class = c});
  const std::uint64_t count = count_in(rank, chunk, c, class_capacity(c));
  if (count > 0) collect_bits(rank, held, count);
  move_->leaving[chunk - move_->from] = static_cast<std::uint8_t>(c + 1);
  move_->left += class_capacity(c) - held.count;
  return LeavingChunk::kCut;
}

/// Whether this agent is emptying that chunk.
template <fabric::Endpoint E>
bool Heap<E>::leaves(std::uint32_t rank, std::uint64_t chunk) const {
  if (!move_ || rank != move_->lacking.rank) return false;
  const std::uint64_t at = chunk - move_->from;
  return at < move_->leaving.size() && move_->leaving[at] != 0;
}

template <fabric::Endpoint E>
bool Heap<E>::is_leaving(const Block& block) const {
  const std::uint64_t at = geometry_.chunk_of(block.offset) - move_->from;
  return at < move_->leaving.size() && move_->leaving[at] == block.size_class + 1;
}

/// Takes blocks of chunks in use, so that each emptied chunk is a gain; for a run also blocks of
/// free chunks. It does not search a class again that has no room.
template <fabric::Endpoint E>
std::optional<Block> Heap<E>::destination(std::uint32_t size_class) {
  const std::uint32_t rank = move_->lacking.rank;
  Leases& mine = *leases_[rank];
  if (mine.blocks[size_class] == 0) {
    if (move_->no_room[size_class] || !has_room(mine)) return std::nullopt;
    const std::uint64_t most = class_capacity(size_class);
    const bool found =
        lease_by_search(rank, size_class, most, /*may_claim=*/false) ||
        (move_->lacking.chunks > 1 && lease_by_search(rank, size_class, most, /*may_claim=*/true));
    move_->no_room[size_class] = !found;
    if (!found) return std::nullopt;
  }
  return Block{take_block(rank, mine, size_class), size_class};
}

template <fabric::Endpoint E>
void Heap<E>::moved(const Block& block) {
  const auto at =
      std::lower_bound(move_->chunks.begin(), move_->chunks.end(), geometry_.chunk_of(block.offset),
                       [](const Held& held, std::uint64_t chunk) { return held.chunk < chunk; });
  const std::uint64_t index = index_of(move_->lacking.rank, block);
  at->bits[index / 64] |= 1ULL << (index % 64);
  ++at->count;
  --move_->left;
}

/// The next plan is of the candidates that follow, or of the next part of the heap.
template <fabric::Endpoint E>
void Heap<E>::pass_over() {
  passed_over_ = candidate_after_;
  if (passed_over_ != 0) return;
  plan_from_ += kMaxPlanned;
  if (plan_from_ >= geometry_.chunks()) plan_from_ = 0;
}

/// A chunk of which all blocks are ours becomes `into`: one atomic step, without a state in
/// between. H1: the bits first. H2: no other agent changes the state of such a chunk.
template <fabric::Endpoint E>
void Heap<E>::close_chunk(std::uint32_t rank, Held& held, ChunkState into) {
  expect_room(rank);
  clear_bits(rank, held, held.count);
  const ChunkState full = ChunkState::cut(held.size_class, class_capacity(held.size_class));
  const std::uint64_t seen =
      ep_.compare_swap(rma, geometry_.chunk_state(rank, held.chunk), full.word(), into.word());
  KW_CHECK(seen == full.word());
}

template <fabric::Endpoint E>
bool Heap<E>::end_move() {
  const std::uint32_t rank = move_->lacking.rank;
  const bool for_run = move_->lacking.chunks > 1;
  const ChunkState into = for_run ? ChunkState(ChunkState::kRunRest, 0) : ChunkState(0);
  bool gained = false;
  for (Held& held : move_->chunks) {
    if (held.count < class_capacity(held.size_class)) {
      pinned_.push_back(held.chunk);
      gained = return_bits(rank, held, held.count) || gained;
      if (for_run) claim_for_run(held.chunk);  // others may have freed what we did not move
      continue;
    }
    close_chunk(rank, held, into);
    gained = true;
    if (for_run) move_->claimed.push_back(held.chunk);
  }
  if (for_run) gained = end_run(*move_);
  move_.reset();
  if (!gained) pass_over();
  return gained;
}

/// Makes a run of the window, if all of it is ours, and sets it aside; else frees what was claimed.
template <fabric::Endpoint E>
bool Heap<E>::end_run(const Move& move) {
  const std::uint32_t rank = move.lacking.rank;
  if (move.claimed.size() < move.lacking.chunks) {
    free_chunks(rank, move.claimed.size(), [&](std::uint64_t i) { return move.claimed[i]; });
    return false;
  }
  const ChunkState head(ChunkState::kRunHead, move.lacking.chunks);
  ep_.store(rma, geometry_.chunk_state(rank, move.first), head.word());
  auto& runs = leases_[rank]->runs;
  KW_CHECK(runs.size() < runs.capacity());  // H5
  runs.emplace_back(move.lacking.chunks, geometry_.chunk(rank, move.first).offset());
  return true;
}

}  // namespace keyway::store
