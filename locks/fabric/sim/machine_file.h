// Machine files: a machine as TOML text, in which every figure carries its unit and its source.
//
// *What.* A file opens with `name`; then each parameter is a separate table:
//
//     [card.atomic_ns]
//     value = 50
//     unit = "ns"
//     source = "the measurement and its publication; or estimate: reason"
//     range = [20, 120]    # optional: for sweeps
//
// A line `kind = "coherent"` makes it a multicore node (multicore.h), which has other parameters.
// All parameters of the machine must be there and no others, so that no figure is taken silently
// from anywhere else. The last part of a name says the unit, and `unit` must agree with it.
// *Thread safety.* Free functions without state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "keyway/locks/base/status.h"
#include "keyway/locks/fabric/sim/machine.h"

namespace keyway::fabric::sim {

/// One figure of a machine. A switch has the unit "switch" and the value 0 or 1.
struct MachineParameter {
  std::string name;  // dotted: "card.atomic_ns"
  double value = 0;
  std::string unit;
  ParameterNote note;
};

/// The machine of a TOML text; a failure names the key that is wrong.
Result<Machine> parse_machine(std::string_view toml);
/// Every figure of the machine, in the order of the file format.
std::vector<MachineParameter> parameters(const Machine& machine);
/// Changes one figure, as a sweep does; refuses what parse_machine() would.
Status set_parameter(Machine& machine, std::string_view name, double value);
/// A contradiction within the machine, in one sentence, or success.
Status check_machine(const Machine& machine);

}  // namespace keyway::fabric::sim
