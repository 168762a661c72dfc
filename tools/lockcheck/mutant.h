// Mutant: a lock with one known defect, and how its exploration shows it.
//
// *What.* The mutants live under tests/, and lockcheck has them only in builds with tests: what is
// installed has none. Without tests the list is empty.
// *Thread safety.* The list is immutable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "keyway/locks/fabric/sim/explorer.h"
#include "keyway/locks/fabric/sim/program.h"
#include "keyway/tools/lockcheck/lock_shape.h"

namespace keyway::lockcheck {

struct Mutant {
  std::string name;      // "d-mcs/lost-link": the kind it is a copy of, and its defect
  std::string defect;    // in words
  std::string property;  // what the exploration says is violated; its text begins with it
  LockShape shape;
  std::function<std::unique_ptr<fabric::sim::Program>(const LockShape&)> make;
  fabric::sim::ExploreOptions explorer = {};
};

const std::vector<Mutant>& all_mutants();

}  // namespace keyway::lockcheck
