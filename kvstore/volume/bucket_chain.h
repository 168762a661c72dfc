// BucketChain<E>: the lines of one bucket, and every change of its elements.
//
// *What.* A bucket is a line of the table and its overflow lines. find() looks for a key on behalf
// of a reader. locate() also copies the lines that it passes, so that the key can be changed:
// apply() executes a mutator's decision. A walk copies all lines by read_whole(), and takes
// elements out by remove() and end_removals().
// *Thread safety.* One session's. The bucket's stripe is locked: for writing where it changes.
// *Invariants.* K1 to K4 and K6 of session.h. Besides:
//   BC1  Every change of an element passes note() once, after all that may fail and before the
//        stripe is unlocked. So all consequences of a change are there: today the volume's
//        counters, later a record of the journal. Moving an element is not a change.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keyway/kvstore/layout/element_change.h"
#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/layout/location.h"
#include "keyway/kvstore/types/types.h"
#include "keyway/kvstore/volume/element_reader.h"
#include "keyway/kvstore/volume/found.h"
#include "keyway/kvstore/volume/freed_blocks.h"
#include "keyway/kvstore/volume/heap.h"
#include "keyway/kvstore/volume/key_change.h"
#include "keyway/kvstore/volume/volume_counters.h"
#include "keyway/locks/base/clear_and_shrink.h"
#include "keyway/locks/fabric/endpoint.h"
#include "keyway/locks/fabric/gather.h"

namespace keyway::store {

/// Lines of buckets that are read at once from another node.
inline constexpr std::uint64_t kBucketsAhead = 64;

/// A copy of one line of a bucket's chain.
struct Line {
  fabric::Address at;
  Bucket bucket;
  bool dirty = false;
};

template <fabric::Endpoint E>
class BucketChain {
 public:
  BucketChain(E& ep, const Geometry& geometry, Heap<E>& heap, ElementReader<E>& reader,
              VolumeCounters<E>& counters, FreedBlocks<E>& freed)
      : ep_(ep),
        geometry_(geometry),
        heap_(heap),
        reader_(reader),
        counters_(counters),
        freed_(freed) {
    lines_.reserve(32);
  }
  BucketChain(const BucketChain&) = delete;
  BucketChain& operator=(const BucketChain&) = delete;

  // --- one key
  /// Posts a read of the first line of a remote bucket, and of the block of the entry `expected` if
  /// there is one. first() is that line after the rank's flush, and until find() reads another one.
  void post_first(const Location& location, EntryWord expected = {}) {
    ep_.post_read(fabric::rma, geometry_.bucket(location.rank, location.bucket),
                  std::as_writable_bytes(std::span(line_read_.words)));
    if (expected.kind() != EntryKind::kEmpty) post_expected(location.rank, expected);
  }
  const Bucket& first() const { return line_read_; }
  /// Call it before an acquire with post_first(), where a failure to allocate would keep the lock.
  void make_room_for(EntryWord expected) {
    if (expected.kind() != EntryKind::kEmpty) expected_.resize(class_bytes(expected.size_class()));
  }
  /// Finds the key for a reader, which keeps no copy of a local line. `first` is the bucket's line
  /// if that has been read already, else null. As ElementReader::match() otherwise.
  template <class Access>
  Code find(Access access, const Location& location, const Bucket* first, std::string_view key,
            Found& found);
  /// The same; copies the lines up to the one that holds the key, or to the end. A remote element
  /// is read together with the first line if it is in the block of the entry `expected`. With
  /// `first`, that has been done already: by post_first(), or the bytes are there.
  template <class Access>
  [[gnu::hot]] Code locate(Access access, const Location& location, std::string_view key,
                           Found& found, const Bucket* first = nullptr,
                           const BlockAtHand& expected = {});
  /// Makes of a key that locate() has looked for what was decided of it. K3.
  template <class Access>
  Status apply(Access access, const Location& location, std::string_view key,
               const Decision& decision, const Found& found);
  /// After apply(): the place of the key's element, for a read without its lock.
  const ElementPlace& place() const { return place_; }
  /// For a key that locate() has looked for (K6).
  template <class Access>
  KeyVersion version_of(Access access, const Location& location, const Found& found);

  // --- whole buckets, one after the other
  /// Copies all lines of a bucket. From another node, lines of the buckets behind it in its stripe
  /// come with it, and overflow lines of them if the walk needs many elements. They hold for as
  /// long as the stripe is locked, so a walk begins with forget_ahead().
  template <class Access>
  void read_whole(Access access, std::uint32_t rank, std::uint64_t bucket,
                  std::uint64_t elements = ~0ULL);
  void forget_ahead() {
    ahead_.clear();
    overflow_ahead_.clear();
  }
  /// The own lines of the buckets behind this one, as far as they have been read with it.
  std::span<const Bucket> ahead_of(std::uint64_t bucket) const {
    if (bucket < ahead_from_ || bucket - ahead_from_ >= ahead_.size()) return {};
    return std::span(ahead_).subspan(bucket - ahead_from_ + 1);
  }
  /// The line that such a line, or the overflow line of one, is linked to; null if it has not been
  /// read.
  const Bucket* linked_ahead(const Bucket& line) const {
    const auto is_it = [link = line.link()](const auto& read) { return read.first == link; };
    const auto at = std::find_if(overflow_ahead_.begin(), overflow_ahead_.end(), is_it);
    return at == overflow_ahead_.end() ? nullptr : &at->second;
  }
  /// Takes an element out of the lines; freed_ has room for two blocks of it. The bucket is written
  /// by end_removals(), which allocates nothing.
  void remove(const Location& location, const Found& found);
  template <class Access>
  void end_removals(Access access, const Location& location);

  // --- marks (K8)
  /// From now on readers without a lock refuse the element of this entry; complete once the rank is
  /// flushed, and before commit() writes a line.
  void mark(std::uint32_t rank, EntryWord entry);
  /// Completes all marks, on all ranks.
  void end_marks() {
    ep_.flush_all();
    ep_.fence();  // marks of local elements, before the plain writes of values
    marks_posted_ = false;
  }
  /// Takes the mark from an element that has stayed as it was.
  void unmark(std::uint32_t rank, const Found& found);

  // --- the lines, for code that walks over them or moves the elements that they refer to
  std::span<Line> lines() { return lines_; }
  /// Writes changed lines back, and with any of them the first (K6).
  template <class Access>
  [[gnu::hot]] void commit(Access access, const Location& location);
  void reserve_lines(std::size_t lines) { lines_.reserve(lines); }
  /// Makes room for an element that is written to a remote rank (K3).
  void reserve_composed(std::uint64_t bytes) { composed_.reserve(bytes); }
  /// Buffers that one large value needed are not kept for the next operation.
  void shrink_buffers(std::size_t most = kMaxKept) {
    clear_and_shrink(built_, most);
    clear_and_shrink(composed_, most);
  }
  /// Whether the last change of a local element may have left large buffers here.
  bool keeps_much() const { return !built_.empty() || composed_.size() > kMaxKept; }

 private:
  // bucket_chain_find.h
  void post_expected(std::uint32_t rank, EntryWord expected);
  template <class Access>
  void read_line(Access access, const Location& location, Line& line, EntryWord expected);
  template <class Access>
  void read_ahead(Access access, std::uint32_t rank, std::uint64_t bucket, std::uint64_t elements,
                  Bucket& out);
  void read_overflow_ahead(std::uint32_t rank);

  // bucket_chain_change.h: the places of change, and what they are made of
  template <class Access>
  [[gnu::hot]] Status write(Access access, const Location& location, std::string_view key,
                            const Decision& decision, const Found& found, std::uint64_t spare = 0);
  template <class Access>
  bool rewrite(Access access, const Location& location, std::string_view key,
               const Decision& decision, const Found& found);
  template <class Access>
  void erase(Access access, const Location& location, std::string_view key, const Found& found);
  void note(const KeyChange& change) { counters_.count(change); }
  template <class Access>
  [[gnu::hot]] void put_element(Access access, fabric::Address at, std::string_view key,
                                const Decision& decision, std::uint16_t version,
                                std::uint32_t stamp);
  template <class Access>
  void begin_in_place(Access access, fabric::Address at);
  template <class Access>
  [[gnu::hot]] void put_bytes(Access access, fabric::Address at, std::span<const std::byte> bytes);
  template <class Access>
  void put_value(Access access, fabric::Address at, std::span<const std::byte> bytes);
  void put_long_value(fabric::Address at, std::span<const std::byte> bytes);
  template <class Access>
  void put_header(Access access, fabric::Address at, std::span<const std::byte> header);
  std::uint32_t stamp_of_next_change(const Location& location);
  template <class Access>
  void commit_if_version_wrapped(Access access, const Location& location, std::uint16_t version);
  void drop_entry(std::uint32_t rank, const Found& found);
  void unlink_if_empty(std::uint32_t rank, std::uint32_t line);
  std::optional<std::uint32_t> line_with_room(std::uint32_t words, const Found& leaving) const;
  std::uint32_t add_line(std::uint32_t rank, const Block& block);
  template <class Access>
  void note_length(Access access, std::uint32_t rank);
  static Status full(std::uint32_t rank, std::uint64_t bytes);

  // bucket_chain_overwrite.h
  template <class Access>
  Status overwrite_part(Access access, const Location& location, std::string_view key,
                        const Decision& decision, const Found& found);
  template <class Access>
  Code overwrite_in_place(Access access, const Location& location, ElementChange& change,
                          const Found& found);
  bool has_room(std::uint32_t rank, const Found& found, std::uint64_t bytes);

  E& ep_;
  const Geometry& geometry_;
  Heap<E>& heap_;
  ElementReader<E>& reader_;
  VolumeCounters<E>& counters_;
  FreedBlocks<E>& freed_;
  // Buffers, kept so that a warm session does not allocate.
  std::vector<Line> lines_;
  Bucket line_read_;           // a remote line that find() looks at, or read with its lock
  std::vector<Bucket> ahead_;  // lines of buckets from ahead_from_ on, read by a walk
  std::uint64_t ahead_from_ = 0;
  // Overflow lines of these buckets and their offsets; kBucketsAhead at most.
  std::vector<std::pair<std::uint64_t, Bucket>> overflow_ahead_;
  std::vector<fabric::Part> parts_;  // the places of those that are being read
  std::vector<Bucket> linked_;       // and they
  std::vector<std::byte> expected_;  // the block that has been read with the line
  std::vector<std::byte> composed_;  // an element to be written to a remote rank, or a part of one
  std::string built_;                // a value made from the old one
  std::uint64_t first_word_ = 0;     // that unmark() writes to an element
  ElementPlace place_;               // after the last apply()
  bool marks_posted_ = false;        // since the last commit()
};

}  // namespace keyway::store
