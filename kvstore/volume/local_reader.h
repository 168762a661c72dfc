// LocalReader<E>: reads keys of this node without the locks of their stripes.
//
// *What.* A read copies the lines and the element, and then looks whether three words are as they
// were before: the element's first, which a change in place marks; the header of the bucket's first
// line, which every other change of the bucket raises; and the stripe's word of changes, in which
// operations on several keys count (K9 of session.h). Then nothing has changed meanwhile. Otherwise
// the caller takes the lock, and so it does for long elements and long chains. So sessions that
// read one key write no memory that they share.
// *Thread safety.* One session's.
// *Invariants.*
//   LR1  Until the words have been looked at again, what was copied may be anything: it is used
//        within its bounds only.
//   LR2  Whether an element is past is decided before the words are looked at again, so that the
//        answer was right at that instant.
//   LR3  A session that has written begins its next read with a fence: what it wrote is there for
//        all before it looks at another key, as if it took a lock.
//   LR4  The header of a line is the same again after 2^24 changes of it, which take a second or
//        more. Only a process that was stopped in the middle of a copy could meet that number.
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
#include "keyway/kvstore/volume/operation_clock.h"
#include "keyway/locks/base/prefetch.h"
#include "keyway/locks/fabric/endpoint.h"

namespace keyway::store {

template <fabric::Endpoint E>
class LocalReader {
 public:
  /// `wanted`: otherwise every read takes its lock. So it does where the store has several nodes:
  /// bytes that another node writes come in any order, and unannounced.
  LocalReader(E& ep, const Geometry& geometry, OperationClock<E>& clock, bool wanted)
      : ep_(ep), geometry_(geometry), clock_(clock), reads_(wanted && ep.one_class()) {}
  LocalReader(const LocalReader&) = delete;
  LocalReader& operator=(const LocalReader&) = delete;

  enum class Verdict : std::uint8_t { kAbsent, kThere, kUnknown };

  /// Whether there are such reads.
  bool reads() const { return reads_; }
  /// Looks for a key of this node. kUnknown: take the lock. The element of one that is there is
  /// element(), until the next read.
  Verdict read(const Location& location, std::string_view key, bool has_written) {
    if (has_written) ep_.fence();  // LR3
    const fabric::Address changes = geometry_.changes(location.rank, location.stripe);
    const std::uint64_t before = ep_.load(fabric::cpu, changes);
    if (before % 2 != 0) return Verdict::kUnknown;
    clock_.begin(location.rank);
    const Verdict verdict = search(location, key);
    if (ep_.load(fabric::cpu, changes) != before) return Verdict::kUnknown;
    if (verdict != Verdict::kUnknown) ++accepted_;
    return verdict;
  }
  const ElementView& element() const { return element_; }
  /// Reads that had an answer.
  std::uint64_t accepted() const { return accepted_; }

 private:
  /// Longer elements are copied once only, under the lock.
  static constexpr std::uint64_t kMaxCopied = 1024;
  /// Bytes of a block that are copied at first: most elements have no more.
  static constexpr std::uint64_t kFirstCopy = 192;
  static constexpr int kMaxLines = 8;

  Verdict search(const Location& location, std::string_view key);
  Verdict search_line(const Location& location, std::string_view key);
  Verdict judge_inline(std::uint32_t at, std::string_view key);
  Verdict judge_block(std::uint32_t rank, EntryWord entry, std::string_view key);
  bool is_in_heap(std::uint64_t offset, std::uint64_t bytes) const {
    return offset >= geometry_.chunk(0, 0).offset() && offset + bytes <= geometry_.segment_bytes();
  }

  E& ep_;
  const Geometry& geometry_;
  OperationClock<E>& clock_;
  const bool reads_;
  Bucket line_;
  alignas(8) std::array<std::byte, kMaxCopied> copied_;
  ElementView element_;
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
  element_ = {};
  element_.key = line_.inline_key(at);
  element_.value = line_.inline_value(at);
  element_.value_bytes = element_.value.size();
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
  const std::uint64_t first = std::min(block, kFirstCopy);
  for (std::uint64_t i = fabric::kCacheLine; i < first; i += fabric::kCacheLine) {
    prefetch_line(ep_.view(from) + i);
  }
  const auto first_words = [&] {
    return std::array{ep_.load(fabric::cpu, from), ep_.load(fabric::cpu, from + kSizesOffset)};
  };
  const std::array<std::uint64_t, 2> before = first_words();
  std::memcpy(copied_.data(), before.data(), sizeof before);
  ep_.read(fabric::cpu, from + sizeof before,
           std::span(copied_).first(first).subspan(sizeof before));
  const ElementHeader header = ElementHeader::of(copied_);
  const std::uint64_t bytes = header.total();
  if (header.marked() || bytes > block) return Verdict::kUnknown;
  if (header.key_bytes() != key.size()) return Verdict::kAbsent;  // no change in place changes that
  if (bytes > first) {
    ep_.read(fabric::cpu, from + first, std::span(copied_).subspan(first, bytes - first));
  }
  parse_head(std::span(copied_).first(bytes), element_);
  // A change in place may move the key by the bytes of an expiry, so another key proves nothing
  // yet.
  const bool is_it = element_.key == key && !clock_.is_past(rank, element_.expires_at_ms);  // LR2
  if (first_words() != before) return Verdict::kUnknown;
  element_.value = {element_.key.data() + key.size(), element_.value_bytes};
  return is_it ? Verdict::kThere : Verdict::kAbsent;
}

}  // namespace keyway::store
