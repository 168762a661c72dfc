// Mover<E>: moves elements and lines out of sparse chunks of a rank's heap.
//
// *Why.* One live block pins a chunk to its size class, so a heap may have no block for an element
// though most of it is free. Every block has one referrer: an entry of a line, or for an overflow
// line the link of the line before it. A walk over the table meets all of them, so a block need not
// name its owner.
// *Thread safety.* One session's.
// *Invariants.* Those of session.h: a move changes lines as a write does, under the stripe's lock
// (K1), and no element. Until the lines are complete the old block stays as it is (K4). It raises
// the versions of lines, so the version of a key may be another one afterwards (K6).
#pragma once

#include <cstdint>
#include <vector>

#include "keyway/kvstore/stripes/stripe_gate.h"
#include "keyway/kvstore/volume/bucket_chain.h"
#include "keyway/kvstore/volume/heap.h"
#include "keyway/kvstore/volume/move_pace.h"
#include "keyway/locks/fabric/fiber.h"
#include "keyway/locks/fabric/with_access.h"

namespace keyway::store {

template <fabric::Endpoint E>
class Mover {
 public:
  Mover(E& ep, const Geometry& geometry, Heap<E>& heap, StripeGate<E>& gate,
        ElementReader<E>& reader, BucketChain<E>& chain, MovePace& pace)
      : ep_(ep),
        geometry_(geometry),
        heap_(heap),
        gate_(gate),
        reader_(reader),
        chain_(chain),
        pace_(pace) {}
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;

  /// Empties the chunks that the heap has chosen, by one walk over the stripes, from where the last
  /// walk has ended, until nothing is left to be moved. Siblings of a fiber have their turn between
  /// stripes.
  void move_volume(std::uint32_t rank, Deadline until);
  /// Elements and overflow lines that it has moved.
  std::uint64_t moved() const { return moved_; }

 private:
  template <class Access>
  void move_stripe(Access access, std::uint32_t rank, std::uint64_t stripe);
  template <class Access>
  void move_bucket(Access access, std::uint32_t rank, std::uint64_t bucket);
  void move_line(std::uint32_t rank, std::uint32_t line);
  template <class Access>
  void copy_block(Access access, std::uint32_t rank, const Block& from, const Block& to);

  E& ep_;
  const Geometry& geometry_;
  Heap<E>& heap_;
  StripeGate<E>& gate_;
  ElementReader<E>& reader_;
  BucketChain<E>& chain_;
  MovePace& pace_;
  std::vector<Block> left_;  // out of which move_bucket() has moved
  std::uint64_t moved_ = 0;
};

template <fabric::Endpoint E>
void Mover<E>::move_volume(std::uint32_t rank, Deadline until) {
  if (!ep_.is_local(rank)) reader_.reserve(kChunkBytes);
  for (std::uint64_t n = 0; n < geometry_.stripes() && !heap_.all_moved(); ++n) {
    if (ep_.now_ns() >= until.absolute_ns()) return;
    const std::uint64_t stripe = pace_.next_stripe(geometry_.stripes());
    auto grant = gate_.acquire(rank, stripe, locks::Mode::kWrite, until);
    if (!grant.ok()) continue;  // its elements stay where they are
    {
      const StripeGuard<E> held(gate_, rank, stripe, *grant);
      fabric::with_access(ep_, rank, [&](auto access) { move_stripe(access, rank, stripe); });
    }
    fabric::this_fiber::yield_now();
  }
}

/// The stripe is locked.
template <fabric::Endpoint E>
template <class Access>
void Mover<E>::move_stripe(Access access, std::uint32_t rank, std::uint64_t stripe) {
  chain_.forget_ahead();
  const std::uint64_t end = geometry_.stripe_end(stripe);
  for (std::uint64_t bucket = geometry_.stripe_begin(stripe); bucket < end; ++bucket) {
    move_bucket(access, rank, bucket);
  }
}

/// Moves what lies in chunks that are being emptied, of one bucket. The stripe is locked.
template <fabric::Endpoint E>
template <class Access>
void Mover<E>::move_bucket(Access access, std::uint32_t rank, std::uint64_t bucket) {
  chain_.read_whole(access, rank, bucket);
  const auto lines = chain_.lines();
  left_.clear();
  left_.reserve(lines.size() * kBucketWords);  // K3: nothing below allocates
  for (std::uint32_t line = 0; line < lines.size(); ++line) {
    if (line > 0) move_line(rank, line);
    Bucket& words = lines[line].bucket;
    for (std::uint32_t i = 1; i < kBucketWords; i += words.entry(i).words()) {
      const EntryWord entry = words.entry(i);
      if (entry.kind() == EntryKind::kEmpty) break;
      if (entry.kind() != EntryKind::kHeap) continue;
      const Block block{entry.offset(), entry.size_class()};
      if (!heap_.is_leaving(block)) continue;
      const auto to = heap_.destination(block.size_class);
      if (!to) continue;
      copy_block(access, rank, block, *to);
      chain_.mark(rank, entry);
      words.set_heap(i, EntryWord::heap(entry.tag(), to->size_class, to->offset));
      lines[line].dirty = true;
      left_.push_back(block);
    }
  }
  if (left_.empty()) return;
  chain_.commit(access, location_of(geometry_, rank, bucket));
  ep_.flush(rank);
  for (const Block& block : left_) heap_.moved(block);  // K4
  moved_ += left_.size();
}

/// An overflow line: it is written at its new place with all else that changes.
template <fabric::Endpoint E>
void Mover<E>::move_line(std::uint32_t rank, std::uint32_t line) {
  const auto lines = chain_.lines();
  const Block block{lines[line].at.offset(), class_for(kBucketBytes)};
  if (!heap_.is_leaving(block)) return;
  const auto to = heap_.destination(block.size_class);
  if (!to) return;
  lines[line].at = {rank, to->offset};
  lines[line].dirty = true;
  lines[line - 1].bucket.set_link(to->offset);
  lines[line - 1].dirty = true;
  left_.push_back(block);
}

/// A whole block, with any content: no other agent changes either of them.
template <fabric::Endpoint E>
template <class Access>
void Mover<E>::copy_block(Access access, std::uint32_t rank, const Block& from, const Block& to) {
  const std::uint64_t bytes = class_bytes(from.size_class);
  const fabric::Address source{rank, from.offset};
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    ep_.write(access, {rank, to.offset}, {ep_.view(source), bytes});
  } else {
    ep_.write(access, {rank, to.offset}, reader_.read(access, source, bytes));
  }
}

}  // namespace keyway::store
