#include "keyway/locks/fabric/mpi/rank_watch.h"

#include <fmt/core.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <new>

#include "keyway/locks/fabric/mpi/mpi_interface.h"

namespace keyway::fabric {

// 256 bytes, so that neighbours' seats share no cache line. `stopping` of seat 0 serves the host.
struct alignas(256) RankWatch::Seat {
  pthread_mutex_t alive;
  std::atomic<std::uint32_t> stopping;
};

namespace {

// Ranks of different libraries' versions cannot meet here, but the mutex must fit its seat.
static_assert(sizeof(pthread_mutex_t) <= 128);

std::string name_of_host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

void make_robust_mutex(pthread_mutex_t& mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

// The watcher races with the launcher, which kills us as soon as it has seen the death. It sleeps
// except at that moment, so it may have priority: real time if the system allows it, else the
// shortest slice, which the scheduler of newer kernels honours. Best effort.
void hurry() {
  sched_param first{};
  first.sched_priority = 1;
  if (sched_setscheduler(0, SCHED_FIFO, &first) == 0) return;
  struct {  // sched_attr, which the C library does not declare
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t slice_ns, deadline_ns, period_ns;
  } shortest{48, SCHED_OTHER, 0, 0, 0, 100'000, 0, 0};
  syscall(SYS_sched_setattr, 0, &shortest, 0u);
}

}  // namespace

Result<std::unique_ptr<RankWatch>> RankWatch::create(MPI_Comm job, MPI_Comm host) {
  auto made = std::make_unique<RankWatch>(Key{});
  MPI_Comm_rank(host, &made->here_);
  MPI_Comm_size(host, &made->peers_);
  made->host_ = host;
  made->host_name_ = name_of_host();
  if (made->peers_ == 1) return made;

  int rank = 0;
  MPI_Comm_rank(job, &rank);
  const Peer self{static_cast<std::uint32_t>(rank), getpid()};
  std::vector<Peer> peers(static_cast<std::size_t>(made->peers_));
  MPI_Allgather(&self, sizeof self, MPI_BYTE, peers.data(), sizeof self, MPI_BYTE, host);
  made->successor_ = peers[static_cast<std::size_t>((made->here_ + 1) % made->peers_)];
  if (Status status = made->make_seats(host); !status.ok()) return status;
  made->start();
  MPI_Barrier(host);  // every mutex is held before anyone works, and so before anyone can leave
  return made;
}

Status RankWatch::make_seats(MPI_Comm host) {
  void* mine = nullptr;
  const MPI_Aint bytes = 2 * sizeof(Seat);  // room to align it
  const int code = MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, host, &mine, &window_);
  if (code != MPI_SUCCESS) return mpi_status(code, "MPI_Win_allocate_shared");
  MPI_Aint size = 0;
  int unit = 0;
  void* first = nullptr;
  MPI_Win_shared_query(window_, 0, &size, &unit, &first);
  // Without alloc_shared_noncontig the parts lie one after another, so one alignment serves all.
  auto start = reinterpret_cast<std::uintptr_t>(first);
  start = (start + alignof(Seat) - 1) & ~(alignof(Seat) - 1);
  for (int peer = 0; peer < peers_; ++peer) {
    seats_.push_back(reinterpret_cast<Seat*>(start) + peer);
  }
  Seat& own = seat(here_);
  make_robust_mutex(own.alive);
  std::construct_at(&own.stopping, 0u);
  MPI_Barrier(host);
  return {};
}

RankWatch::Seat& RankWatch::seat(int of) { return *seats_[static_cast<std::size_t>(of)]; }

void RankWatch::start() {
  holder_ = std::thread([this] { hold(); });
  {
    const MutexLock guard(mutex_);
    while (!holding_) changed_.wait(mutex_);
  }
  MPI_Barrier(host_);  // the successor holds its mutex before we wait for it
  watcher_ = std::thread([this] { watch(); });
  // release: a peer that reads it after it has seen us end knows that the job is being stopped.
  MpiInterface::on_stop(this, [this] { seat(0).stopping.store(1, std::memory_order_release); });
}

void RankWatch::hold() {
  Seat& own = seat(here_);
  pthread_mutex_lock(&own.alive);
  const MutexLock guard(mutex_);
  holding_ = true;
  changed_.notify_all();
  while (!leaving_) changed_.wait(mutex_);
  pthread_mutex_unlock(&own.alive);
}

void RankWatch::watch() {
  hurry();
  Seat& theirs = seat((here_ + 1) % peers_);
  const int outcome = pthread_mutex_lock(&theirs.alive);
  if (outcome == EOWNERDEAD) {
    report(successor_);
    pthread_mutex_consistent(&theirs.alive);
  }
  pthread_mutex_unlock(&theirs.alive);
}

void RankWatch::report(const Peer& dead) {
  // acq_rel: one reporter per host, ordered with the flag that a rank sets when it stops the job.
  if (seat(0).stopping.exchange(1, std::memory_order_acq_rel) != 0) return;
  MpiInterface::stop_job(
      fmt::format("rank {} (pid {} on {}) died", dead.rank, dead.pid, host_name_));
}

RankWatch::~RankWatch() {
  if (watcher_.joinable()) {
    MPI_Barrier(host_);  // W1: from here on MPI itself notices a death
    MpiInterface::on_stop(this, {});
    {
      const MutexLock guard(mutex_);
      leaving_ = true;
    }
    changed_.notify_all();
    holder_.join();
    watcher_.join();  // our successor releases its mutex as well
    MPI_Barrier(host_);
    pthread_mutex_destroy(&seat(here_).alive);
  }
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
}

}  // namespace keyway::fabric
