#include "lock_store.h"

#include <fmt/core.h>

#include "job.h"

namespace keyway::server {

Result<Store> open_lock_store(const Options& options) {
  StoreOptions store;
  store.memory_bytes = options.lock_memory_bytes;
  store.sessions = options.workers * options.fibers + 1;  // and the poll of the mailbox
  store.locks_per_session = 1;
  store.stripes = 1024;
  // What changes a record is a function here, and those do not travel to an owner.
  store.path = EditPath::kOneSided;
  auto opened = Store::open(store_uri(options), store);
  if (opened.ok()) return opened;
  return Status(opened.code(), fmt::format("--lock-memory: {}", opened.status().message()));
}

std::chrono::milliseconds poll_mailbox(LockService& locks) {
  constexpr std::chrono::milliseconds kWhileSomeWait(2);
  constexpr std::chrono::milliseconds kWhileNoneWaits(20);
  if (locks.waiting() == 0) return kWhileNoneWaits;
  static_cast<void>(locks.collect_mail());  // the next poll makes up for a failed one
  return kWhileSomeWait;
}

}  // namespace keyway::server
