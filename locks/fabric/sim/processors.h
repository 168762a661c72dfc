// Processors: the costs of the `cpu` class.
//
// *What.* A fixed time for every access on a distributed machine: there the network dominates the
// costs of locks.
// *Thread safety.* Plain data.
#pragma once

#include <cstdint>

#include "keyway/locks/fabric/sim/machine.h"
#include "keyway/locks/fabric/sim/operation.h"
#include "keyway/locks/fabric/sim/virtual_time.h"

namespace keyway::fabric::sim {

class Processors {
 public:
  explicit Processors(const Processor& cpu)
      : load_(picos(cpu.load_ns)),
        store_(picos(cpu.store_ns)),
        atomic_(picos(cpu.atomic_ns)),
        bytes_(cpu.ns_per_byte),
        poll_(picos(cpu.poll_ns)) {}

  /// An access begins now: when it takes effect.
  Picos access(const Operation& op, Picos now) const {
    if (!op.is_word()) return now + load_ + bytes_.of(op.bytes);
    if (op.reads_and_writes()) return now + atomic_;
    return now + (op.kind == OpKind::kLoad ? load_ : store_);
  }
  /// A word has changed now: when an agent that polls it has seen that.
  Picos notice(Picos now) const { return now + poll_; }
  /// The time between two polls of an agent that does not back off.
  Picos poll() const { return poll_; }

 private:
  Picos load_;
  Picos store_;
  Picos atomic_;
  ByteCost bytes_;
  Picos poll_;
};

}  // namespace keyway::fabric::sim
