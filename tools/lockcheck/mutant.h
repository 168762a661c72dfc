// Mutant: a lock with one known defect, and how its exploration shows it.
//
// *What.* A mutant is made from the source of a real kind (tests/mutants). Killing it proves
// something about that source only if the same exploration finds the real kind clean, so each
// mutant names it. Mutants are part of tests/, and lockcheck has them only in builds with tests:
// the installed program has none.
// *Thread safety.* The list is immutable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "keyway/locks/fabric/sim/explorer.h"
#include "keyway/locks/fabric/sim/program.h"
#include "keyway/tools/lockcheck/lock_shape.h"

namespace keyway::lockcheck {

struct Mutant {
  using Make = std::function<std::unique_ptr<fabric::sim::Program>(const LockShape&)>;

  std::string name;        // "d-mcs/lost-link": the kind that it is made from, and its defect
  std::string defect;      // in words
  std::string property;    // the violated property; the text of the finding begins with it
  std::string kind;        // the real kind, as lockcheck --lock takes it
  std::string lock_class;  // and its class
  std::string why_slow;    // why the real kind is not explored in the quick suite; else empty
  LockShape shape = {};
  Make make = {};
  Make real = {};             // the same shape, with the real kind
  std::string real_key = {};  // equal where `real` explores the same
  fabric::sim::ExploreOptions explorer = {};
};

const std::vector<Mutant>& all_mutants();

/// The first mutant of each exploration of a real kind: mutants of one kind and shape share one.
inline std::vector<const Mutant*> distinct_reals() {
  std::vector<const Mutant*> first;
  std::set<std::string> keys;
  for (const Mutant& mutant : all_mutants()) {
    if (keys.insert(mutant.real_key).second) first.push_back(&mutant);
  }
  return first;
}

}  // namespace keyway::lockcheck
