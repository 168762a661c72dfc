// The bytes of a record: its fields one after the other, each in its own slot.
//
// A field of constant length fills its slot. A field of varying length is a 4-byte
// length, lowest byte first, and then as many bytes; the slot is as long as the longest
// field, and the rest is zeros. So every record of a workload has the same length,
// and writing one field overwrites a fixed range of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "keyway/locks/base/rng.h"
#include "keyway/workloads/length_chooser.h"
#include "keyway/workloads/measurements.h"
#include "keyway/workloads/spec.h"

namespace keyway::workloads {

/// The positions of the fields. Immutable value type.
class RecordLayout {
 public:
  explicit RecordLayout(const Spec& spec);

  std::uint64_t record_bytes() const { return slot_bytes_ * fields_; }
  std::uint64_t slot_bytes() const { return slot_bytes_; }
  std::uint64_t offset_of(std::uint32_t field) const { return slot_bytes_ * field; }
  std::uint32_t fields() const { return fields_; }
  /// Whether fields have a length in front.
  bool prefixed() const { return prefixed_; }

 private:
  std::uint32_t fields_;
  bool prefixed_;
  std::uint64_t slot_bytes_;
};

/// Random printable bytes that values are cut from, so that writing costs a store and no random
/// numbers. Share one between all threads.
std::shared_ptr<const std::string> make_value_pool(const RecordLayout& layout, std::uint64_t seed);
/// Offsets into the pool that leave room for a whole record: [0, kPoolOffsets).
inline constexpr std::uint32_t kPoolOffsets = 1 << 16;

/// YCSB's value of a field that follows from the key: "KEY:FIELD" and Java hash codes of the text
/// so far, cut to `bytes`. Appends to `out`.
void append_deterministic_value(std::string& out, std::string_view key, std::string_view field,
                                std::uint64_t bytes);

/// Makes and checks the values of one thread. Not thread-safe.
class Values {
 public:
  Values(const Spec& spec, std::shared_ptr<const std::string> pool, std::uint64_t seed);

  const RecordLayout& layout() const { return layout_; }
  /// A whole record; valid until the next call. `at` < kPoolOffsets picks random bytes.
  std::string_view record(std::string_view key, std::uint32_t at);
  /// The slot of one field; valid until the next call.
  std::string_view slot(std::string_view key, std::uint32_t field, std::uint32_t at);
  /// Whether a whole record, as read, is what dataintegrity=true wrote.
  Return verify_record(std::string_view key, std::string_view record);
  Return verify_slot(std::string_view key, std::uint32_t field, std::string_view slot);

 private:
  void append_slot(std::string_view key, std::uint32_t field, std::uint32_t at);

  RecordLayout layout_;
  LengthChooser lengths_;
  bool deterministic_;
  std::string prefix_;
  std::string field_name_;
  std::shared_ptr<const std::string> pool_;
  Rng rng_;
  std::string buffer_;
};

}  // namespace keyway::workloads
