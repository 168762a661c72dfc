// Conformance of every lock kind on shm, agents as fibers.
#include "keyway/locks/fabric/shm/shm_fabric.h"
#include "tests/conformance/lock_conformance.h"

namespace keyway::conformance {
namespace {

struct ShmFibers : InProcess<fabric::ShmFabric, Fibers> {
  static constexpr std::string_view kName = "shm with fibers";
  using InProcess::InProcess;
};

TEST_CASE("locks on shm with fibers") { run_conformance<ShmFibers>(); }

}  // namespace
}  // namespace keyway::conformance
