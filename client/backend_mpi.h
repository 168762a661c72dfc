// The store over MPI: `mpi:`. Internal, but for client/mpi.h.
#pragma once

#include <mpi.h>

#include <string>
#include <string_view>
#include <vector>

#include "keyway/client/backend.h"
#include "keyway/kvstore/mpi/session_mpi.h"
#include "keyway/locks/fabric/mpi/mpi_fabric.h"

namespace keyway::client {

struct MpiBackend : FabricBackend<fabric::MpiFabric> {
  static bool serves(std::string_view uri) { return uri.starts_with("mpi:"); }
  static Result<MpiBackend> open(std::string_view, const Result<ParsedUri>& parsed) {
    return open_over(MPI_COMM_WORLD, parsed);
  }
  /// Collective over `comm`; the same answer on every process, also when only some of them got
  /// options that make sense (`parsed` may be a failure, of which the other processes must hear).
  static Result<MpiBackend> open_over(MPI_Comm comm, const Result<ParsedUri>& parsed);

  std::uint32_t process() const { return fabric->rank(); }
  std::uint32_t processes() const { return fabric->ranks(); }
  void barrier() { fabric->barrier(); }
  std::vector<std::string> gather(std::string_view bytes);
  std::vector<std::string> gather_everywhere(std::string_view bytes);
  void notify_all() { fabric->notify_all(); }
  bool notified() const { return fabric->notified(); }
  RankWaits rank_waits(std::uint32_t rank) const;
};

}  // namespace keyway::client
