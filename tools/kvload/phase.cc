#include "phase.h"

#include <chrono>

#include "keyway/locks/base/clock.h"

namespace keyway::kvload {
namespace {

std::chrono::steady_clock::time_point time_point(std::uint64_t ns) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns));
}

}  // namespace

std::uint64_t PhaseState::wait_for_start() {
  std::unique_lock held(mutex_);
  ++ready_;
  changed_.notify_all();
  changed_.wait(held, [this] { return started_; });
  return start_ns_;
}

void PhaseState::finished() {
  const std::lock_guard held(mutex_);
  ++finished_;
  changed_.notify_all();
}

bool PhaseState::wait_until(std::uint64_t steady_ns) {
  std::unique_lock held(mutex_);
  return !changed_.wait_until(held, time_point(steady_ns), [this] { return stopped(); });
}

void PhaseState::wait_until_ready() {
  std::unique_lock held(mutex_);
  changed_.wait(held, [this] { return ready_ == workers_; });
}

void PhaseState::start() {
  const std::lock_guard held(mutex_);
  started_ = true;
  start_ns_ = steady_ns();
  changed_.notify_all();
}

void PhaseState::stop() {
  const std::lock_guard held(mutex_);
  stopped_.store(true, std::memory_order_relaxed);
  changed_.notify_all();
}

bool PhaseState::wait_until_finished(std::uint64_t steady_ns) {
  std::unique_lock held(mutex_);
  return changed_.wait_until(held, time_point(steady_ns), [this] { return finished_ == workers_; });
}

}  // namespace keyway::kvload
