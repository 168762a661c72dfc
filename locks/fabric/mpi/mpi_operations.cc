// MpiInterface: the operations that it starts.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "keyway/locks/fabric/mpi/mpi_interface.h"
#include "keyway/locks/fabric/mpi/mpi_library.h"

namespace keyway::fabric {

void MpiInterface::post_word(const MpiWindow& window, WordOp op, Address a,
                             const std::uint64_t* operand, std::uint64_t* result) {
  const MutexLock guard(mutex_);
  count_entry();
  start(window, op, a, operand, result);
}

void MpiInterface::start(const MpiWindow& window, WordOp op, Address a,
                         const std::uint64_t* operand, std::uint64_t* result) {
  check(MPI_Fetch_and_op(operand, result, MPI_UINT64_T, static_cast<int>(a.rank()),
                         window.displacement(a), mpi_op(op), window.handle),
        "MPI_Fetch_and_op", a.rank(), a.offset());
}

void MpiInterface::post_compare_swap(const MpiWindow& window, Address a,
                                     const std::uint64_t* expected, const std::uint64_t* desired,
                                     std::uint64_t* result) {
  const MutexLock guard(mutex_);
  count_entry();
  check(MPI_Compare_and_swap(desired, expected, result, MPI_UINT64_T, static_cast<int>(a.rank()),
                             window.displacement(a), window.handle),
        "MPI_Compare_and_swap", a.rank(), a.offset());
}

namespace {

// MPI counts are ints; larger transfers are split into pieces of this size.
constexpr std::uint64_t kMaxBytesPerCall = 1u << 30;

template <class Transfer>
void in_pieces(Address a, std::uint64_t bytes, Transfer&& transfer) {
  for (std::uint64_t done = 0; done < bytes; done += kMaxBytesPerCall) {
    transfer(a + done, done, static_cast<int>(std::min(kMaxBytesPerCall, bytes - done)));
  }
}

}  // namespace

void MpiInterface::post_get(const MpiWindow& window, Address a, void* out, std::uint64_t bytes,
                            InFlight& in_flight) {
  const MutexLock guard(mutex_);
  count_entry();
  in_pieces(a, bytes, [&](Address at, std::uint64_t done, int count) {
    auto* const to = static_cast<std::byte*>(out) + done;
    const int rank = static_cast<int>(at.rank());
    if constexpr (kOpenMpi) {
      check(MPI_Get(to, count, MPI_BYTE, rank, window.displacement(at), count, MPI_BYTE,
                    window.handle),
            "MPI_Get", at.rank(), at.offset());
    } else {
      check(MPI_Rget(to, count, MPI_BYTE, rank, window.displacement(at), count, MPI_BYTE,
                     window.handle, &in_flight.requests.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Rget", at.rank(), at.offset());
    }
  });
}

/// Calls post(type) with the datatype of these parts, which consist of `unit`.
template <class Post>
void MpiInterface::with_places(const MpiWindow& window, std::uint32_t rank,
                               std::span<const Part> parts, MPI_Datatype unit, Post&& post) {
  const std::uint64_t first = parts.front().offset;
  check(scattered_.set(window, rank, parts, unit), "MPI_Type_create_hindexed", rank, first);
  post(scattered_.handle());
  check(scattered_.free(), "MPI_Type_free", rank, first);
}

// A request of MPI_Rget for scattered bytes is complete before they have come (measured; MPICH's
// UCX device makes them an MPI_Get, and hands out a request of nothing: pmodels/mpich issue 7896).
// One of MPI_Rget_accumulate is not.
void MpiInterface::post_gather(const MpiWindow& window, std::uint32_t rank,
                               std::span<const Part> parts, void* out, std::uint64_t bytes,
                               InFlight& in_flight) {
  const MutexLock guard(mutex_);
  count_entry();
  // Before the datatype is made: it may throw. A null request that is left is complete.
  MPI_Request& request = in_flight.requests.emplace_back(MPI_REQUEST_NULL);
  with_places(window, rank, parts, MPI_BYTE, [&](MPI_Datatype places) {
    check(MPI_Rget_accumulate(nullptr, 0, MPI_BYTE, out, static_cast<int>(bytes), MPI_BYTE,
                              static_cast<int>(rank), 0, 1, places, MPI_NO_OP, window.handle,
                              &request),
          "MPI_Rget_accumulate", rank, parts.front().offset);
  });
}

// As post_gather(). Words are named as such, so that the target's processor reads and writes each
// of them at once: scattered bytes it moves one by one.
void MpiInterface::post_joined(const MpiWindow& window, std::uint32_t rank,
                               JoinedMessage& message) {
  const MutexLock guard(mutex_);
  count_entry();
  const bool words = message.unit() != Unit::kBytes;
  const MPI_Datatype unit = words ? MPI_UINT64_T : MPI_BYTE;
  const auto count =
      static_cast<int>(words ? message.bytes() / sizeof(std::uint64_t) : message.bytes());
  const int operands = message.op() == WordOp::kLoad ? 0 : count;
  const int target = static_cast<int>(rank);
  const std::uint64_t first = message.parts().front().offset;
  with_places(window, rank, message.parts(), unit, [&](MPI_Datatype places) {
    if (message.has_results()) {
      check(MPI_Rget_accumulate(message.operands(), operands, unit, message.results(), count, unit,
                                target, 0, 1, places, mpi_op(message.op()), window.handle,
                                &message.request()),
            "MPI_Rget_accumulate", rank, first);
    } else {
      check(MPI_Raccumulate(message.operands(), operands, unit, target, 0, 1, places,
                            mpi_op(message.op()), window.handle, &message.request()),
            "MPI_Raccumulate", rank, first);
    }
  });
}

void MpiInterface::post_put(const MpiWindow& window, Address a, const void* in, std::uint64_t bytes,
                            InFlight& in_flight) {
  const MutexLock guard(mutex_);
  count_entry();
  if (in_flight.requests.size() >= in_flight.reap_at) reap(a.rank(), in_flight);
  in_pieces(a, bytes, [&](Address at, std::uint64_t done, int count) {
    const auto* const from = static_cast<const std::byte*>(in) + done;
    const int rank = static_cast<int>(at.rank());
    if constexpr (kOpenMpi) {
      check(MPI_Put(from, count, MPI_BYTE, rank, window.displacement(at), count, MPI_BYTE,
                    window.handle),
            "MPI_Put", at.rank(), at.offset());
    } else {
      // Its target answers when it has replaced the bytes, and then the request is complete.
      check(MPI_Raccumulate(from, count, MPI_BYTE, rank, window.displacement(at), count, MPI_BYTE,
                            MPI_REPLACE, window.handle,
                            &in_flight.requests.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Raccumulate", at.rank(), at.offset());
    }
  });
}

}  // namespace keyway::fabric
