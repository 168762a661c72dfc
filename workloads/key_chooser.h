// Chooses the record of an operation.
//
// Records are numbered from 0 in order of arrival: first the loaded records, then those inserted in
// the run. The caller passes the present number of records, and a chooser never returns a later
// one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "keyway/locks/base/rng.h"
#include "keyway/workloads/spec.h"

namespace keyway::workloads {

/// One per thread; not thread-safe.
class KeyChooser {
 public:
  virtual ~KeyChooser() = default;
  /// A record in [0, records). records > 0, and it never falls from call to call.
  virtual std::uint64_t next(Rng& rng, std::uint64_t records) = 0;
};

/// State that the choosers of all threads of a rank share: the position of the sequential
/// distribution.
struct ChooserShared {
  std::atomic<std::uint64_t> sequence{0};
};

/// Makes the chooser for `spec`, over spec.insert_count loaded records. `expected_operations` (0:
/// unknown) bounds how many records the run may add: the scrambled zipfian's key space must not
/// grow, or popularity would move from record to record.
std::unique_ptr<KeyChooser> make_key_chooser(const Spec& spec, std::uint64_t expected_operations,
                                             ChooserShared& shared);

}  // namespace keyway::workloads
