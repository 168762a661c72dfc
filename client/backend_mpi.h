// The store over MPI: `mpi:`. Internal, but for client/mpi.h.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "keyway/client/backend.h"
#include "keyway/kvstore/mpi/session_mpi.h"
#include "keyway/locks/fabric/mpi/mpi_fabric.h"

namespace keyway::client {

/// Collective over `comm`; the same answer on every process, also when only some of them got
/// options that make sense (`parsed` may be a failure).
Result<Backend<fabric::MpiFabric>> open_mpi(MPI_Comm comm, const Result<ParsedUri>& parsed);

inline std::uint32_t process_of(const fabric::MpiFabric& fabric) { return fabric.rank(); }
inline std::uint32_t processes_of(const fabric::MpiFabric& fabric) { return fabric.ranks(); }
inline void barrier(fabric::MpiFabric& fabric) { fabric.barrier(); }
std::vector<std::string> gather(fabric::MpiFabric& fabric, std::string_view bytes);
std::vector<std::string> gather_everywhere(fabric::MpiFabric& fabric, std::string_view bytes);
inline void notify_all(fabric::MpiFabric& fabric) { fabric.notify_all(); }
inline bool notified(const fabric::MpiFabric& fabric) { return fabric.notified(); }

}  // namespace keyway::client
