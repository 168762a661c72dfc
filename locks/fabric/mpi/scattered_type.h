// ScatteredType: MPI's datatype of bytes at several places of a rank's segment.
//
// *Thread safety.* None; set() and free() call MPI.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "keyway/locks/fabric/address.h"
#include "keyway/locks/fabric/gather.h"
#include "keyway/locks/fabric/mpi/mpi_window.h"

namespace keyway::fabric {

class ScatteredType {
 public:
  /// Makes the datatype of these parts, for displacement 0 of the window. Returns MPI's error code.
  int set(const MpiWindow& window, std::uint32_t rank, std::span<const Part> parts) {
    lengths_.clear();
    places_.clear();
    for (const Part& part : parts) {
      lengths_.push_back(static_cast<int>(part.bytes));
      places_.push_back(window.displacement(Address(rank, part.offset)));
    }
    const int code = MPI_Type_create_hindexed(static_cast<int>(parts.size()), lengths_.data(),
                                              places_.data(), MPI_BYTE, &handle_);
    return code != MPI_SUCCESS ? code : MPI_Type_commit(&handle_);  // an error ends the job
  }
  MPI_Datatype handle() const { return handle_; }
  /// Operations that were posted with it are not affected.
  int free() { return MPI_Type_free(&handle_); }

 private:
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;
  std::vector<int> lengths_;  // these keep their memory
  std::vector<MPI_Aint> places_;
};

}  // namespace keyway::fabric
