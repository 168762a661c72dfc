// ServicePause: keeps a process's services (rank_service.h) and its blocking calls of MPI apart.
//
// *What.* A thread in a blocking call keeps all others out of MPI, perhaps for long. A service that
// begins meanwhile, or that is not at its end, would have to wait in the middle of its work.
// *Thread safety.* Any thread.
// *Invariants.* SP1: once a Hold is made, and while it lives, no Service may run.
#pragma once

#include <atomic>
#include <cstdint>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/wait.h"

namespace keyway::fabric {

class ServicePause {
 public:
  /// A service at work, if it may begin now.
  class Service {
   public:
    explicit Service(ServicePause& pause) : pause_(pause) {
      // seq_cst, both: of a service that begins and a Hold that begins, one sees the other.
      pause_.inside_.fetch_add(1, std::memory_order_seq_cst);
      may_run_ = pause_.holds_.load(std::memory_order_seq_cst) == 0;
    }
    // release: a Hold that sees it sees what the service has done.
    ~Service() { pause_.inside_.fetch_sub(1, std::memory_order_release); }
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;
    bool may_run() const { return may_run_; }

   private:
    ServicePause& pause_;
    bool may_run_ = false;
  };

  /// Waits for the services that are at work, and keeps them away. A service never makes one, nor
  /// waits for a thread that does.
  class Hold {
   public:
    explicit Hold(ServicePause& pause) : pause_(pause) {
      pause_.holds_.fetch_add(1, std::memory_order_seq_cst);  // as in Service
      // seq_cst: after the store above; and acquire, as ~Service() says.
      wait_loop([&] { return pause_.inside_.load(std::memory_order_seq_cst) == 0; }, [] {},
                Deadline::never());
    }
    // relaxed: says nothing but that services may begin.
    ~Hold() { pause_.holds_.fetch_sub(1, std::memory_order_relaxed); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    ServicePause& pause_;
  };

 private:
  std::atomic<std::uint32_t> inside_{0};
  std::atomic<std::uint32_t> holds_{0};
};

}  // namespace keyway::fabric
