// Processors: what the `cpu` class costs.
//
// *What.* The engine asks when an access has happened, and when an agent that waits for a word has
// seen a change of it. On a distributed machine both take a fixed time; a machine with caches
// answers by where the line is, and queues accesses to it.
// *Thread safety.* None.
#pragma once

#include <cstdint>

#include "keyway/locks/fabric/sim/machine.h"
#include "keyway/locks/fabric/sim/operation.h"
#include "keyway/locks/fabric/sim/virtual_time.h"

namespace keyway::fabric::sim {

class Processors {
 public:
  virtual ~Processors() = default;

  /// An agent begins an access now: when it takes effect. Called once for each, in order of time.
  virtual Picos access(std::uint32_t agent, const Operation& op, Picos now) = 0;
  /// The word that an agent waits for has changed now: when the agent has seen it.
  virtual Picos notice(std::uint32_t agent, Address word, Picos now) = 0;
};

/// Fixed costs, whoever accesses what.
class FlatProcessors final : public Processors {
 public:
  explicit FlatProcessors(const Processor& cpu)
      : load_(picos(cpu.load_ns)),
        store_(picos(cpu.store_ns)),
        atomic_(picos(cpu.atomic_ns)),
        bytes_(cpu.ns_per_byte),
        poll_(picos(cpu.poll_ns)) {}

  Picos access(std::uint32_t, const Operation& op, Picos now) override {
    if (!op.is_word()) return now + load_ + bytes_.of(op.bytes);
    if (op.reads_and_writes()) return now + atomic_;
    return now + (op.kind == OpKind::kLoad ? load_ : store_);
  }
  Picos notice(std::uint32_t, Address, Picos now) override { return now + poll_; }

 private:
  Picos load_;
  Picos store_;
  Picos atomic_;
  ByteCost bytes_;
  Picos poll_;
};

}  // namespace keyway::fabric::sim
