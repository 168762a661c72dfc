// RankWatch: says which rank died, before the launcher kills the rest of the job.
//
// *What.* A launcher that sees a rank die kills the others within milliseconds and names, at best,
// a process id. The ranks of one host therefore watch each other in a ring. Each rank holds a
// robust mutex in shared memory while it takes part, and waits for its successor's mutex. The
// kernel hands over the mutex of a process that ends, and does so before it notifies the parent.
// The rank that receives the mutex prints the dead rank's number, and stops the job.
//
// *Thread safety.* Construct and destroy from one thread. create() and the destructor are
// collective, so a rank that leaves in good order is not reported.
//
// *Invariants.*
//   W1  A rank that takes part until the collective end is never reported.
//   W2  On a host at most one death is reported: later ones are the end of the job.
//
// *Limits.* A rank alone on its host has no neighbour; then the launcher's own message names the
// process and the host. Ranks are not watched before create() and after the end.
#pragma once

#include <mpi.h>
#include <pthread.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "keyway/locks/base/mutex.h"
#include "keyway/locks/base/status.h"

namespace keyway::fabric {

class RankWatch {
  struct Key {};

 public:
  /// Collective over `host`, the ranks of one host; the numbers that it reports are those of `job`.
  /// Inside MpiInterface::call.
  static Result<std::unique_ptr<RankWatch>> create(MPI_Comm job, MPI_Comm host);
  explicit RankWatch(Key) {}  // create() only
  /// Collective, inside MpiInterface::call, when every rank of the host has stopped working.
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

 private:
  struct Seat;  // a rank's part of the shared memory
  struct Peer {
    std::uint32_t rank = 0;
    std::int64_t pid = 0;
  };

  Status make_seats(MPI_Comm host);
  Seat& seat(int of);
  void start();
  void hold();   // the thread that holds our own mutex
  void watch();  // the thread that waits for our successor's
  void report(const Peer& dead);

  MPI_Win window_ = MPI_WIN_NULL;
  MPI_Comm host_ = MPI_COMM_NULL;
  std::string host_name_;
  int here_ = 0;  // our number on the host
  int peers_ = 1;
  Peer successor_;
  std::vector<Seat*> seats_;

  Mutex mutex_;
  CondVar changed_;
  bool holding_ KW_GUARDED_BY(mutex_) = false;
  bool leaving_ KW_GUARDED_BY(mutex_) = false;
  std::thread holder_;
  std::thread watcher_;
};

}  // namespace keyway::fabric
