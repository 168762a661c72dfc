// Program: what the agents of an exploration do, from a clean start, as often as is asked.
#pragma once

#include <cstdint>
#include <string>

#include "keyway/locks/fabric/address.h"
#include "keyway/locks/fabric/sim/engine.h"

namespace keyway::fabric::sim {

class Program {
 public:
  virtual ~Program() = default;

  virtual std::uint32_t agents() const = 0;
  virtual std::uint32_t ranks() const = 0;
  virtual std::uint64_t segment_bytes() const = 0;
  /// Everything but the memory, which is zero, as at the start. Operations happen at once here.
  virtual void reset(Engine& engine) = 0;
  /// One agent's part. The same results of its operations must always lead to the same operations.
  virtual void run(std::uint32_t agent) = 0;
  /// When all have ended: what is wrong, or nothing. Operations happen at once here.
  virtual std::string verdict() = 0;
  /// An address as a trace shows it: "lock.tail", "node of agent 2, next".
  virtual std::string name(Address a) const = 0;
};

}  // namespace keyway::fabric::sim
