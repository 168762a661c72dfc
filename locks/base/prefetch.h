// Prefetches that stay: GCC 12 takes a function that only prefetches for one without effect and
// drops its calls (-fipa-pure-const); the empty volatile asm says that it has one.
#pragma once

namespace keyway {

enum class PrefetchFor { kRead, kWrite };

/// Asks for the cache line that holds `address`, which need not be mapped.
template <PrefetchFor kUse = PrefetchFor::kRead>
[[gnu::always_inline]] inline void prefetch_line(const void* address) {
  __builtin_prefetch(address, kUse == PrefetchFor::kWrite ? 1 : 0);
  asm volatile("");
}

}  // namespace keyway
