#include "tests/conformance/mutants/mutant_tree.h"
#include "tests/sim/mutant_list.h"

namespace keyway::lockcheck {

using conformance::MutantTree;
using D = conformance::TreeDefect;

Mutant faithful_tree() { return mutant<MutantTree<D::kNone>>("rma-mcs", "none", "", {}); }

void add_tree_mutants(std::vector<Mutant>& list) {
  // Agents 0 and 1 share a node, agent 2 has one to itself.
  const LockShape three{.writers = 3, .ranks = 4, .topology = "nodes=2", .nodes = 3};
  const LockShape two{.writers = 2, .ranks = 4, .topology = "nodes=2", .nodes = 3};
  const LockShape apart{.writers = 2, .nodes = 3, .manner = Manner::kTimed};
  list.push_back(mutant<MutantTree<D::kReleasesOwnNode>>(
      "rma-mcs/releases-own-node",
      "as printed: the parent is released by a node that never stood in its queue", "deadlock",
      two));
  list.push_back(mutant<MutantTree<D::kForgetsToSendUp>>(
      "rma-mcs/forgets-to-send-up", "the next enters though the parent has been released", "L1",
      three));
  list.push_back(mutant<MutantTree<D::kKeepsParent>>(
      "rma-mcs/keeps-parent", "lost back-out: the element is left, its parent is not", "deadlock",
      {.writers = 2, .nodes = 3}));
  list.push_back(mutant<MutantTree<D::kLendsUnmarked>>(
      "rma-mcs/lends-unmarked", "a lent node goes back to its pool at once", "N1", two));
  list.push_back(mutant<MutantTree<D::kForgetsUp>>(
      "rma-mcs/forgets-up", "nobody is told which node holds the parent", "footprint", two));
  list.push_back(mutant<MutantTree<D::kNeverIdle>>(
      "rma-mcs/never-idle", "lost back-out: a lent node never comes back",
      "the agent's 2 queue nodes",
      {.writers = 2, .rounds = 2, .ranks = 4, .topology = "nodes=2", .nodes = 2}));
  list.push_back(mutant<MutantTree<D::kGivesUpWithoutTelling>>(
      "rma-mcs/gives-up-without-telling",
      "lost back-out: who gives up at the root keeps the queue below", "L2", apart));
  LockShape again = two;
  again.rounds = 2;
  again.most_in_a_row = 2;
  list.push_back(mutant<MutantTree<D::kPassesWithoutEnd>>(
      "rma-mcs/passes-without-end", "unfair: nobody counts how often an element hands the lock on",
      "T7", again));
}

}  // namespace keyway::lockcheck
