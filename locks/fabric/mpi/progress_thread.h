// ProgressThread: answers other ranks while every agent of this process is busy elsewhere.
//
// *What.* Without RDMA hardware a one-sided operation progresses only while its target is inside
// MPI. A process has one such thread for all of its fabrics. It enters MPI if no other thread of
// the process has done so since its last check, and runs the fabrics' services: again, up to
// kLooksAtOnce times, while there is something to do. Then it sleeps. Each of its wake-ups takes a
// processor from an agent. So while agents enter MPI all the time it sleeps longer and longer, up
// to kLongestRestUs: between two network namespaces, where a rank had one processor, a rest that
// stayed 50 us left a third of the reads. And while nobody does, nor messages come, it sleeps until
// one comes, where it can (arrival_watch.h).
// *Thread safety.* Any thread. The destructor of the last Duty joins.
// *Invariants.* G1: while there is a duty, another rank's message waits for no longer than about
// twice the shortest `rest_us` of all until some thread of the process enters MPI, and work of a
// service until a thread looks for it (as the scheduler allows). The first message after agents
// have entered MPI all the time may wait for kLongestRestUs; so may work that reaches a quiet rank
// and does not wake it, where messages are announced.
// *Source.* Design section 4, rule 4; "software-emulated RMA that only progresses inside MPI calls"
// is what users of this field complain of first.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "keyway/locks/base/mutex.h"
#include "keyway/locks/fabric/mpi/arrival_watch.h"
#include "keyway/locks/fabric/mpi/mpi_interface.h"
#include "keyway/locks/fabric/mpi/mpi_library.h"

namespace keyway::fabric {

class ProgressThread {
 public:
  static constexpr std::uint32_t kLongestRestUs = 1000;

  /// A fabric's part in the thread of the process, which the first one starts.
  class Duty {
   public:
    /// The service outlives it.
    /// `announced`: its ranks' messages make MpiInterface::event_sets() readable.
    Duty(std::shared_ptr<MpiInterface> mpi, const RankService& service, std::uint32_t rest_us,
         bool announced);
    ~Duty();
    /// Calls body() now, and from now on every so often (as the scheduler allows). It is short,
    /// does not enter MPI, and there is one at most.
    void repeat(std::chrono::milliseconds every, std::function<void()> body);
    /// Waits until the thread is in no service.
    void leave_service() { const MutexLock guard(thread_->mutex_); }
    Duty(const Duty&) = delete;
    Duty& operator=(const Duty&) = delete;

   private:
    const std::shared_ptr<ProgressThread> thread_;
  };

  explicit ProgressThread(std::shared_ptr<MpiInterface> mpi);
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

 private:
  static constexpr std::uint32_t kShortestRestUs = 5;
  /// Where messages are not announced, a look that takes longer has found something. How long an
  /// empty look takes depends on the machine: after a rest of 200 us one took up to 13 us.
  static constexpr std::uint64_t kEmptyLookNs = 3000;
  /// In which an agent that comes waits; and with Open MPI a look may take a turn of the scheduler.
  static constexpr int kLooksAtOnce = kOpenMpi ? 1 : 16;
  /// After so long without a message the next one is waited for: others come soon after one, and a
  /// wait costs more than a rest.
  static constexpr std::uint64_t kQuietNs = 1'000'000;

  struct Work {
    const Duty* of;
    const RankService* service;
    std::chrono::microseconds rest;
    bool announced;
    std::uint64_t runs_seen;
    std::function<void()> body = {};
    std::uint64_t body_every_ns = 0;
    std::uint64_t body_due_ns = 0;

    void call_body();
  };

  static std::shared_ptr<ProgressThread> of_process(std::shared_ptr<MpiInterface> mpi);
  void join(Work work);
  void leave(const Duty& duty);
  void repeat(const Duty& duty, std::chrono::milliseconds every, std::function<void()> body);
  void run();
  bool rest() KW_REQUIRES(mutex_);
  void check() KW_REQUIRES(mutex_);
  bool look() KW_REQUIRES(mutex_);
  bool serve() KW_REQUIRES(mutex_);
  std::chrono::microseconds shortest_rest() const KW_REQUIRES(mutex_);
  bool announced() const KW_REQUIRES(mutex_);

  std::shared_ptr<MpiInterface> mpi_;
  ArrivalWatch arrivals_;
  Mutex mutex_;
  bool stop_ KW_GUARDED_BY(mutex_) = false;
  std::vector<Work> works_ KW_GUARDED_BY(mutex_);
  std::chrono::microseconds span_ KW_GUARDED_BY(mutex_){kLongestRestUs};  // of a rest by time
  std::chrono::microseconds rested_ KW_GUARDED_BY(mutex_){0};             // at most
  std::uint64_t entries_seen_ KW_GUARDED_BY(mutex_) = 0;
  std::uint64_t busy_ns_ KW_GUARDED_BY(mutex_) = 0;  // an agent entered MPI, or a message came
  std::thread thread_;
};

}  // namespace keyway::fabric
