// Prefetches that the compiler keeps: GCC 12 takes a function that only prefetches for one without
// effect and drops its calls (-fipa-pure-const); an empty volatile asm prevents that.
#pragma once

namespace keyway {

enum class PrefetchFor { kRead, kWrite };

/// Requests the cache line that holds `address`, which need not be mapped.
template <PrefetchFor kUse = PrefetchFor::kRead>
[[gnu::always_inline]] inline void prefetch_line(const void* address) {
  __builtin_prefetch(address, kUse == PrefetchFor::kWrite ? 1 : 0);
  asm volatile("");
}

}  // namespace keyway
