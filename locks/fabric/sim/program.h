// Program: the actions of the agents of an exploration, repeatable from a clean start, and the
// checks on them.
//
// *Thread safety.* None, as the explorer.
// *Invariants.* The actions and checks of a program depend only on the results of its agents'
// operations and on the values that remembered() hashes: otherwise two different states would be
// taken for one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "keyway/locks/fabric/address.h"
#include "keyway/locks/fabric/sim/operation.h"

namespace keyway::fabric::sim {

class Execution;

/// An agent's relation to the resource that the agents contend for.
enum class Standing : std::uint8_t {
  kOutside = 0,  // does not want in
  kComing = 1,   // wants in, and has not touched the lock's own words yet
  kWaiting = 2,  // wants in, and is past its doorway: its first operation on the lock's own words
  kInside = 3,
};

/// Which agents could notice when an operation happens. explorer_execution.h, *Reduction*, lists
/// the requirements of the last two.
enum class Sight : std::uint8_t {
  kSeen,    // others may, for all that is known
  kOwn,     // only its agent, as long as that does nothing else
  kUnseen,  // no agent, ever: no operation or check depends on its result
};

/// The guarantees for a program's agents; a state graph that shows otherwise is a violation.
struct Promises {
  /// If some agents wait, one of them eventually enters. Deadlock is a violation in any case.
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
  /// Whether the two access classes coincide: then every rank is local to all agents.
  virtual bool one_class() const { return false; }
  /// Everything but the memory, which is zero, as at the start. Operations happen at once here.
  virtual void reset(Execution& execution) = 0;
  /// One agent's part. The same results of its operations must always lead to the same operations.
  virtual void run(std::uint32_t agent) = 0;
  /// After all have ended: the violation, or nothing. Operations happen at once here.
  virtual std::string verdict() = 0;
  /// An address as a trace shows it: "lock.tail", "node of agent 2, next".
  virtual std::string name(Address a) const = 0;
  /// A word as a trace shows it, if a number says little.
  virtual std::string value(std::uint64_t word) const;

  /// Called when an operation takes effect on `old`: its violation, or nothing. Not for bytes that
  /// move word by word.
  virtual std::string observe(std::uint32_t, const Operation&, std::uint64_t /*old*/) { return {}; }
  /// Called when the write of a split read-modify-write undoes stores of the `cpu` class since its
  /// read (O4): the violation, or nothing.
  virtual std::string undoes(std::uint32_t, const Operation&) { return {}; }
  /// A deadline of the agent has passed: it is not owed anything any more.
  virtual void expired(std::uint32_t) {}
  /// A hash of what the checks know beyond the agents' results. Part of a state.
  virtual std::uint64_t remembered() const { return 0; }
  /// The value that memory keeps after an operation. A program with agents that never end folds its
  /// counters here (modulo two, for example); otherwise no state would repeat. Sound for words that
  /// no agent's next operation depends on, except for the value that is written back to them.
  virtual std::uint64_t kept(Address, std::uint64_t word) const { return word; }

  /// Which agents could notice when this issued operation happens. The answer lets an exploration
  /// leave out orders (explorer_execution.h); kSeen is always correct.
  virtual Sight sight(std::uint32_t, const Operation&) const { return Sight::kSeen; }

  /// Whether a search may conclude where a step leads from others (explorer_foresight.h). Then
  /// what sight() and the checks say of an operation must follow from the operation, the results of
  /// the agent, remembered(), standing(), its word if it writes bytes, and what look() showed.
  virtual bool foreseeable() const { return false; }

  virtual Standing standing(std::uint32_t) const { return Standing::kOutside; }
  virtual Promises promises() const { return {}; }
};

}  // namespace keyway::fabric::sim
