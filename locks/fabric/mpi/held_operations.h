// HeldOperations: operations that an agent has posted and not sent, until they leave together.
//
// *What.* Bodies that overlap (overlap.h) post a few operations each before they wait together, and
// so does post_together() (gather.h). Those of one kind on one rank are collected as one message. A
// compare-and-swap has none of its kind that MPI could join.
// *Thread safety.* One agent's.
// *Invariants.*
//   HO1  Of the operations held on one rank, those that overlap are loads, or of the same kind on
//        the same word, in their order in its message. So the messages may leave in any order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "keyway/locks/fabric/mpi/joined_message.h"

namespace keyway::fabric {

class HeldOperations {
 public:
  /// Messages of different kinds that one rank may have.
  static constexpr std::size_t kKinds = 7;
  /// Longer reads and writes gain nothing by waiting for others.
  static constexpr std::uint64_t kMaxBytes = 8 << 10;

  explicit HeldOperations(std::size_t ranks) : of_rank_(ranks) { ranks_.reserve(ranks); }

  bool any() const { return !ranks_.empty(); }
  /// The ranks that they are on.
  std::span<const std::uint32_t> ranks() const { return ranks_; }
  /// Whether an operation on these bytes, which is not held, must come after some that are.
  bool overlaps(std::uint32_t rank, std::uint64_t offset, std::uint64_t bytes) const;
  /// Whether those on the rank must leave before this one can be added.
  bool must_leave(std::uint32_t rank, const HeldOperation& operation) const;
  /// Holds it. Without memory for it, nothing has happened.
  void add(std::uint32_t rank, const HeldOperation& operation);
  /// Whether words that are to be written on the rank leave as one message; else their writes leave
  /// whole, and their edges need not.
  bool joins_words(std::uint32_t rank) const {
    const auto& words = of_rank_[rank][kWordsWritten];
    return words != nullptr && words->pays();
  }
  /// Whether there is room for all parts of a write, some of which may be empty.
  bool has_room(std::uint32_t rank, std::span<const HeldOperation> parts) const;
  /// Those on a rank, as messages, for send(message).
  template <class Send>
  void take(std::uint32_t rank, Send&& send) {
    std::erase(ranks_, rank);
    for (auto& message : of_rank_[rank]) {
      if (message != nullptr) send(std::move(message));
    }
  }
  /// Forgets reads of bytes: the buffers that they were to fill are gone.
  void drop_reads();
  /// A message that is no longer needed.
  void give_back(std::unique_ptr<JoinedMessage> message);

 private:
  /// Bounds the memory of an agent that had many messages under way once.
  static constexpr std::size_t kMaxIdle = 8;
  static constexpr std::size_t kMaxIdleBytes = 32 << 10;
  using Messages = std::array<std::unique_ptr<JoinedMessage>, kKinds>;

  /// The four operations on a word, reads and writes of bytes, and writes of words.
  static std::size_t kind_of(const HeldOperation& operation) {
    const auto op = static_cast<std::size_t>(operation.op);
    if (operation.unit == Unit::kWords) return kWordsWritten;
    return op + (operation.unit == Unit::kBytes ? 4 : 0);
  }
  static constexpr std::size_t kWordsWritten = 6;

  std::vector<Messages> of_rank_;
  std::vector<std::uint32_t> ranks_;
  std::array<std::unique_ptr<JoinedMessage>, kMaxIdle> idle_;
  std::size_t idle_count_ = 0;
};

}  // namespace keyway::fabric
