// ArrivalWatch: a thread sleeps here until a message of another rank may have come.
//
// *What.* Under MPICH, UCX keeps its TCP sockets in event sets (epoll), and looks into them only
// when a thread enters MPI. A thread that waits at these sets wakes up when a message comes, and
// need not look for one 20,000 times a second. MPI says neither whether there are such sets nor
// which: they are among the event sets that the process has gained while MPI began. Ranks of one
// host, and network cards with RDMA, use no sockets; hence announces_messages(), which tries it.
// *Thread safety.* wake() by any thread, the rest by one at a time.
// *Invariants.* AW1: wait() returns soon after wake(), also after one that came before it.
#pragma once

#include <mpi.h>
#include <poll.h>

#include <chrono>
#include <vector>

namespace keyway::fabric {

/// The descriptors of the process's event sets now, in order.
std::vector<int> event_sets();

/// Whether messages of its neighbours make a rank's event sets readable. `host`: the ranks of this
/// host. Collective over `job`; the same on every rank. Inside MpiInterface::call: no thread may
/// take the messages meanwhile. A neighbour whose message does not come within `patience` is a no,
/// which is always right: then ranks look by time. Tries one neighbour of each rank, up to three
/// one after the other.
bool announces_messages(MPI_Comm job, MPI_Comm host, const std::vector<int>& sets,
                        std::chrono::milliseconds patience = std::chrono::milliseconds(100));

class ArrivalWatch {
 public:
  /// The sets outlive it.
  explicit ArrivalWatch(const std::vector<int>& sets);
  ~ArrivalWatch();
  ArrivalWatch(const ArrivalWatch&) = delete;
  ArrivalWatch& operator=(const ArrivalWatch&) = delete;

  /// Ends the present wait, or the next one.
  void wake();
  enum class End { kTime, kWoken, kMessage };
  /// Sleeps for so long, and less if there is a wake(), or if `messages`, and one comes.
  End wait(std::chrono::nanoseconds time, bool messages);
  /// Whether a message waits to be taken.
  bool arrived();

 private:
  std::vector<pollfd> polled_;  // the first is for wake()
};

}  // namespace keyway::fabric
