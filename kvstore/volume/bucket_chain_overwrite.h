// BucketChain<E>: changing a part of a value, or its expiry.
//
// The change is made in the element's block if that has room: only the bytes of the value that
// change are written, and only their blocks of the checksum are read, also on another rank
// (element_change.h). Otherwise the element moves as a whole. An element that grows then gets spare
// room, so that appends are amortised.
#pragma once

#include <algorithm>
#include <cstddef>

#include "keyway/kvstore/layout/element_change.h"
#include "keyway/kvstore/types/decisions.h"
#include "keyway/kvstore/volume/bucket_chain.h"
#include "keyway/locks/fabric/time_slice.h"

namespace keyway::store {

/// An element that outgrows its block gets room for an eighth more, where a block at hand has about
/// that much (kRoomShare): 17/81 of it, a fifth, is unused at most. Otherwise its block is the one
/// that a put would get. As classes and runs grow by steps, that is an eighth more as well or the
/// next step, so that each byte is copied nine times at most on average while the heap has room.
inline constexpr std::uint64_t kGrowthShare = 8;

/// K3: everything that may fail comes before the first byte that changes. An expired element counts
/// as absent: no part of it stays.
template <fabric::Endpoint E>
template <class Access>
Status BucketChain<E>::overwrite_part(Access access, const Location& location, std::string_view key,
                                      const Decision& decision, const Found& found) {
  const std::uint64_t before = found.live() ? found.head.value_bytes : 0;
  if (auto status = check_overwrite(before, decision); !status.ok()) return status;
  const std::uint64_t after = overwritten_bytes(before, decision);
  const bool tiny = decision.expires_at_ms == kNoExpiry && key.size() + after <= kInlineBytes;
  if (found.live() && found.entry.kind() == EntryKind::kHeap && !tiny) {
    ElementChange change(found.head, decision.offset, decision.value, decision.expires_at_ms);
    if (change.keeps_layout() && has_room(location.rank, found, change.bytes())) {
      const Code code = overwrite_in_place(access, location, change, found);
      if (code == Code::kOk) note({location, key, found, &decision});
      return Status(code);
    }
  }
  // A value that no heap can hold is refused before it is built.
  if (!tiny && after > geometry_.heap_bytes()) return full(location.rank, after);
  ElementPart old;
  if (found.live()) {
    const Code code = reader_.show(access, location.rank, found, ValueRange::whole(), old);
    if (code != Code::kOk) return Status(code);
  }
  built_.reserve(after);
  fabric::assign_in_parts(built_, old.bytes);
  overwrite(built_, decision, fabric::kSlices);
  const bool grows = found.live() && after > before;
  return write(access, location, key, Decision::write(built_, decision.expires_at_ms), found,
               grows ? (key.size() + after) / kGrowthShare : 0);
}

/// Whether the block of the found element has room for `bytes`. The element's own size says how
/// many chunks a run has at least, so the run must be read only beyond these.
template <fabric::Endpoint E>
bool BucketChain<E>::has_room(std::uint32_t rank, const Found& found, std::uint64_t bytes) {
  const Block block{found.entry.offset(), found.entry.size_class()};
  if (block.size_class != kRunClass) return bytes <= class_bytes(block.size_class);
  if (bytes <= run_chunks(found.head.bytes()) * kChunkBytes) return true;
  return bytes <= heap_.capacity(rank, block);
}

/// Nothing has changed when this fails.
template <fabric::Endpoint E>
template <class Access>
Code BucketChain<E>::overwrite_in_place(Access access, const Location& location,
                                        ElementChange& change, const Found& found) {
  const fabric::Address at{location.rank, found.entry.offset()};
  const std::uint64_t value_at = found.head.value_at();
  const ElementChange::Extent window = change.window();
  const ElementChange::Extent before = change.window_before();
  ElementPart old;
  const Code code = reader_.show(access, location.rank, found, {before.begin, before.bytes()}, old);
  if (code != Code::kOk) return code;
  const std::size_t bytes = kMaxHeaderBytes + window.bytes();
  if (composed_.capacity() < bytes) composed_.clear();
  composed_.reserve(bytes);
  const std::size_t kept = std::min(composed_.size(), bytes);
  fabric::for_each_part(bytes - kept,
                        [&](std::size_t at, std::size_t n) { composed_.resize(kept + at + n); });
  composed_.resize(bytes);
  const auto value = std::span(composed_).subspan(kMaxHeaderBytes);
  auto* const text = reinterpret_cast<char*>(value.data());
  fabric::for_each_part(old.bytes.size(), [&](std::size_t at, std::size_t n) {
    old.bytes.substr(at, n).copy(text + at, n);
  });
  change.apply(value);
  change.write_head(composed_);
  const ElementChange::Extent changed = change.changed();
  begin_in_place(access, at);
  if (changed.bytes() > 0) {
    put_value(access, at + value_at + changed.begin,
              value.subspan(changed.begin - window.begin, changed.bytes()));
  }
  put_header(access, at, std::span(composed_).first(found.head.key_at()));
  commit_if_version_wrapped(access, location, change.version());
  return Code::kOk;
}

}  // namespace keyway::store
