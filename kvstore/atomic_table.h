// AtomicTable: a volume of 64-bit integers that needs no lock: foMPI-A, a baseline of the papers.
//
// *What.* A table of slots and an overflow heap of cells, both arrays of fixed size in one rank's
// memory. An integer's slot follows from its value. An insert is a compare-and-swap of the empty
// slot; if it fails, the agent takes a cell by one addition to the next-free word, and a second
// compare-and-swap makes it the slot's last element. insert_alone() does the same by plain puts and
// gets, for callers that hold a lock for the volume (foMPI-RW, RMA-RW in the same figure).
// *Guarantees without a lock.* Inserts and finds are linearizable: an insert takes effect at the
// compare-and-swap that publishes it, so every later find sees it. *Limits*: nothing is ever
// removed or changed; an integer that is inserted twice at the same time may be there twice; two
// operations are not atomic together; for_each() does not show one instant; and a full heap stays
// full, because a failed request for a cell is counted too.
// *Thread safety.* An object belongs to one agent, as its endpoint does; the words are shared. On
// one volume insert() and insert_alone() must not run at the same time.
// *Invariants.*
//   T1  A slot's value changes once, from 0.
//   T2  A cell belongs to the agent that counted it by its addition, until it is complete and the
//       compare-and-swap of a `last` word has published it. After that it does not change any more.
//   T3  A cell links to a cell that was published before it, so that every chain ends.
// *Source.* HPDC'16 section 5.3; the figure's foMPI-A. The paper does not say how elements are
// linked or how a reader finds them: here each cell names the previous last one, and a reader goes
// backwards. Everything is class `rma`, as in foMPI, where agents use MPI for their own rank too.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <span>

#include "keyway/locks/base/rng.h"
#include "keyway/locks/base/status.h"
#include "keyway/locks/fabric/endpoint.h"
#include "keyway/locks/fabric/segment.h"

namespace keyway::store {

/// How large a volume is, and where its words are. The first line holds the next-free word.
///   slot: word 0 the integer, 0 if empty; word 1 its last element in the heap, counted from 1
///   cell: word 0 the integer; word 1 the cell that was last before, 0 for none
struct AtomicTableShape {
  std::uint64_t slots = 0;
  std::uint64_t cells = 0;

  static constexpr std::uint64_t kEntryBytes = 16;
  constexpr std::uint64_t bytes() const {
    return fabric::kCacheLine + (slots + cells) * kEntryBytes;
  }
};

template <fabric::Endpoint E>
class AtomicTable {
 public:
  /// `base`: shape.bytes() of zeroed memory, aligned to a cache line.
  AtomicTable(E& ep, fabric::Address base, const AtomicTableShape& shape)
      : ep_(ep), base_(base), shape_(shape) {
    KW_CHECK(shape.slots > 0);
  }

  /// Beside other agents that do the same. `value` is not 0. kOutOfSpace when the heap is full.
  Status insert(std::uint64_t value) {
    const fabric::Address slot = slot_of(value);
    if (ep_.compare_swap(fabric::rma, slot, 0, value) == 0) return {};  // T1
    // The cell, and what it will link to, in one round trip.
    const auto taken = ep_.post_fetch_add(fabric::rma, base_, 1);
    const auto before = ep_.post_load(fabric::rma, slot + kLinkOffset);
    const auto done = ep_.flush(base_.rank());
    const std::uint64_t cell = taken.value(done) + 1;
    std::uint64_t last = before.value(done);
    if (cell > shape_.cells) return out_of_space();
    while (true) {  // T2: complete, then published
      write_cell(cell, value, last);
      ep_.flush(base_.rank());
      const std::uint64_t seen =
          ep_.compare_swap(fabric::rma, slot + kLinkOffset, last, cell);  // T3
      if (seen == last) return {};
      last = seen;
    }
  }

  /// Requires that no other agent uses the volume. Posted operations are complete after a flush of
  /// its rank.
  Status insert_alone(std::uint64_t value) {
    const fabric::Address slot = slot_of(value);
    const Entry found = read_slot(slot);
    if (found.value == 0) {
      ep_.post_store(fabric::rma, slot, value);
      return {};
    }
    const std::uint64_t cell = ep_.load(fabric::rma, base_) + 1;
    if (cell > shape_.cells) return out_of_space();
    ep_.post_store(fabric::rma, base_, cell);
    write_cell(cell, value, found.link);
    ep_.post_store(fabric::rma, slot + kLinkOffset, cell);
    return {};
  }

  bool find(std::uint64_t value) {
    Entry entry = read_slot(slot_of(value));
    if (entry.value == value) return true;
    while (entry.link != 0) {
      entry = read_cell(entry.link);
      if (entry.value == value) return true;
    }
    return false;
  }

  /// Calls use(value) for every integer that is there.
  template <class Use>
  void for_each(Use&& use) {
    for (std::uint64_t i = 0; i < shape_.slots; ++i) {
      Entry entry = read_slot(slot(i));
      if (entry.value == 0) continue;
      use(entry.value);
      while (entry.link != 0) {
        entry = read_cell(entry.link);
        use(entry.value);
      }
    }
  }

 private:
  struct Entry {
    std::uint64_t value = 0;
    std::uint64_t link = 0;
  };
  static_assert(sizeof(Entry) == AtomicTableShape::kEntryBytes);
  static constexpr std::uint64_t kLinkOffset = 8;

  fabric::Address slot(std::uint64_t i) const {
    return base_ + fabric::kCacheLine + i * AtomicTableShape::kEntryBytes;
  }
  fabric::Address slot_of(std::uint64_t value) const {
    KW_DCHECK(value != 0);
    std::uint64_t state = value;
    return slot(splitmix64(state) % shape_.slots);
  }
  fabric::Address cell(std::uint64_t number) const {
    KW_CHECK(number > 0 && number <= shape_.cells);
    return slot(shape_.slots + number - 1);
  }

  /// Both words in one round trip. Word by word, as other agents may change them meanwhile (E2).
  Entry read_slot(fabric::Address at) {
    const auto value = ep_.post_load(fabric::rma, at);
    const auto link = ep_.post_load(fabric::rma, at + kLinkOffset);
    const auto done = ep_.flush(at.rank());
    return {value.value(done), link.value(done)};
  }
  /// A cell that is linked does not change (T2): a plain get.
  Entry read_cell(std::uint64_t number) {
    Entry entry;
    ep_.read(fabric::rma, cell(number), std::as_writable_bytes(std::span(&entry, 1)));
    return entry;
  }
  /// Posted.
  void write_cell(std::uint64_t number, std::uint64_t value, std::uint64_t link) {
    written_ = {value, link};
    ep_.post_write(fabric::rma, cell(number), std::as_bytes(std::span(&written_, 1)));
  }
  Status out_of_space() const {
    return {Code::kOutOfSpace, fmt::format("the overflow heap of {} cells is full", shape_.cells)};
  }

  E& ep_;
  fabric::Address base_;
  AtomicTableShape shape_;
  Entry written_;  // stays put until the flush
};

}  // namespace keyway::store
