// Session<E>: moving elements out of sparse chunks, where the heap has bytes and no room. Included
// by session_impl.h.
//
// *Why.* One live block pins a chunk to its size class, so a heap may have no block for an element
// though most of it is free. Every block has one referrer: an entry of a line, or for an overflow
// line the link of the line before it. A walk over the table meets all of them, so nothing in a
// block has to say whose it is.
// *Invariants.* Those of session.h: a move changes lines as a write does, under the stripe's lock
// (K1), and no element. Until the lines are complete the old block stays as it is (K4). It raises
// the versions of lines, so a mark of a key may be another one afterwards (K6).
// *Progress.* An operation empties chunks at most kMaxMoves times, by one deadline, and fails when
// a plan or a walk has gained nothing, or others have taken what it has gained. After that the
// session makes a pause (move_pace.h), and its next plan passes over the chunks of this one. It
// waits for stripes' locks one at a time, by that deadline, and holds no other lock then: so a walk
// that meets a walk, or any operation, waits as two operations wait for each other.
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "keyway/kvstore/session.h"
#include "keyway/locks/fabric/fiber.h"

namespace keyway::store {

/// An operation empties chunks at most so many times. One time may not do: the operation may lack
/// blocks of several sizes, and others may take the room that it has made.
inline constexpr std::uint32_t kMaxMoves = 4;

/// Empties chunks of a rank, by one walk.
template <fabric::Endpoint E>
class Session<E>::Mover {
 public:
  Mover(Session& session, std::uint32_t rank)
      : session_(session), ep_(session.ep_), heap_(session.heap_), rank_(rank) {}

  void move_volume(Deadline until);

 private:
  template <class Access>
  void move_stripe(Access access, std::uint64_t stripe);
  template <class Access>
  void move_bucket(Access access, std::uint64_t bucket);
  void move_line(std::uint32_t line);
  template <class Access>
  void copy_block(Access access, const Block& from, const Block& to);

  Session& session_;
  E& ep_;
  Heap<E>& heap_;
  const std::uint32_t rank_;
  std::vector<Block> left_;  // out of which move_bucket() has moved
};

/// Calls attempt(), and again where it found a heap full and room could be made: by a sweep, then
/// by moving elements out of sparse chunks. No stripe is locked between.
template <fabric::Endpoint E>
template <class Attempt>
Status Session<E>::with_room(std::span<const Location> locations, Attempt&& attempt) {
  heap_.take_shortage();
  Status status = attempt();
  if (status != Code::kOutOfSpace) return status;
  if (sweep_for_room(locations)) status = attempt();
  // trim() returns the blocks that a move sets aside and the operation does not use.
  const std::unique_ptr<Heap<E>, void (*)(Heap<E>*)> at_end(&heap_,
                                                            [](Heap<E>* heap) { heap->trim(); });
  const Deadline until = deadline_.started(ep_.now_ns());
  for (std::uint32_t i = 0; i < kMaxMoves && status == Code::kOutOfSpace; ++i) {
    if (!make_room(until)) break;
    status = attempt();
  }
  return status;
}

/// Empties chunks for what the last attempt lacked. True when it may be tried again.
template <fabric::Endpoint E>
bool Session<E>::make_room(Deadline until) {
  const std::optional<Shortage> lacking = heap_.take_shortage();
  const std::uint64_t began = ep_.now_ns();
  if (!lacking || lacking->chunks > geometry_.chunks()) return false;
  if (move_pace_.pauses(*lacking, began)) return false;
  bool gained = false;
  if (heap_.begin_move(*lacking)) {
    typename Heap<E>::MoveEnd at_end(heap_);
    try {
      Mover(*this, lacking->rank).move_volume(until);
    } catch (const std::bad_alloc&) {  // H5: the stripe is unlocked, and the bucket is as it was
    }
    gained = at_end.now();
  }
  if (!gained) move_pace_.in_vain(*lacking, began, ep_.now_ns());
  return gained;
}

/// Walks the stripes, from where the last walk has ended, until nothing is left to be moved.
/// Siblings of a fiber have their turn between stripes.
template <fabric::Endpoint E>
void Session<E>::Mover::move_volume(Deadline until) {
  const Geometry& geometry = session_.geometry_;
  if (!ep_.is_local(rank_)) session_.fetched_.reserve(kChunkBytes);
  for (std::uint64_t n = 0; n < geometry.stripes() && !heap_.all_moved(); ++n) {
    if (ep_.now_ns() >= until.absolute_ns()) return;
    const std::uint64_t stripe = session_.move_pace_.next_stripe(geometry.stripes());
    auto grant = session_.lock_stripe(rank_, stripe, locks::Mode::kWrite, until);
    if (!grant.ok()) continue;  // what lies there stays where it is
    {
      const Hold held(session_, rank_, stripe, *grant);
      session_.with_access(rank_, [&](auto access) { move_stripe(access, stripe); });
    }
    fabric::this_fiber::give_turn();
  }
}

/// The stripe is locked.
template <fabric::Endpoint E>
template <class Access>
void Session<E>::Mover::move_stripe(Access access, std::uint64_t stripe) {
  session_.ahead_.clear();
  const Geometry& geometry = session_.geometry_;
  const std::uint64_t end = geometry.stripe_end(stripe);
  for (std::uint64_t bucket = stripe == 0 ? 0 : geometry.stripe_end(stripe - 1); bucket < end;
       ++bucket) {
    move_bucket(access, bucket);
  }
}

/// Moves what lies in chunks that are being emptied, of one bucket. The stripe is locked.
template <fabric::Endpoint E>
template <class Access>
void Session<E>::Mover::move_bucket(Access access, std::uint64_t bucket) {
  session_.read_chain(access, rank_, bucket);
  auto& chain = session_.chain_;
  left_.clear();
  left_.reserve(chain.size() * kBucketWords);  // K3: nothing below allocates
  for (std::uint32_t line = 0; line < chain.size(); ++line) {
    if (line > 0) move_line(line);
    Bucket& words = chain[line].bucket;
    for (std::uint32_t i = 1; i < kBucketWords; i += words.entry(i).words()) {
      const EntryWord entry = words.entry(i);
      if (entry.kind() == EntryKind::kEmpty) break;
      if (entry.kind() != EntryKind::kHeap) continue;
      const Block block{entry.offset(), entry.size_class()};
      if (!heap_.is_leaving(block)) continue;
      const auto to = heap_.destination(block.size_class);
      if (!to) continue;
      copy_block(access, block, *to);
      words.set_heap(i, EntryWord::heap(entry.tag(), to->size_class, to->offset));
      chain[line].dirty = true;
      left_.push_back(block);
    }
  }
  if (left_.empty()) return;
  const std::uint64_t stripe = session_.geometry_.stripe_of(bucket);
  session_.commit(access, {.bucket = bucket, .stripe = stripe, .rank = rank_});
  ep_.flush(rank_);
  for (const Block& block : left_) heap_.moved(block);  // K4
  session_.moved_ += left_.size();
}

/// An overflow line: it is written at its new place with all else that changes.
template <fabric::Endpoint E>
void Session<E>::Mover::move_line(std::uint32_t line) {
  auto& chain = session_.chain_;
  const Block block{chain[line].at.offset(), class_for(kBucketBytes)};
  if (!heap_.is_leaving(block)) return;
  const auto to = heap_.destination(block.size_class);
  if (!to) return;
  chain[line].at = {rank_, to->offset};
  chain[line].dirty = true;
  chain[line - 1].bucket.set_link(to->offset);
  chain[line - 1].dirty = true;
  left_.push_back(block);
}

/// A whole block, whatever it holds: nobody else looks at either of them.
template <fabric::Endpoint E>
template <class Access>
void Session<E>::Mover::copy_block(Access access, const Block& from, const Block& to) {
  const std::uint64_t bytes = class_bytes(from.size_class);
  const fabric::Address source{rank_, from.offset};
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    ep_.write(access, {rank_, to.offset}, {ep_.view(source), bytes});
  } else {
    auto& buffer = session_.fetched_;
    buffer.resize(bytes);
    ep_.read(access, source, buffer);
    ep_.write(access, {rank_, to.offset}, buffer);
  }
}

}  // namespace keyway::store
