#include "keyway/workloads/op_stream.h"

#include "keyway/workloads/key_name.h"
#include "keyway/workloads/record.h"

namespace keyway::workloads {
namespace {

/// How often a key is drawn again before any owner will do: a skewed workload may have hardly a
/// key of the wanted owner.
constexpr int kLocalityDraws = 10000;

Op make_op(OpKind kind, const OpBlock& block, std::size_t key_at, Rng& rng) {
  Op op;
  op.kind_bits = static_cast<std::uint8_t>(kind);
  op.key_at = static_cast<std::uint32_t>(key_at);
  op.key_bytes = static_cast<std::uint32_t>(block.keys.size() - key_at);
  op.value_at = static_cast<std::uint32_t>(rng.below(kPoolOffsets)) & 0xffffff;
  return op;
}

}  // namespace

std::size_t RecordStream::append(OpBlock& block, std::size_t wanted) {
  std::size_t made = 0;
  for (; made < wanted && next_ < end_; ++made, ++next_) {
    const std::size_t key_at = block.keys.size();
    append_key(block.keys, next_, keys_);
    block.ops.push_back(make_op(kind_, block, key_at, rng_));
  }
  return made;
}

RunStream::RunStream(const Spec& spec, Place place, std::uint64_t expected_operations,
                     RunShared& shared, const Locality* locality, std::uint64_t seed)
    : spec_(spec),
      place_(place),
      shared_(shared),
      locality_(locality),
      rng_(seed),
      mix_(spec.mix),
      chooser_(make_key_chooser(spec, expected_operations, shared.chooser)),
      scan_length_(spec.scan_length) {}

std::size_t RunStream::append(OpBlock& block, std::size_t wanted) {
  for (std::size_t made = 0; made < wanted; ++made) {
    const auto kind = insert_pending_ ? OpKind::kInsert : static_cast<OpKind>(mix_.next(rng_));
    if (kind != OpKind::kInsert) {
      append_other(block, kind);
    } else if (!append_insert(block)) {
      insert_pending_ = true;
      return made;
    }
    insert_pending_ = false;
  }
  return wanted;
}

std::uint64_t RunStream::number_of(std::uint64_t record) const {
  if (record < spec_.insert_count) return spec_.insert_start + record;
  return spec_.record_count + (record - spec_.insert_count) * place_.ranks + place_.rank;
}

bool RunStream::append_insert(OpBlock& block) {
  const auto insert = shared_.inserts.take();
  if (!insert) return false;
  const std::size_t key_at = block.keys.size();
  append_key(block.keys, number_of(spec_.insert_count + *insert), spec_.keys);
  Op op = make_op(OpKind::kInsert, block, key_at, rng_);
  op.insert = *insert;
  block.ops.push_back(op);
  return true;
}

void RunStream::append_other(OpBlock& block, OpKind kind) {
  const std::size_t key_at = block.keys.size();
  append_chosen_key(block, spec_.insert_count + shared_.inserts.readable());
  Op op = make_op(kind, block, key_at, rng_);
  op.argument = static_cast<std::uint32_t>(kind == OpKind::kScan ? scan_length_.next(rng_)
                                                                 : rng_.below(spec_.field_count));
  block.ops.push_back(op);
}

void RunStream::append_chosen_key(OpBlock& block, std::uint64_t records) {
  const std::size_t key_at = block.keys.size();
  const bool local = locality_ != nullptr && rng_.unit() < locality_->fraction;
  for (int draw = 0;; ++draw) {
    append_key(block.keys, number_of(chooser_->next(rng_, records)), spec_.keys);
    if (locality_ == nullptr || draw == kLocalityDraws) return;
    const std::string_view key(block.keys.data() + key_at, block.keys.size() - key_at);
    if ((locality_->owner_of(key) == locality_->rank) == local) return;
    block.keys.resize(key_at);
  }
}

}  // namespace keyway::workloads
