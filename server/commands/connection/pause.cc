#include "keyway/server/commands/connection/pause.h"

#include <algorithm>

#include "keyway/locks/base/clock.h"

namespace keyway::server {

void Pause::begin(Kind kind, std::uint64_t until_ns) {
  const MutexLock held(mutex_);
  if (ended_) return;
  if (until_ns_ <= steady_ns()) lift_held();
  until_ns_ = std::max(until_ns_, until_ns);
  kind_.store(std::max(kind_.load(std::memory_order_relaxed), kind), std::memory_order_relaxed);
}

void Pause::lift() {
  const MutexLock held(mutex_);
  lift_held();
}

void Pause::end() {
  const MutexLock held(mutex_);
  ended_ = true;
  lift_held();
}

void Pause::lift_held() {
  kind_.store(Kind::kNone, std::memory_order_relaxed);
  until_ns_ = 0;
  for (const auto& [client, waker] : waiting_) waker->wake(client);
  waiting_.clear();
}

bool Pause::must_wait(bool writes, std::uint64_t client, Waker& waker, std::uint64_t& until_ns) {
  const MutexLock held(mutex_);
  if (until_ns_ <= steady_ns()) lift_held();
  const Kind kind = kind_.load(std::memory_order_relaxed);
  if (kind == Kind::kNone || (kind == Kind::kWrites && !writes)) return false;
  waiting_.emplace(client, &waker);
  until_ns = until_ns_;
  return true;
}

void Pause::forget(std::uint64_t client) {
  const MutexLock held(mutex_);
  waiting_.erase(client);
}

}  // namespace keyway::server
