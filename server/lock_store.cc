#include "lock_store.h"

#include <fmt/format.h>

#include "job.h"

namespace keyway::server {

Result<Store> open_lock_store(const Options& options) {
  StoreOptions store;
  store.memory_bytes = options.lock_memory_bytes;
  store.sessions = options.workers * options.fibers + 1;  // and LockMail
  store.locks_per_session = 1;
  store.stripes = 1024;
  auto opened = Store::open(store_uri(options), store);
  if (opened.ok()) return opened;
  return Status(opened.code(), fmt::format("--lock-memory: {}", opened.status().message()));
}

void LockMail::start() {
  if (stopped_) return;
  const bool some_wait = locks_.waiting() != 0;
  // A look that fails is made up for by the next one.
  if (some_wait) static_cast<void>(locks_.collect_mail());
  timer_.expires_after(some_wait ? kWhileSomeWait : kWhileNoneWaits);
  timer_.async_wait([this](std::error_code cancelled) {
    if (!cancelled) start();
  });
}

void LockMail::stop() {
  stopped_ = true;
  timer_.cancel();
}

}  // namespace keyway::server
