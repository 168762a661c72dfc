#include "keyway/locks/fabric/mpi/joined_message.h"

#include <algorithm>
#include <cstring>

#include "keyway/locks/base/check.h"
#include "keyway/locks/base/reserve_more.h"

namespace keyway::fabric {

MPI_Op mpi_op(WordOp op) {
  switch (op) {
    case WordOp::kLoad: return MPI_NO_OP;
    case WordOp::kStore: return MPI_REPLACE;
    case WordOp::kAdd: return MPI_SUM;
    case WordOp::kOr: return MPI_BOR;
  }
  return MPI_OP_NULL;
}

void JoinedMessage::begin(WordOp op, Unit unit) {
  op_ = op;
  unit_ = unit;
  bytes_ = 0;
  edges_ = 0;
  operations_.clear();
  parts_.clear();
  operands_.clear();
  results_.clear();
}

bool JoinedMessage::overlaps(std::uint64_t offset, std::uint64_t bytes) const {
  return std::any_of(operations_.begin(), operations_.end(), [&](const Operation& operation) {
    return operation.what.overlaps(offset, bytes);
  });
}

bool JoinedMessage::takes(const HeldOperation& operation) const {
  const bool may_share = unit_ == Unit::kWord || op_ == WordOp::kLoad;
  return std::all_of(operations_.begin(), operations_.end(), [&](const Operation& other) {
    return !other.what.overlaps(operation.offset, operation.bytes) ||
           (may_share && other.what.is_at(operation));
  });
}

/// The last operation with the same part.
const JoinedMessage::Operation* JoinedMessage::last_at(const HeldOperation& operation) const {
  const auto found =
      std::find_if(operations_.rbegin(), operations_.rend(),
                   [&](const Operation& other) { return other.what.is_at(operation); });
  return found == operations_.rend() ? nullptr : &*found;
}

/// The operand that has the effect of two, one after the other.
std::uint64_t JoinedMessage::combined(std::uint64_t first, std::uint64_t second) const {
  switch (op_) {
    case WordOp::kLoad: return 0;
    case WordOp::kStore: return second;
    case WordOp::kAdd: return first + second;
    case WordOp::kOr: return first | second;
  }
  return 0;
}

/// The same for an operation on a word and all before it.
std::uint64_t JoinedMessage::operand_of(const Operation& operation) const {
  if (op_ == WordOp::kLoad) return 0;
  std::uint64_t own = 0;
  std::memcpy(&own, operation.what.in, sizeof own);
  return operation.follows ? combined(operation.operand, own) : own;
}

void JoinedMessage::add(const HeldOperation& operation) {
  KW_DCHECK(operation.op == op_ && operation.unit == unit_);
  KW_DCHECK(has_room(operation.bytes) && takes(operation));
  // J2: all memory first.
  reserve_more(operations_, 1);
  reserve_more(parts_, 1);
  const bool has_operands = op_ != WordOp::kLoad;
  if (has_operands) reserve_more(operands_, operation.bytes);
  if (has_results()) reserve_more(results_, operation.bytes);

  Operation added{.what = operation};
  const Operation* const last = last_at(operation);
  if (last != nullptr) {
    added.at = last->at;
    added.follows = op_ != WordOp::kLoad;
    added.operand = operand_of(*last);
  } else {
    added.at = bytes_;
    parts_.push_back({operation.offset, operation.bytes});
    bytes_ += operation.bytes;
    if (has_operands) operands_.resize(bytes_);
    if (has_results()) results_.resize(bytes_);
  }
  if (unit_ == Unit::kWord && has_operands) {
    const std::uint64_t operand = operand_of(added);
    std::memcpy(operands_.data() + added.at, &operand, sizeof operand);
  } else if (has_operands) {
    std::memcpy(operands_.data() + added.at, operation.in, operation.bytes);
  }
  operations_.push_back(added);
  if (operation.is_edge) ++edges_;
}

void JoinedMessage::hand_out() {
  if (!has_results()) return;
  for (const Operation& operation : operations_) {
    const std::byte* const from = results_.data() + operation.at;
    if (!operation.follows) {
      std::memcpy(operation.what.out, from, operation.what.bytes);
      continue;
    }
    std::uint64_t found = 0;
    std::memcpy(&found, from, sizeof found);
    found = combined(found, operation.operand);
    std::memcpy(operation.what.out, &found, sizeof found);
  }
}

}  // namespace keyway::fabric
