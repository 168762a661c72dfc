// A change of a part of an element: which bytes it touches, and what it does to the checksum.
//
// *What.* A value's bytes [offset, offset + n) become others, zeros fill a gap before them, and the
// expiry may change; the element stays where it is. *Thread safety.* One operation's, under the
// stripe's lock. *Invariants.*
//   EC1  Only the window is read, and only `changed` and the header are written: the cost is that
//        of the change, whatever the size of the value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "keyway/kvstore/layout/element.h"

namespace keyway::store {

class ElementChange {
 public:
  /// The value's bytes from begin to end.
  struct Extent {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t bytes() const { return end - begin; }
  };

  /// `bytes` outlive this, and lie outside of the element. Without bytes, and with an offset within
  /// the value, only the expiry changes.
  ElementChange(const ElementHead& old, std::uint64_t offset, std::string_view bytes,
                std::uint64_t expires_at_ms);

  std::uint64_t value_bytes() const { return value_bytes_; }
  /// The bytes of the element afterwards, in the layout that it has.
  std::uint64_t bytes() const { return old_.value_at() + value_bytes_; }
  /// Whether it can stay as it is laid out: there is room for the expiry, or no expiry is wanted.
  bool keeps_layout() const { return old_.expiry_room || expires_at_ms_ == kNoExpiry; }
  /// The part of the value that is written.
  Extent changed() const { return changed_; }
  /// changed(), or the whole blocks of the checksum around it, cut at the value's end: at the end
  /// that it had before, and at the end that it has afterwards.
  Extent window_before() const;
  Extent window() const;

  /// Makes the change: `window` is memory for window(), and begins with what window_before() held.
  void apply(std::span<std::byte> window);
  /// Writes header and expiry as they are after apply(); `out` has room for kMaxHeaderBytes.
  void write_head(std::span<std::byte> out) const;

  std::uint16_t version() const { return static_cast<std::uint16_t>(old_.version + 1); }

 private:
  ElementHead old_;
  std::uint64_t offset_;
  std::string_view bytes_;
  std::uint64_t expires_at_ms_;
  std::uint64_t value_bytes_;
  Extent changed_;
  std::uint64_t checksum_;
};

}  // namespace keyway::store
