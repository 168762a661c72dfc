// ScatteredType: MPI's datatype of bytes, or of words, at several places of a rank's segment.
//
// *Thread safety.* None; set() and free() call MPI.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "keyway/locks/fabric/address.h"
#include "keyway/locks/fabric/gather.h"
#include "keyway/locks/fabric/mpi/joined_message.h"
#include "keyway/locks/fabric/mpi/mpi_window.h"

namespace keyway::fabric {

class ScatteredType {
 public:
  ScatteredType() {
    lengths_.reserve(kMaxGathered);
    places_.reserve(kMaxGathered);
  }

  /// Makes the datatype of these parts, kMaxGathered at most, for displacement 0 of the window.
  /// They consist of `unit`: MPI_BYTE, or MPI_UINT64_T. Returns MPI's error code.
  int set(const MpiWindow& window, std::uint32_t rank, std::span<const Part> parts,
          MPI_Datatype unit) {
    lengths_.clear();
    places_.clear();
    const std::uint64_t unit_bytes = unit == MPI_BYTE ? 1 : sizeof(std::uint64_t);
    for (const Part& part : parts) {
      lengths_.push_back(static_cast<int>(part.bytes / unit_bytes));
      places_.push_back(window.displacement(Address(rank, part.offset)));
    }
    const int code = MPI_Type_create_hindexed(static_cast<int>(parts.size()), lengths_.data(),
                                              places_.data(), unit, &handle_);
    return code != MPI_SUCCESS ? code : MPI_Type_commit(&handle_);  // an error ends the job
  }
  MPI_Datatype handle() const { return handle_; }
  /// Operations that were posted with it are not affected.
  int free() { return MPI_Type_free(&handle_); }

 private:
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;
  std::vector<int> lengths_;  // set() allocates nothing
  std::vector<MPI_Aint> places_;
};

}  // namespace keyway::fabric
