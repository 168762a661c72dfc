#include "keyway/kvstore/volume/address_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

#include "keyway/locks/base/rng.h"

namespace keyway::store {

// Zeroed by the operating system, page by page as they are used; and it may promise more than there
// is.
AddressCache::AddressCache(std::uint64_t bytes)
    : mask_(std::bit_floor(std::max<std::uint64_t>(bytes / (kSet * kBytesPerAddress), 1)) - 1) {
  const std::uint64_t all = (mask_ + 1) * kSet * sizeof(Entry);
  void* const mapped = mmap(nullptr, all, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  entries_ = {static_cast<Entry*>(mapped), Unmapped{all}};
}

void AddressCache::Unmapped::operator()(Entry* entries) const { munmap(entries, bytes); }

std::uint64_t AddressCache::mixed(std::uint64_t hash) {
  std::uint64_t state = hash;
  return splitmix64(state);
}

std::optional<ElementPlace> AddressCache::find(std::uint64_t hash) const {
  const std::uint64_t mine = mixed(hash);
  for (const Entry& at : set_of(mine)) {
    // relaxed, here and below: see the header.
    const std::uint64_t check = at.check.load(std::memory_order_relaxed);
    if ((check & kHashMask) != (mine & kHashMask)) continue;
    const EntryWord entry(at.entry.load(std::memory_order_relaxed));
    if (entry.kind() != EntryKind::kHeap || entry.tag() != tag_of(hash)) continue;
    return ElementPlace{entry, static_cast<std::uint32_t>(check >> kHashBits)};
  }
  return std::nullopt;
}

void AddressCache::learn(std::uint64_t hash, const ElementPlace& known) {
  const std::uint64_t mine = mixed(hash);
  const auto set = set_of(mine);
  const auto is_free = [&](const Entry& at) {
    return at.entry.load(std::memory_order_relaxed) == 0 ||
           (at.check.load(std::memory_order_relaxed) & kHashMask) == (mine & kHashMask);
  };
  auto at = std::find_if(set.begin(), set.end(), is_free);
  // Any other: the stamp differs from key to key and from change to change.
  if (at == set.end()) at = set.begin() + static_cast<std::ptrdiff_t>((known.stamp ^ mine) % kSet);
  at->entry.store(known.entry.word(), std::memory_order_relaxed);
  at->check.store(static_cast<std::uint64_t>(known.stamp) << kHashBits | (mine & kHashMask),
                  std::memory_order_relaxed);
}

void AddressCache::forget(std::uint64_t hash) {
  const std::uint64_t mine = mixed(hash);
  for (Entry& at : set_of(mine)) {
    if ((at.check.load(std::memory_order_relaxed) & kHashMask) != (mine & kHashMask)) continue;
    at.entry.store(0, std::memory_order_relaxed);
  }
}

}  // namespace keyway::store
