// Team: the agents of one process, threads or fibers of a few threads; Barrier: where they meet.
//
// *Thread safety.* Every member may be called by any agent. Catch2's checks are not thread-safe, so
// agents report failures here, and the test checks them after all have ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "keyway/locks/fabric/fiber.h"
#include "keyway/locks/fabric/wait.h"

#ifndef KEYWAY_TEST_DIVISOR
#define KEYWAY_TEST_DIVISOR 1
#endif

namespace keyway::test {

/// This many rounds; fewer if a sanitizer makes each of them slow.
constexpr std::uint32_t scaled(std::uint32_t rounds) {
  return rounds / KEYWAY_TEST_DIVISOR > 0 ? rounds / KEYWAY_TEST_DIVISOR : 1;
}

class Barrier {
 public:
  explicit Barrier(std::uint32_t agents) : agents_(agents) {}

  /// Waits for all agents. False if one of them has failed: then all end.
  bool arrive_and_wait(std::uint32_t = 0) {
    // acq_rel and acquire: an agent that leaves the meeting sees all writes of the others before
    // it.
    const std::uint64_t arrived = arrived_.fetch_add(1, std::memory_order_acq_rel) + 1;
    const std::uint64_t all = (arrived + agents_ - 1) / agents_ * agents_;
    fabric::wait_loop([&] { return failed() || arrived_.load(std::memory_order_acquire) >= all; },
                      [] {}, Deadline::never());
    return !failed();
  }
  void fail(std::string what) {
    const std::lock_guard guard(mutex_);
    if (failure_.empty()) failure_ = std::move(what);
    failed_.store(true, std::memory_order_release);  // publishes failure_
  }
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  /// Empty when nothing was found broken. Call when the agents have ended.
  const std::string& failure() const { return failure_; }
  /// The next instant, for histories.
  std::uint64_t now() { return clock_.fetch_add(1, std::memory_order_acq_rel); }

 private:
  std::uint32_t agents_;
  std::atomic<std::uint64_t> arrived_{0};
  std::atomic<std::uint64_t> clock_{1};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::string failure_;  // guarded by mutex_ until the agents have ended
};

/// How agents run: `threads` threads with `fibers` fibers each; 0 fibers: the threads themselves.
struct Team {
  std::uint32_t threads = 4;
  std::uint32_t fibers = 0;

  std::uint32_t agents() const { return fibers == 0 ? threads : threads * fibers; }
  Barrier barrier() const { return Barrier(agents()); }
  void run(const std::function<void(std::uint32_t)>& body) const {
    std::vector<std::jthread> running;
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      running.emplace_back([this, &body, thread] {
        if (fibers == 0) return body(thread);
        fabric::run_fibers(fibers, [&](std::size_t fiber) {
          body(thread * fibers + static_cast<std::uint32_t>(fiber));
        });
      });
    }
  }
};

}  // namespace keyway::test
