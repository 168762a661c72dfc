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
  const MutexLock held(mutex_);
  ++ready_;
  changed_.notify_all();
  while (!started_) changed_.wait(mutex_);
  return start_ns_;
}

void PhaseState::finished() {
  const MutexLock held(mutex_);
  ++finished_;
  changed_.notify_all();
}

bool PhaseState::wait_until(std::uint64_t steady_ns) {
  const MutexLock held(mutex_);
  while (!stopped() && changed_.wait_until(mutex_, time_point(steady_ns))) {
  }
  return !stopped();
}

void PhaseState::wait_until_ready() {
  const MutexLock held(mutex_);
  while (ready_ != workers_) changed_.wait(mutex_);
}

void PhaseState::start() {
  const MutexLock held(mutex_);
  started_ = true;
  start_ns_ = steady_ns();
  changed_.notify_all();
}

void PhaseState::stop() {
  const MutexLock held(mutex_);
  stopped_.store(true, std::memory_order_relaxed);
  changed_.notify_all();
}

bool PhaseState::wait_until_finished(std::uint64_t steady_ns) {
  const MutexLock held(mutex_);
  while (finished_ != workers_ && changed_.wait_until(mutex_, time_point(steady_ns))) {
  }
  return finished_ == workers_;
}

}  // namespace keyway::kvload
