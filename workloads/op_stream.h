// The operations of one thread, made in blocks so that a worker can have them all
// before its clock starts.
//
// A block holds the key names, byte for byte, beside the operations, so that a store receives a
// finished std::string_view. Workloads that insert are the exception: their reads depend on the
// inserts before, so their worker requests one operation at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/locks/base/rng.h"
#include "keyway/workloads/discrete.h"
#include "keyway/workloads/insert_counter.h"
#include "keyway/workloads/key_chooser.h"
#include "keyway/workloads/length_chooser.h"
#include "keyway/workloads/spec.h"

namespace keyway::workloads {

struct Op {
  std::uint64_t insert = 0;  // kInsert of a run: the number from InsertCounter
  std::uint32_t key_at = 0;
  std::uint32_t key_bytes = 0;
  std::uint32_t argument = 0;  // kScan: records wanted; otherwise a field
  std::uint32_t value_at : 24 = 0;
  std::uint32_t kind_bits : 8 = 0;

  OpKind kind() const { return static_cast<OpKind>(kind_bits); }
};
static_assert(sizeof(Op) == 24);

struct OpBlock {
  static constexpr std::size_t kMaxOps = 32768;  // so that Op::key_at suffices for any key length

  std::vector<Op> ops;
  std::string keys;

  std::string_view key(const Op& op) const { return {keys.data() + op.key_at, op.key_bytes}; }
  std::size_t bytes() const { return ops.capacity() * sizeof(Op) + keys.capacity(); }
  void clear() {
    ops.clear();
    keys.clear();
  }
};

/// The ownership of keys: `fraction` of the operations use keys that `rank` itself owns.
struct Locality {
  double fraction = 1;
  std::uint32_t rank = 0;
  std::function<std::uint32_t(std::string_view key)> owner_of;
};

/// The place of a rank in its job.
struct Place {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
};

/// State that all threads of a rank share during a run.
struct RunShared {
  InsertCounter inserts;
  ChooserShared chooser;
};

/// One per thread; not thread-safe.
class OpStream {
 public:
  virtual ~OpStream() = default;
  /// Appends up to `wanted` operations and says how many; 0 after the last record, or when an
  /// insert must wait for others' inserts to be acknowledged (see InsertCounter::take()).
  virtual std::size_t append(OpBlock& block, std::size_t wanted) = 0;
};

/// An operation of this kind on each of the records [begin, end), counted from spec.insert_start.
class RecordStream final : public OpStream {
 public:
  RecordStream(const Spec& spec, OpKind kind, std::uint64_t begin, std::uint64_t end,
               std::uint64_t seed)
      : keys_(spec.keys),
        kind_(kind),
        next_(spec.insert_start + begin),
        end_(spec.insert_start + end),
        rng_(seed) {}
  std::size_t append(OpBlock& block, std::size_t wanted) override;

 private:
  KeyStyle keys_;
  OpKind kind_;
  std::uint64_t next_;
  std::uint64_t end_;
  Rng rng_;
};

/// The endless mix of operations of a run. Records inserted by different ranks have different
/// numbers, and a rank reads what was loaded and what it inserted itself.
class RunStream final : public OpStream {
 public:
  /// `expected_operations`: for the whole rank, 0 if unknown. `locality` may be null; it and
  /// `shared` must outlive the stream.
  RunStream(const Spec& spec, Place place, std::uint64_t expected_operations, RunShared& shared,
            const Locality* locality, std::uint64_t seed);
  std::size_t append(OpBlock& block, std::size_t wanted) override;

 private:
  bool append_insert(OpBlock& block);
  void append_other(OpBlock& block, OpKind kind);
  void append_chosen_key(OpBlock& block, std::uint64_t records);
  std::uint64_t number_of(std::uint64_t record) const;

  const Spec spec_;
  Place place_;
  RunShared& shared_;
  const Locality* locality_;
  Rng rng_;
  Discrete<kOpKinds> mix_;
  std::unique_ptr<KeyChooser> chooser_;
  LengthChooser scan_length_;
  bool insert_pending_ = false;  // an insert was drawn and could not be taken yet
};

}  // namespace keyway::workloads
