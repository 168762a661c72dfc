// LocalReader<E>: reads keys of this node without the locks of their stripes.
//
// *What.* In a store of one node a read copies the lines and the element, and then looks whether
// three words are as they were before: the element's first, which a change in place marks; the
// header of the bucket's first line, which every other change of the bucket raises; and the
// stripe's word of changes, in which operations on several keys count (K9 of session.h). Then
// nothing has changed meanwhile. In a store of several nodes the bytes that another node writes
// come in any order, and unannounced: there the element must prove itself as it does to a reader on
// another node (K8), by its stamp, mark and checksum. Otherwise the caller takes the lock, and so
// it does for long elements and long chains; with several nodes also for keys that are absent or in
// the line, and for elements that expire. So sessions that read one key write no memory that they
// share. *Thread safety.* One session's. *Invariants.*
//   LR1  Until the words have been looked at again, what was copied may be anything: it is used
//        within its bounds only.
//   LR2  Whether an element is past is decided before the words are looked at again, so that the
//        answer was right at that instant.
//   LR3  A session that has written begins its next read with a fence: what it wrote is there for
//        all before it looks at another key, as if it took a lock.
//   LR4  The header of a line is the same again after 2^24 changes of it, which take a second or
//        more. Only a process that was stopped in the middle of a copy could meet that number.
//   LR5  A session that is alone in a store of several nodes says so in a word of each rank before
//        its first change and after its last, and the word counts such sessions (read_permit.h). So
//        what was copied between two looks at a word that said nothing, and was the same, was not
//        copied in the middle of such a session's changes.
// *Source.* Sequence locks; their orders as in Boehm, MSPC'12. Every load of a copy acquires (E6),
// so the second looks come after it; and a load that sees any store of a change sees what that
// change stored before.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "keyway/kvstore/layout/bucket.h"
#include "keyway/kvstore/layout/element.h"
#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/layout/location.h"
#include "keyway/kvstore/layout/size_class.h"
#include "keyway/kvstore/layout/stamp.h"
#include "keyway/kvstore/types/types.h"
#include "keyway/kvstore/volume/element_proof.h"
#include "keyway/kvstore/volume/operation_clock.h"
#include "keyway/kvstore/volume/read_permit.h"
#include "keyway/locks/base/prefetch.h"
#include "keyway/locks/fabric/endpoint.h"

namespace keyway::store {

template <fabric::Endpoint E>
class LocalReader {
 public:
  /// As the options want. Without a cache of addresses no element of a store of several nodes is
  /// read without its lock.
  LocalReader(E& ep, const Geometry& geometry, OperationClock<E>& clock,
              const SessionOptions& options)
      : ep_(ep),
        geometry_(geometry),
        clock_(clock),
        one_node_(ep.one_class()),
        reads_(!options.reads_lock && (one_node_ || options.addresses != nullptr)) {}
  LocalReader(const LocalReader&) = delete;
  LocalReader& operator=(const LocalReader&) = delete;

  enum class Verdict : std::uint8_t { kAbsent, kThere, kUnknown };

  /// Whether there are such reads.
  bool reads() const { return reads_; }
  /// Whether they look at the stripe's word of changes.
  bool by_changes() const { return reads_ && one_node_; }
  /// A copy of an element's value.
  struct Copy {
    std::string_view value;
    std::uint64_t expires_at_ms = kNoExpiry;
  };
  /// Looks for a key of this node. kUnknown: take the lock. A key that is there has a copy(),
  /// until the next read.
  [[gnu::hot]] Verdict read(const Location& location, std::string_view key, bool has_written) {
    if (has_written) ep_.fence();  // LR3
    if (!one_node_) return read_proven(location, key);
    const fabric::Address changes = geometry_.changes(location.rank, location.stripe);
    const std::uint64_t before = ep_.load(fabric::cpu, changes);
    if (before % 2 != 0) return Verdict::kUnknown;
    clock_.begin(location.rank);
    const Verdict verdict = search(location, key);
    if (ep_.load(fabric::cpu, changes) != before) return Verdict::kUnknown;
    if (verdict != Verdict::kUnknown) ++accepted_;
    return verdict;
  }
  const Copy& copy() const { return copy_; }
  /// Reads that had an answer.
  std::uint64_t accepted() const { return accepted_; }

 private:
  /// Longer elements are copied once only, under the lock.
  static constexpr std::uint64_t kMaxCopied = 1024;
  /// Bytes of a block that are copied at first: most elements have no more.
  static constexpr std::uint64_t kFirstCopy = 192;
  static constexpr int kMaxLines = 8;
  static constexpr std::uint64_t kWordBytes = sizeof(std::uint64_t);

  [[gnu::hot]] Verdict search(const Location& location, std::string_view key);
  [[gnu::hot]] Verdict search_line(const Location& location, std::string_view key);
  Verdict judge_inline(std::uint32_t at, std::string_view key);
  Verdict judge_block(std::uint32_t rank, EntryWord entry, std::string_view key);
  Verdict read_proven(const Location& location, std::string_view key);
  bool is_proven(fabric::Address from, std::uint64_t block, std::string_view key);
  void prefetch_block(fabric::Address from, std::uint64_t bytes) const {
    for (std::uint64_t i = fabric::kCacheLine; i < bytes; i += fabric::kCacheLine) {
      prefetch_line(ep_.view(from) + i);
    }
  }
  /// Whether the bytes from there on, which were copied by words, are the key's. A processor waits
  /// where it loads more bytes at a time than it has just stored, so they are compared by words.
  static bool is_same(const std::byte* at, std::string_view key) {
    const char* with = key.data();
    std::size_t left = key.size();
    for (; left >= kWordBytes; left -= kWordBytes, at += kWordBytes, with += kWordBytes) {
      std::uint64_t a = 0;
      std::uint64_t b = 0;
      std::memcpy(&a, at, sizeof a);
      std::memcpy(&b, with, sizeof b);
      if (a != b) return false;
    }
    for (; left > 0; --left, ++at, ++with) {
      if (*at != static_cast<std::byte>(*with)) return false;
    }
    return true;
  }
  bool is_in_heap(std::uint64_t offset, std::uint64_t bytes) const {
    return offset >= geometry_.chunk(0, 0).offset() && offset + bytes <= geometry_.segment_bytes();
  }

  E& ep_;
  const Geometry& geometry_;
  OperationClock<E>& clock_;
  const bool one_node_;
  const bool reads_;
  Bucket line_;
  alignas(8) std::array<std::byte, kMaxCopied> copied_;
  Copy copy_;
  std::uint64_t accepted_ = 0;
};

template <fabric::Endpoint E>
auto LocalReader<E>::search(const Location& location, std::string_view key) -> Verdict {
  const fabric::Address first = geometry_.bucket(location.rank, location.bucket);
  fabric::Address at = first;
  const std::uint64_t header = ep_.load(fabric::cpu, first);
  if (Bucket::is_changing(header)) return Verdict::kUnknown;
  for (int n = 0; n < kMaxLines; ++n) {
    ep_.read(fabric::cpu, at, std::as_writable_bytes(std::span(line_.words)));
    const Verdict verdict = search_line(location, key);
    if (verdict != Verdict::kAbsent || line_.link() == 0) {
      return ep_.load(fabric::cpu, first) == header ? verdict : Verdict::kUnknown;
    }
    if (!is_in_heap(line_.link(), kBucketBytes)) return Verdict::kUnknown;  // LR1
    at = {location.rank, line_.link()};
  }
  return Verdict::kUnknown;
}

template <fabric::Endpoint E>
auto LocalReader<E>::search_line(const Location& location, std::string_view key) -> Verdict {
  for (std::uint32_t i = 1; i < kBucketWords; i += line_.entry(i).words()) {
    const EntryWord entry = line_.entry(i);
    if (entry.kind() == EntryKind::kEmpty) break;
    if (entry.tag() != tag_of(location.hash)) continue;
    const Verdict verdict = entry.kind() == EntryKind::kInline
                                ? judge_inline(i, key)
                                : judge_block(location.rank, entry, key);
    if (verdict != Verdict::kAbsent) return verdict;
  }
  return Verdict::kAbsent;
}

/// kAbsent: it is another key's.
template <fabric::Endpoint E>
auto LocalReader<E>::judge_inline(std::uint32_t at, std::string_view key) -> Verdict {
  const EntryWord entry = line_.entry(at);
  const bool fits = at + kInlineEntryWords <= kBucketWords &&
                    entry.key_bytes() + entry.value_bytes() <= kInlineBytes;
  if (!fits) return Verdict::kUnknown;  // LR1
  if (line_.inline_key(at) != key) return Verdict::kAbsent;
  copy_ = {line_.inline_value(at), kNoExpiry};
  return Verdict::kThere;
}

/// kAbsent: it is another key's, or past.
template <fabric::Endpoint E>
auto LocalReader<E>::judge_block(std::uint32_t rank, EntryWord entry, std::string_view key)
    -> Verdict {
  if (entry.size_class() >= kClasses) return Verdict::kUnknown;
  const std::uint64_t block = class_bytes(entry.size_class());
  if (block > kMaxCopied || !is_in_heap(entry.offset(), block)) return Verdict::kUnknown;
  const fabric::Address from{rank, entry.offset()};
  prefetch_block(from, std::min(block, kFirstCopy));
  const ElementFormat& format = geometry_.elements();
  const std::uint64_t first = ep_.load(fabric::cpu, from);
  const std::uint64_t second = ep_.load(fabric::cpu, from + kWordBytes);
  std::memcpy(copied_.data(), &first, sizeof first);
  std::memcpy(copied_.data() + kWordBytes, &second, sizeof second);
  const auto header = ElementHeader::of(format, copied_);
  const std::uint64_t bytes = header.total();
  if (header.marked() || bytes > block) return Verdict::kUnknown;
  if (header.key_bytes() != key.size()) return Verdict::kAbsent;  // no change in place changes that
  constexpr std::uint64_t kBoth = 2 * kWordBytes;
  if (bytes > kBoth) {
    ep_.read(fabric::cpu, from + kBoth, std::span(copied_).first(bytes).subspan(kBoth));
  }
  const std::byte* at = copied_.data() + format.header_bytes();
  std::uint64_t expires_at_ms = kNoExpiry;
  if (header.expiry_room()) {
    std::memcpy(&expires_at_ms, at, sizeof expires_at_ms);
    at += sizeof expires_at_ms;
  }
  // A change in place may move the key by the bytes of an expiry, so another key proves nothing
  // yet.
  const bool is_it = is_same(at, key) && !clock_.is_past(rank, expires_at_ms);  // LR2
  if (ep_.load(fabric::cpu, from) != first) return Verdict::kUnknown;
  if (ep_.load(fabric::cpu, from + kWordBytes) != second) return Verdict::kUnknown;
  copy_ = {{reinterpret_cast<const char*>(at) + key.size(), header.value_bytes()}, expires_at_ms};
  return is_it ? Verdict::kThere : Verdict::kAbsent;
}

/// A read in a store of several nodes.
template <fabric::Endpoint E>
auto LocalReader<E>::read_proven(const Location& location, std::string_view key) -> Verdict {
  const fabric::Address at = geometry_.bucket(location.rank, location.bucket);
  const fabric::Address alone = geometry_.header(location.rank) + kAloneOffset;
  const std::uint64_t sessions = ep_.load(fabric::cpu, alone);
  if (is_alone(sessions)) return Verdict::kUnknown;
  ep_.read(fabric::cpu, at, std::as_writable_bytes(std::span(line_.words)));
  if (Bucket::is_changing(line_.words[0])) return Verdict::kUnknown;
  const EntryWord entry = line_.first_with_tag(tag_of(location.hash));
  if (!may_be_block(geometry_, entry)) return Verdict::kUnknown;
  const std::uint64_t block = class_bytes(entry.size_class());
  if (block > kMaxCopied || !is_proven({location.rank, entry.offset()}, block, key)) {
    return Verdict::kUnknown;
  }
  if (ep_.load(fabric::cpu, alone) != sessions) return Verdict::kUnknown;  // LR5
  // So the version has not gone around since the stamp was compared with it (LR4).
  if (ep_.load(fabric::cpu, at) != line_.words[0]) return Verdict::kUnknown;
  ++accepted_;
  return Verdict::kThere;
}

/// Whether a block has the element of the key, which was committed not after the line that was
/// copied.
template <fabric::Endpoint E>
bool LocalReader<E>::is_proven(fabric::Address from, std::uint64_t block, std::string_view key) {
  const std::uint64_t first = std::min(block, kFirstCopy);
  prefetch_block(from, first);
  ep_.read(fabric::cpu, from, std::span(copied_).first(first));
  const std::uint64_t bytes = ElementHeader::of(geometry_.elements(), copied_).total();
  if (bytes > block) return false;
  if (bytes > first) {
    ep_.read(fabric::cpu, from + first, std::span(copied_).subspan(first, bytes - first));
  }
  const auto not_newer = [&](std::uint32_t stamp) {
    return !stamp_is_newer(stamp, line_.version());
  };
  ElementView element;
  if (prove_element(geometry_.elements(), std::span(copied_).first(bytes), key, not_newer,
                    element) != Proof::kAccepted) {
    return false;
  }
  copy_ = {element.value, kNoExpiry};
  return true;
}

}  // namespace keyway::store
