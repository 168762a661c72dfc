// Whether one message for several reads takes less time than a message for each of them.
//
// *Why.* MPI gathers scattered bytes in one message if the target's processor does the work. Over
// TCP it does that for every read anyway; a card that reads memory by itself is quicker without. No
// call of MPI tells which it is, so it is tried when a fabric is opened.
// *Thread safety.* A function that is collective, inside MpiInterface::call.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "keyway/locks/fabric/mpi/mpi_memory.h"

namespace keyway::fabric {

/// The shortest times of some reads of a few bytes.
struct GatherTimes {
  std::uint64_t each_ns = 0;      // a message for each
  std::uint64_t together_ns = 0;  // one message
};
/// Half as long at most. In the trial the target is always inside MPI, and answers at once; a card
/// needs no answer at other times, either.
constexpr bool gather_pays(const GatherTimes& times) {
  return times.together_ns < times.each_ns / 2;
}

/// Times small reads of a rank on another host; false if there is none: ranks of one host read
/// without messages. Each rank finds out for itself. Not with Open MPI.
bool gathers_pay(MPI_Comm comm, const MpiMemory& memory);

}  // namespace keyway::fabric
