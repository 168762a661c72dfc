// The mpi fabric: ranks are the processes of an MPI job, reached by passive-target one-sided
// operations.
//
// *What.* MpiFabric owns this rank's part of a job-wide window and the threads that serve it;
// MpiEndpoint is an agent's handle. It also offers the few collectives that opening and reporting
// of a store need.
// *Thread safety.* create(), the destructor and the collectives are called by one thread per rank,
// by all ranks in the same order; endpoint() by any thread. The fabric outlives its endpoints.
// *Invariants.* E1..E6 of endpoint.h; P1, P2 of mpi_memory.h; G1 of progress_thread.h.
// *Source.* Design section 4, rule 4.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "keyway/locks/base/status.h"
#include "keyway/locks/base/topology.h"
#include "keyway/locks/fabric/mpi/mpi_endpoint.h"
#include "keyway/locks/fabric/mpi/mpi_interface.h"
#include "keyway/locks/fabric/segment.h"

namespace keyway::fabric {

class MpiFabric {
 public:
  using Endpoint = MpiEndpoint;

  /// Maximum sleep of the progress thread: how long, in us, a remote operation may wait for a rank
  /// with all its agents busy outside MPI. Each wake-up costs such a rank a few us of a processor.
  static constexpr std::uint32_t kDefaultProgressUs = 50;

  struct Options {
    MPI_Comm comm = MPI_COMM_WORLD;   // duplicated; its ranks are the fabric's
    std::uint64_t segment_bytes = 0;  // SegmentLayout::size()
    std::uint32_t agents_per_rank = kDefaultAgentsPerRank;
    std::string topology;              // Topology::override_with; "" keeps the discovered one
    bool force_rma = false;            // send the rma class through MPI even on one node
    std::uint32_t ranks_per_node = 0;  // 0: as discovered. n: only n consecutive ranks share
                                       // memory, as if each n were on their own node
    std::uint32_t progress_us = kDefaultProgressUs;
    // Whether one message carries several reads (gather.h). Unset: a trial decides when the fabric
    // is opened. Never with Open MPI, or if every access is direct.
    std::optional<bool> gathers = {};
  };

  /// Collective over options.comm. Initialises MPI if it is not initialised. Returns the same
  /// Status on every rank: a failure if their options disagree, if one of them lacks memory, or if
  /// the wrong MPI runs.
  static Result<MpiFabric> create(const Options& options);
  MpiFabric(MpiFabric&&) noexcept;
  MpiFabric& operator=(MpiFabric&&) noexcept;
  /// Collective: waits until every rank closes, so no agent of any rank may be active. A rank that
  /// gets here on an exception cannot wait: it stops the job with a message.
  ~MpiFabric();

  /// An endpoint for a new agent of this process; `home` must be rank().
  Result<MpiEndpoint> endpoint(std::uint32_t home);
  Result<MpiEndpoint> endpoint() { return endpoint(rank()); }
  /// The endpoint of serve(): one more agent, with slot agents_per_rank. Call it once.
  Result<MpiEndpoint> service_endpoint();

  std::uint32_t ranks() const;
  std::uint32_t rank() const;
  const Topology& topology() const;
  std::uint64_t segment_bytes() const;
  /// Whether every access is direct: the job is one node and force_rma is off.
  bool one_class() const;
  /// Whether messages wake an idle rank (arrival_watch.h). If not, it looks for them by time.
  bool announced() const;
  /// Whether this rank joins its reads of a rank of another node into one message.
  bool gathers() const;
  /// How the operations of this process have waited for a rank. Any thread.
  RankAnswers::Waits waits(std::uint32_t rank) const;
  /// For a program that calls MPI itself: MpiInterface::call makes its calls safe together with
  /// ours.
  MpiInterface& mpi() const;

  /// Calls body(segment of this rank) now, and then periodically on a thread of the fabric, to
  /// update data that remote ranks read there. Call it once, with a body that is short and does not
  /// enter MPI. Does nothing if every access is direct.
  void repeat(std::chrono::milliseconds every, std::function<void(std::byte*)> body);

  /// Has body() called, by any thread, while agents of this process wait (rank_service.h), and as
  /// often as the progress thread wakes otherwise. Once, and not if every access is direct. All
  /// that the body owns ends while all ranks close, before this fabric does. The body returns
  /// whether there may be work left.
  void serve(std::function<bool()> body);

  /// Leaves a notice on every rank, including this one. Any thread, and not collective; waits for
  /// ranks that do not enter MPI.
  void notify_all();
  /// Whether some rank has left a notice. Reads this rank's own memory.
  bool notified() const;

  // --- Collectives. This rank's other threads and the job's one-sided operations continue
  // meanwhile.
  void barrier();
  /// The bytes of every rank, in rank order, on rank 0; empty elsewhere. At most 2 GiB in all.
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes);
  /// Replaces `bytes` by those of rank `root`.
  void broadcast(std::vector<std::byte>& bytes, std::uint32_t root);
  std::uint64_t allreduce_sum(std::uint64_t value);
  std::uint64_t allreduce_min(std::uint64_t value);
  std::uint64_t allreduce_max(std::uint64_t value);
  /// OK if `local` is OK on every rank; else, on all ranks, the failure of the lowest rank that has
  /// one.
  Status agree(const Status& local);

 private:
  struct State;
  explicit MpiFabric(std::unique_ptr<State> state);
  std::uint64_t allreduce(std::uint64_t value, MPI_Op op);
  MpiEndpoint make_endpoint(SlotHold hold, std::uint32_t agents) const;

  std::unique_ptr<State> state_;
};

}  // namespace keyway::fabric
