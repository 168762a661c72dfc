// RankService: work that a rank does for others while its own agents wait, and now and then
// otherwise.
//
// *What.* Agents call run() at each poll of a wait for a word, or of a flush_idle(), and so does
// the progress thread. The body looks for work that has come into this rank's memory. It may enter
// MPI, and does not run while a thread of the process is in MpiInterface::call(). Several threads
// call it at the same time.
// *Thread safety.* run() by any thread; set() once, before there is work.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "keyway/locks/fabric/mpi/service_pause.h"

namespace keyway::fabric {

class RankService {
 public:
  /// The pause outlives it.
  explicit RankService(ServicePause& pause) : pause_(pause) {}

  /// body() returns whether there may be work left.
  void set(std::function<bool()> body) {
    body_ = std::move(body);
    // release: the body, for those that see the flag.
    set_.store(true, std::memory_order_release);
  }
  /// Later calls of run() do nothing; one may still be in the body.
  void stop() { set_.store(false, std::memory_order_relaxed); }
  /// After stop(), when nobody can be in the body any more.
  void clear() { body_ = nullptr; }
  bool active() const {
    return set_.load(std::memory_order_relaxed);  // a hint
  }
  /// Whether there may be work left.
  bool run() const {
    // acquire: the body.
    if (!set_.load(std::memory_order_acquire)) return false;
    const ServicePause::Service service(pause_);
    if (!service.may_run()) return true;
    // Two threads may count as one: a hint for the progress thread.
    runs_.store(runs_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return body_();
  }
  /// Calls of run() so far, about.
  std::uint64_t runs() const { return runs_.load(std::memory_order_relaxed); }

 private:
  ServicePause& pause_;
  std::atomic<bool> set_{false};
  mutable std::atomic<std::uint64_t> runs_{0};
  std::function<bool()> body_;
};

}  // namespace keyway::fabric
