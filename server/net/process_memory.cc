#include "keyway/server/net/process_memory.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace keyway::server {
namespace {

// Null if the reserve is empty. The thread that takes the pointer out owns it.
std::atomic<void*> spare{nullptr};

void give_up_spare() {
  // acquire: pairs with the release of the store, so that free() comes after malloc().
  void* held = spare.exchange(nullptr, std::memory_order_acquire);
  if (held == nullptr) throw std::bad_alloc();  // M1
  std::free(held);
}

}  // namespace

void prepare_memory() {
  // glibc raises the bound by itself as it sees large buffers come and go, up to 32 MiB, and keeps
  // twice that much at the top of its heap.
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  mallopt(M_TRIM_THRESHOLD, 2 * kLargeBytes);
  refill_spare_memory();
  std::set_new_handler(give_up_spare);
}

void refill_spare_memory() {
  if (spare.load(std::memory_order_relaxed) != nullptr) return;  // a hint
  void* fresh = std::malloc(kSpareBytes);                        // not operator new: M1
  void* empty = nullptr;
  // release: pairs with give_up_spare(). On failure another thread was first, and nothing is read.
  if (!spare.compare_exchange_strong(empty, fresh, std::memory_order_release,
                                     std::memory_order_relaxed)) {
    std::free(fresh);
  }
}

}  // namespace keyway::server
