#include "keyway/locks/fabric/mpi/mpi_memory.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>
#include <string>

#include "keyway/locks/fabric/mpi/mpi_agreement.h"
#include "keyway/locks/fabric/mpi/mpi_library.h"

namespace keyway::fabric {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kHugePage = 2u << 20;
constexpr const char* kSharedMemoryFolder = "/dev/shm";

std::uint64_t alignment_for(std::uint64_t bytes) { return bytes >= kHugePage ? kHugePage : kPage; }
std::uint64_t round_up(std::uint64_t n, std::uint64_t unit) { return (n + unit - 1) / unit * unit; }

// The memory that the kernel can provide without swapping; the largest number if it does not say.
std::uint64_t available_memory() {
  std::ifstream meminfo("/proc/meminfo");
  for (std::string name; meminfo >> name;) {
    std::uint64_t kib = 0;
    if (name == "MemAvailable:" && meminfo >> kib) return kib * 1024;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

std::uint64_t available_shared_memory() {
  struct statvfs shared {};
  if (statvfs(kSharedMemoryFolder, &shared) != 0) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(shared.f_bavail) * shared.f_frsize;
}

// Asked before anything is allocated, by the ranks of one host together.
Status enough_memory(MPI_Comm host, bool shared, std::uint64_t bytes_of_rank) {
  std::uint64_t needed[2] = {bytes_of_rank, shared ? bytes_of_rank : 0};
  MPI_Allreduce(MPI_IN_PLACE, needed, 2, MPI_UINT64_T, MPI_SUM, host);
  if (needed[0] > available_memory()) {
    return {Code::kOutOfSpace,
            fmt::format("the ranks of a host need {} bytes but only {} are free; ask for less "
                        "memory",
                        needed[0], available_memory())};
  }
  if (needed[1] > available_shared_memory()) {
    return {Code::kOutOfSpace,
            fmt::format("the ranks of a host need {} bytes of shared memory but {} has {} left; "
                        "ask for less memory or enlarge it",
                        needed[1], kSharedMemoryFolder, available_shared_memory())};
  }
  return {};
}

// Backs every page now (P1). On a file system that is full the kernel reports what would
// otherwise be a SIGBUS at the first touch.
Status back_with_memory(std::byte* base, std::uint64_t bytes) {
  madvise(base, bytes, MADV_HUGEPAGE);  // advice: fewer translation misses if the system allows it
#if defined(MADV_POPULATE_WRITE)
  constexpr int kPopulate = MADV_POPULATE_WRITE;
#else
  constexpr int kPopulate = 23;  // Linux 5.14; the C library may be older than the kernel
#endif
  if (madvise(base, bytes, kPopulate) != 0 && errno != EINVAL) {
    return {Code::kOutOfSpace,
            fmt::format("a segment of {} bytes cannot be backed with memory ({}); ask for less "
                        "memory or enlarge {}",
                        bytes, std::strerror(errno), kSharedMemoryFolder)};
  }
  std::memset(base, 0, bytes);
  return {};
}

Status return_errors(MPI_Win window) {
  return mpi_status(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
}

}  // namespace

Result<std::unique_ptr<MpiMemory>> MpiMemory::create(MPI_Comm comm, const Options& options) {
  auto made = std::make_unique<MpiMemory>(Key{}, comm);
  // Each step is collective and ends in agreement, so that either all ranks continue or none.
  using Step = Status (MpiMemory::*)(const Options&);
  for (const Step step : {&MpiMemory::find_nodes, &MpiMemory::allocate, &MpiMemory::expose}) {
    if (Status status = agree(comm, (made.get()->*step)(options)); !status.ok()) return status;
  }
  return made;
}

Result<std::uint32_t> MpiMemory::count_nodes(MPI_Comm comm, std::uint32_t ranks_per_node) {
  MpiMemory found(Key{}, comm);
  const Status status = found.find_nodes({.ranks_per_node = ranks_per_node});
  if (!status.ok()) return status;
  const auto& node = found.node_of_rank_;
  return static_cast<std::uint32_t>(std::set(node.begin(), node.end()).size());
}

Status MpiMemory::find_nodes(const Options& options) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(comm_, &rank);
  MPI_Comm_size(comm_, &ranks);
  int code = MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host_comm_);
  if (code != MPI_SUCCESS) return mpi_status(code, "MPI_Comm_split_type");
  const int pretended =
      options.ranks_per_node == 0 ? 0 : rank / static_cast<int>(options.ranks_per_node);
  code = MPI_Comm_split(host_comm_, pretended, rank, &node_comm_);
  if (code != MPI_SUCCESS) return mpi_status(code, "MPI_Comm_split");

  // Of the ranks of each part, in which they are in order: the lowest.
  const auto lowest_of = [&](MPI_Comm part) {
    std::uint32_t lowest = static_cast<std::uint32_t>(rank);
    MPI_Bcast(&lowest, 1, MPI_UINT32_T, 0, part);
    std::vector<std::uint32_t> of_rank(static_cast<std::size_t>(ranks));
    MPI_Allgather(&lowest, 1, MPI_UINT32_T, of_rank.data(), 1, MPI_UINT32_T, comm_);
    return of_rank;
  };
  node_of_rank_ = lowest_of(node_comm_);
  host_of_rank_ = lowest_of(host_comm_);
  int on_node = 0;
  MPI_Comm_size(node_comm_, &on_node);
  one_class_ = on_node == ranks && !options.force_rma;
  return {};
}

Status MpiMemory::allocate(const Options& options) {
  int on_node = 0;
  MPI_Comm_size(node_comm_, &on_node);
  const std::uint64_t align = alignment_for(options.segment_bytes);
  const std::uint64_t segment = round_up(options.segment_bytes, kPage);
  const std::uint64_t allocated = segment + align;
  Status enough = enough_memory(host_comm_, on_node > 1, allocated);
  if (enough = agree(comm_, enough); !enough.ok()) return enough;

  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", "true");
  void* mine = nullptr;
  const int code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(allocated), 1, info, node_comm_,
                                           &mine, &shared_);
  MPI_Info_free(&info);
  Status status = mpi_status(code, "MPI_Win_allocate_shared");
  if (status = agree(comm_, status); !status.ok()) return status;

  const auto start = reinterpret_cast<std::uintptr_t>(mine);
  const auto skipped = static_cast<MPI_Aint>(round_up(start, align) - start);
  skipped_.resize(node_of_rank_.size());
  MPI_Allgather(&skipped, 1, MPI_AINT, skipped_.data(), 1, MPI_AINT, comm_);
  status = back_with_memory(static_cast<std::byte*>(mine) + skipped, segment);

  // The addresses of the neighbours' segments in this process.
  int my_node_rank = 0;
  MPI_Comm_rank(node_comm_, &my_node_rank);
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  bases_.assign(node_of_rank_.size(), nullptr);
  int neighbour = 0;
  for (std::size_t peer = 0; peer < node_of_rank_.size(); ++peer) {
    if (node_of_rank_[peer] != node_of_rank_[static_cast<std::size_t>(rank)]) continue;
    MPI_Aint size = 0;
    int unit = 0;
    void* theirs = nullptr;
    const int asked = MPI_Win_shared_query(shared_, neighbour++, &size, &unit, &theirs);
    if (asked != MPI_SUCCESS) return mpi_status(asked, "MPI_Win_shared_query");
    bases_[peer] = static_cast<std::byte*>(theirs) + skipped_[peer];
  }
  return status;
}

Status MpiMemory::expose(const Options& options) {
  if (Status status = return_errors(shared_); !status.ok()) return status;
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  int on_node = 0;
  int ranks = 0;
  MPI_Comm_size(node_comm_, &on_node);
  MPI_Comm_size(comm_, &ranks);
  Status status;
  if (!one_class_) {
    window_.start.assign(bases_.size(), 0);
    if (kOpenMpi && on_node == ranks) {
      // osc/sm, the only component that is sound here, makes no window over memory of ours.
      window_.handle = shared_;
      window_.start = skipped_;
    } else {
      MPI_Win made = MPI_WIN_NULL;
      status = mpi_status(
          MPI_Win_create(bases_[static_cast<std::size_t>(rank)],
                         static_cast<MPI_Aint>(options.segment_bytes), 1, MPI_INFO_NULL, comm_,
                         &made),
          kOpenMpi ? "MPI_Win_create (if no component can, start with --mca osc sm,pt2pt)"
                   : "MPI_Win_create");
      if (status = agree(comm_, status); !status.ok()) return status;
      window_.handle = made;
      if (status = return_errors(made); !status.ok()) return status;
    }
    int* model = nullptr;
    int found = 0;
    MPI_Win_get_attr(window_.handle, MPI_WIN_MODEL, &model, &found);
    if (found == 0 || *model != MPI_WIN_UNIFIED) {
      return {Code::kUnsupported,
              "this MPI keeps a window's public and private copies apart (no MPI_WIN_UNIFIED); use "
              "one with the unified memory model"};
    }
    if (window_.handle != shared_) {
      status = mpi_status(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_.handle), "MPI_Win_lock_all");
      if (!status.ok()) return status;
      window_locked_ = true;
    }
  }
  // The epoch within which the shared memory may be loaded and stored directly.
  status = mpi_status(MPI_Win_lock_all(MPI_MODE_NOCHECK, shared_), "MPI_Win_lock_all");
  if (!status.ok()) return status;
  shared_locked_ = true;
  MPI_Win_sync(shared_);
  MPI_Barrier(comm_);
  return {};
}

MpiMemory::~MpiMemory() {
  if (window_locked_) MPI_Win_unlock_all(window_.handle);
  if (shared_locked_) MPI_Win_unlock_all(shared_);
  if (window_.handle != MPI_WIN_NULL && window_.handle != shared_) MPI_Win_free(&window_.handle);
  if (shared_ != MPI_WIN_NULL) MPI_Win_free(&shared_);
  if (node_comm_ != MPI_COMM_NULL) MPI_Comm_free(&node_comm_);
  if (host_comm_ != MPI_COMM_NULL) MPI_Comm_free(&host_comm_);
}

}  // namespace keyway::fabric
