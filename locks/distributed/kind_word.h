// KindWord: names the active lock kind of a stripe.
//
// *Thread safety.* A value. The word itself changes under the locks of both kinds (stripe_lock.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace keyway::locks {

/// A kind's place in the list of a StripeLock.
using KindIndex = std::uint8_t;
inline constexpr std::size_t kMaxKinds = 255;

/// The word that names the active kind. Zeroed memory: the first kind, never switched.
///   bits 7..0   KindIndex
///   bits 63..8  switches so far
struct KindWord {
  std::uint64_t word = 0;

  KindIndex kind() const { return static_cast<KindIndex>(word & 0xff); }
  std::uint64_t switches() const { return word >> 8; }
  KindWord switched_to(KindIndex kind) const { return {(switches() + 1) << 8 | kind}; }
};

}  // namespace keyway::locks
