// JoinedMessage: operations of one kind on one rank that travel as one message.
//
// *What.* Collects operations, has the bytes that MPI sends and receives for all of them, and hands
// each its result. Operations on one word take one part of the message and take effect one right
// after the other: what a later one finds follows from what the first one has found. Reads of the
// same bytes take one part, too.
// *Thread safety.* One agent's.
// *Invariants.*
//   J1  Parts of a message do not overlap: MPI wants that of what an accumulate changes.
//   J2  An operation that was added needs no further memory, neither to be sent nor for its result.
// *Source.* Ours; docs/decisions/033 has the measurements.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "keyway/locks/fabric/gather.h"

namespace keyway::fabric {

/// The operations on a word, all of them MPI_Fetch_and_op: its MPI_NO_OP and MPI_REPLACE are the
/// only word loads and stores that are atomic with the rest. The first two exist for bytes as well.
enum class WordOp : std::uint8_t { kLoad, kStore, kAdd, kOr };
/// MPI's name for it.
MPI_Op mpi_op(WordOp op);

/// Parts and bytes of one message. Fewer parts are sent singly, which takes as long. MPICH sends
/// the places in the message's header, up to 16 B each, for which InfiniBand has 4 KB. And longer
/// messages take longer than single reads (64 KiB: half as long; 512 KiB: four times, between two
/// network namespaces).
inline constexpr std::size_t kMinGathered = 3;
inline constexpr std::size_t kMaxGathered = 128;
inline constexpr std::uint64_t kMaxGatheredBytes = 64 << 10;

/// An operation is on one word, and atomic; on any bytes, each of them by itself for another
/// processor; or on bytes that are aligned words, for others each a whole.
enum class Unit : std::uint8_t { kWord, kBytes, kWords };

/// An operation that has not been sent. Loads and stores have all units but a load of kWords.
struct HeldOperation {
  WordOp op = WordOp::kLoad;
  Unit unit = Unit::kWord;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  const std::byte* in = nullptr;  // the operand, or the bytes to write; kLoad: none
  void* out = nullptr;            // what was there before; a write of bytes: none

  // A write is held as its words, and the bytes before and behind them. Alone it leaves whole.
  std::uint8_t before = 0;  // kWords: bytes of the write before them, and behind
  std::uint8_t behind = 0;
  bool is_edge = false;  // kBytes: of a write that has held words, too

  bool is_load() const { return op == WordOp::kLoad; }
  bool is_at(const HeldOperation& other) const {
    return offset == other.offset && bytes == other.bytes;
  }
  bool overlaps(std::uint64_t other, std::uint64_t other_bytes) const {
    return offset < other + other_bytes && other < offset + bytes;
  }
};

class JoinedMessage {
 public:
  /// Several operations may share a part.
  static constexpr std::size_t kMaxOperations = 2 * kMaxGathered;

  /// Empties it; from now on it has operations of this kind.
  void begin(WordOp op, Unit unit);
  /// For more operations, of this many bytes each.
  bool has_room(std::uint64_t bytes, std::size_t more = 1) const {
    return operations_.size() + more <= kMaxOperations && parts_.size() + more <= kMaxGathered &&
           bytes_ + bytes * more <= kMaxGatheredBytes;
  }
  /// Whether the operation, which is of the kind, can be one of the message (J1).
  bool takes(const HeldOperation& operation) const;
  /// There is room for the operation, and the message takes it. Copies what is to be written.
  void add(const HeldOperation& operation);
  std::size_t size() const { return operations_.size(); }
  const HeldOperation& operation(std::size_t i) const { return operations_[i].what; }
  bool overlaps(std::uint64_t offset, std::uint64_t bytes) const;

  // --- as a message
  /// Else its operations are sent singly. Edges count only if the words of their writes leave as a
  /// message, too.
  bool pays(bool edges_count = true) const {
    const std::size_t counted = size() - (edges_count ? 0 : edges_);
    return counted >= kMinGathered || size() > parts_.size();
  }
  WordOp op() const { return op_; }
  Unit unit() const { return unit_; }
  bool has_results() const { return unit_ == Unit::kWord || op_ == WordOp::kLoad; }
  std::span<const Part> parts() const { return parts_; }
  std::uint64_t bytes() const { return bytes_; }
  const std::byte* operands() const { return operands_.data(); }
  std::byte* results() { return results_.data(); }
  MPI_Request& request() { return request_; }

  // --- afterwards
  /// MPI has completed the request: each operation gets its result.
  void hand_out();
  /// The memory of its buffers.
  std::size_t memory() const { return operands_.capacity() + results_.capacity(); }

 private:
  struct Operation {
    HeldOperation what;
    std::uint64_t at = 0;       // its part begins there in operands_ and results_
    bool follows = false;       // other operations on the word come before it
    std::uint64_t operand = 0;  // of these together
  };

  const Operation* last_at(const HeldOperation& operation) const;
  std::uint64_t combined(std::uint64_t first, std::uint64_t second) const;
  std::uint64_t operand_of(const Operation& operation) const;

  WordOp op_ = WordOp::kLoad;
  Unit unit_ = Unit::kWord;
  std::uint64_t bytes_ = 0;
  std::size_t edges_ = 0;  // of the operations
  std::vector<Operation> operations_;
  std::vector<Part> parts_;
  std::vector<std::byte> operands_;  // none for loads
  std::vector<std::byte> results_;   // none for writes of bytes
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace keyway::fabric
