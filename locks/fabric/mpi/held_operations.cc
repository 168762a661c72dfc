#include "keyway/locks/fabric/mpi/held_operations.h"

#include <algorithm>

#include "keyway/locks/base/check.h"

namespace keyway::fabric {

bool HeldOperations::overlaps(std::uint32_t rank, std::uint64_t offset, std::uint64_t bytes) const {
  const Messages& messages = of_rank_[rank];
  return std::any_of(messages.begin(), messages.end(), [&](const auto& message) {
    return message != nullptr && message->overlaps(offset, bytes);
  });
}

bool HeldOperations::has_room(std::uint32_t rank, std::span<const HeldOperation> parts) const {
  return std::all_of(parts.begin(), parts.end(), [&](const HeldOperation& part) {
    const auto& message = of_rank_[rank][kind_of(part)];
    return message == nullptr || message->has_room(part.bytes, parts.size());
  });
}

/// HO1, and there is an end to what a message can hold.
bool HeldOperations::must_leave(std::uint32_t rank, const HeldOperation& operation) const {
  const Messages& messages = of_rank_[rank];
  const auto& own = messages[kind_of(operation)];
  if (own != nullptr && !own->has_room(operation.bytes)) return true;
  return std::any_of(messages.begin(), messages.end(), [&](const auto& message) {
    if (message == nullptr || !message->overlaps(operation.offset, operation.bytes)) return false;
    if (message == own) return !message->takes(operation);
    return message->op() != WordOp::kLoad || !operation.is_load();
  });
}

void HeldOperations::add(std::uint32_t rank, const HeldOperation& operation) {
  auto& message = of_rank_[rank][kind_of(operation)];
  const bool is_new = message == nullptr;
  if (is_new) {
    auto made =
        idle_count_ > 0 ? std::move(idle_[--idle_count_]) : std::make_unique<JoinedMessage>();
    made->begin(operation.op, operation.unit);
    made->add(operation);
    message = std::move(made);
  } else {
    message->add(operation);
  }
  if (std::find(ranks_.begin(), ranks_.end(), rank) == ranks_.end()) ranks_.push_back(rank);
}

void HeldOperations::drop_reads() {
  for (const std::uint32_t rank : ranks_) {
    auto& reads = of_rank_[rank][kind_of({.op = WordOp::kLoad, .unit = Unit::kBytes})];
    if (reads != nullptr) give_back(std::move(reads));
  }
}

void HeldOperations::give_back(std::unique_ptr<JoinedMessage> message) {
  KW_DCHECK(message->request() == MPI_REQUEST_NULL);
  if (idle_count_ == kMaxIdle || message->memory() > kMaxIdleBytes) return;
  idle_[idle_count_++] = std::move(message);
}

}  // namespace keyway::fabric
