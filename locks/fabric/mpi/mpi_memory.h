// MpiMemory: the segments of a job's ranks, as memory and as a window.
//
// *What.* The ranks of a node allocate shared memory together, so that each reaches the others'
// segments directly; the same memory is exposed to the whole job as an MPI window, locked for all
// from creation to the end.
// *Thread safety.* Immutable after creation. create() and the destructor are collective.
// *Invariants.*
//   P1  Segments begin on a page and are zero, and every page is backed by memory: a shared-memory
//       file system that is too small is an error of create(), not a SIGBUS later.
//   P2  A failure on one rank is the same failure on all.
// *Source.* Design section 4, rule 4.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "keyway/locks/base/status.h"
#include "keyway/locks/fabric/mpi/mpi_interface.h"

namespace keyway::fabric {

class MpiMemory {
  struct Key {};

 public:
  struct Options {
    std::uint64_t segment_bytes = 0;
    std::uint32_t ranks_per_node = 0;  // see MpiFabric::Options
    bool force_rma = false;
  };

  /// `comm` returns errors and outlives the result. Collective; inside MpiInterface::call.
  static Result<std::unique_ptr<MpiMemory>> create(MPI_Comm comm, const Options& options);
  /// The nodes that create() will find. Collective; inside MpiInterface::call.
  static Result<std::uint32_t> count_nodes(MPI_Comm comm, std::uint32_t ranks_per_node);
  MpiMemory(Key, MPI_Comm comm) : comm_(comm) {}  // create() and count_nodes() only
  /// Collective; inside MpiInterface::call, when no agent uses the memory any more.
  ~MpiMemory();
  MpiMemory(const MpiMemory&) = delete;
  MpiMemory& operator=(const MpiMemory&) = delete;

  /// The segment of each rank in this process; null if the rank is on another node.
  const std::vector<std::byte*>& bases() const { return bases_; }
  /// The node of each rank: the lowest rank on it.
  const std::vector<std::uint32_t>& node_of_rank() const { return node_of_rank_; }
  /// The same for the hosts, regardless of ranks_per_node.
  const std::vector<std::uint32_t>& host_of_rank() const { return host_of_rank_; }
  /// Whether all access is direct; then there is no window.
  bool one_class() const { return one_class_; }
  const MpiWindow& window() const { return window_; }
  /// The ranks that really share this host, regardless of ranks_per_node.
  MPI_Comm host_comm() const { return host_comm_; }

 private:
  Status find_nodes(const Options& options);
  Status allocate(const Options& options);
  Status expose(const Options& options);

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm host_comm_ = MPI_COMM_NULL;
  MPI_Comm node_comm_ = MPI_COMM_NULL;
  MPI_Win shared_ = MPI_WIN_NULL;  // the node's memory
  bool shared_locked_ = false;
  bool window_locked_ = false;
  bool one_class_ = false;
  MpiWindow window_;  // the job's; its handle may be shared_
  std::vector<std::uint32_t> node_of_rank_;
  std::vector<std::uint32_t> host_of_rank_;
  std::vector<std::byte*> bases_;
  std::vector<MPI_Aint> skipped_;  // bytes before each rank's segment in what it allocated
};

}  // namespace keyway::fabric
