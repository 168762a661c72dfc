// Conformance of every lock kind on shm, agents as threads.
#include "keyway/locks/fabric/shm/shm_fabric.h"
#include "tests/conformance/lock_conformance.h"

namespace keyway::conformance {
namespace {

struct ShmThreads : InProcess<fabric::ShmFabric, Threads> {
  static constexpr std::string_view kName = "shm with threads";
  using InProcess::InProcess;
};

TEST_CASE("locks on shm with threads") { run_conformance<ShmThreads>(); }

}  // namespace
}  // namespace keyway::conformance
