#include "keyway/tools/lockcheck/mutant.h"

namespace keyway::lockcheck {

const std::vector<Mutant>& all_mutants() {
  static const std::vector<Mutant> none;
  return none;
}

}  // namespace keyway::lockcheck
