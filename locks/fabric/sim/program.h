// Program: what the agents of an exploration do, from a clean start, as often as is asked, and
// what is checked while they do it.
//
// *Thread safety.* None, as the explorer.
// *Invariants.* What a program does and checks depends on nothing but the results of its agents'
// operations and on what remembered() hashes: else two states that differ would be taken for one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "keyway/locks/fabric/address.h"
#include "keyway/locks/fabric/sim/operation.h"

namespace keyway::fabric::sim {

class Execution;

/// Where an agent stands towards what the agents contend for.
enum class Standing : std::uint8_t {
  kOutside = 0,  // does not want in
  kComing = 1,   // wants in, and has not touched the lock's own words yet
  kWaiting = 2,  // wants in, and is past its doorway: its first operation on the lock's own words
  kInside = 3,
};

/// Who could notice when an operation happens. explorer_execution.h, *Reduction*, tells what each
/// of the last two must hold up to.
enum class Sight : std::uint8_t {
  kSeen,    // others may, for all that is known
  kOwn,     // nobody but its agent, as long as that does nothing else
  kUnseen,  // nobody, ever: what it leaves makes no difference to any operation or check
};

/// What a program's agents are entitled to; a state graph that shows otherwise is a violation.
struct Promises {
  /// When some want in, somebody enters in the end. Deadlock is a violation in any case.
  bool progress = true;
  bool starvation_freedom = false;
  /// Agents below this number are promised progress only.
  std::uint32_t promised_from = 0;
  std::optional<std::uint64_t> most_bypass;
};

class Program {
 public:
  virtual ~Program() = default;

  virtual std::uint32_t agents() const = 0;
  virtual std::uint32_t ranks() const = 0;
  virtual std::uint64_t segment_bytes() const = 0;
  /// Everything but the memory, which is zero, as at the start. Operations happen at once here.
  virtual void reset(Execution& execution) = 0;
  /// One agent's part. The same results of its operations must always lead to the same operations.
  virtual void run(std::uint32_t agent) = 0;
  /// When all have ended: what is wrong, or nothing. Operations happen at once here.
  virtual std::string verdict() = 0;
  /// An address as a trace shows it: "lock.tail", "node of agent 2, next".
  virtual std::string name(Address a) const = 0;
  /// A word as a trace shows it, where a number says little.
  virtual std::string value(std::uint64_t word) const;

  /// Called as an operation takes effect on `old`: what is wrong with it, or nothing.
  virtual std::string observe(std::uint32_t, const Operation&, std::uint64_t /*old*/) { return {}; }
  /// Called as the write of a split read-modify-write undoes what the `cpu` class has stored since
  /// its read (O4): what is wrong with that, or nothing.
  virtual std::string undoes(std::uint32_t, const Operation&) { return {}; }
  /// A deadline of the agent has passed: it is not owed anything any more.
  virtual void expired(std::uint32_t) {}
  /// A hash of what the checks know beyond the agents' results. Part of a state.
  virtual std::uint64_t remembered() const { return 0; }
  /// What memory keeps of a word that an operation has left. A program whose agents never end folds
  /// its counters here (modulo two, say), or no state would return. Sound for words whose value no
  /// agent's next operation depends on, but for what is written back to them.
  virtual std::uint64_t kept(Address, std::uint64_t word) const { return word; }

  /// Who could notice when this operation, which the agent has issued, happens. What it says lets
  /// an exploration leave out orders (explorer_execution.h); kSeen is always true enough.
  virtual Sight sight(std::uint32_t, const Operation&) const { return Sight::kSeen; }

  virtual Standing standing(std::uint32_t) const { return Standing::kOutside; }
  virtual Promises promises() const { return {}; }
};

}  // namespace keyway::fabric::sim
