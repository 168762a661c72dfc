// What the lists of mutants are made with: one function of each kind's list.
#pragma once

#include <memory>
#include <vector>

#include "keyway/tools/lockcheck/lock_program.h"
#include "keyway/tools/lockcheck/mutant.h"

namespace keyway::lockcheck {

template <class L>
Mutant mutant(std::string name, std::string defect, std::string property, const LockShape& shape) {
  return {std::move(name),
          std::move(defect),
          std::move(property),
          shape,
          [](const LockShape& of) { return std::make_unique<LockProgram<L>>(L(), of); },
          {}};
}

void add_spin_mutants(std::vector<Mutant>& list);
void add_rw_mutants(std::vector<Mutant>& list);
void add_mcs_mutants(std::vector<Mutant>& list);
void add_mcs_wp_mutants(std::vector<Mutant>& list);
void add_stripe_mutants(std::vector<Mutant>& list);
void add_rma_rw_mutants(std::vector<Mutant>& list);
void add_alock_mutants(std::vector<Mutant>& list);
void add_alock_copies(std::vector<Mutant>& list);
void add_tree_mutants(std::vector<Mutant>& list);
Mutant faithful_tree();
/// Copies without a defect: what kills a mutant is its defect, not the copy.
std::vector<Mutant> faithful_copies();
std::vector<Mutant> faithful_stripes();

}  // namespace keyway::lockcheck
