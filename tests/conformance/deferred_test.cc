// Conformance of every lock kind on a fabric that completes nothing before it must.
#include "tests/conformance/deferred_fabric.h"
#include "tests/conformance/lock_conformance.h"

namespace keyway::conformance {
namespace {

static_assert(fabric::Endpoint<DeferredEndpoint>);

struct DeferredFibers : InProcess<DeferredFabric, Fibers> {
  static constexpr std::string_view kName = "deferred shm with fibers";
  using InProcess::InProcess;
};
struct DeferredThreads : InProcess<DeferredFabric, Threads> {
  static constexpr std::string_view kName = "deferred shm with threads";
  using InProcess::InProcess;
};

TEST_CASE("locks on deferred shm with fibers") { run_conformance<DeferredFibers>(); }
TEST_CASE("locks on deferred shm with threads") { run_conformance<DeferredThreads>(); }

}  // namespace
}  // namespace keyway::conformance
