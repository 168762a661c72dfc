// ProgressThread: answers other ranks while every agent of this process is busy elsewhere.
//
// *What.* Without RDMA hardware a one-sided operation progresses only while its target is inside
// MPI. This thread enters MPI if no other thread of the process has done so since its last check,
// and sleeps between checks. Each of its wake-ups takes a processor from an agent, so while agents
// enter MPI all the time it sleeps longer and longer, up to kLongestRestUs: between two network
// namespaces, where a rank had one processor, a rest that stayed 50 us left a third of the reads.
// *Thread safety.* Construct and destroy from one thread; the destructor joins.
// *Invariants.* G1: while the thread lives, no longer than about twice `rest_us` passes without
// some thread of the process having entered MPI (as the scheduler allows); the first time after
// agents have entered it all the time, kLongestRestUs. *Source.* Design section
// 4, rule 4; "software-emulated RMA that only progresses inside MPI calls" is what users of this
// field complain of first.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "keyway/locks/base/mutex.h"
#include "keyway/locks/fabric/mpi/mpi_interface.h"

namespace keyway::fabric {

class ProgressThread {
 public:
  static constexpr std::uint32_t kLongestRestUs = 1000;

  /// The service outlives it.
  ProgressThread(std::shared_ptr<MpiInterface> mpi, const RankService& service,
                 std::uint32_t rest_us);
  ~ProgressThread();
  /// Calls body() now, and from now on every so often (as the scheduler allows). It is short, does
  /// not enter MPI, and there is one at most.
  void repeat(std::chrono::milliseconds every, std::function<void()> body);
  /// Waits until the thread is not in the service.
  void leave_service() { const MutexLock guard(mutex_); }
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

 private:
  static constexpr std::uint32_t kShortestRestUs = 5;

  void run();
  void call_body() KW_REQUIRES(mutex_);
  bool rest(std::chrono::microseconds span) KW_REQUIRES(mutex_);

  std::shared_ptr<MpiInterface> mpi_;
  const RankService& service_;
  const std::chrono::microseconds rest_;  // the shortest
  Mutex mutex_;
  CondVar stopped_;
  bool stop_ KW_GUARDED_BY(mutex_) = false;
  std::function<void()> body_ KW_GUARDED_BY(mutex_);
  std::uint64_t body_every_ns_ KW_GUARDED_BY(mutex_) = 0;
  std::uint64_t body_due_ns_ KW_GUARDED_BY(mutex_) = 0;
  std::thread thread_;
};

}  // namespace keyway::fabric
