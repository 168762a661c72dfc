// Agreement of a job's ranks: a failure on one rank is an error on all ranks, with the same
// sentence, so that no rank waits for one that has given up.
//
// *Thread safety.* Collective over the communicator; the caller may enter MPI (MpiInterface::call).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "keyway/locks/base/status.h"

namespace keyway::fabric {

/// OK on every rank if `local` is OK on every rank; else, on all ranks, the failure of the lowest
/// rank that has one, with its number unless all failed.
Status agree(MPI_Comm comm, const Status& local);

/// An option that must be the same on all ranks. A text is compared by its hash.
struct AgreedOption {
  std::string_view name;
  std::uint64_t value = 0;
  bool is_text = false;

  static AgreedOption number(std::string_view name, std::uint64_t value) { return {name, value}; }
  static AgreedOption text(std::string_view name, std::string_view text);
};
/// Fails on every rank, with the name of the first option that differs.
Status agree_on(MPI_Comm comm, std::span<const AgreedOption> options);

}  // namespace keyway::fabric
