// The main of tests that run as an MPI job, compiled once (keyway_mpi_test_main).
#define CATCH_CONFIG_EXTERNAL_INTERFACES  // for listeners
#include <fmt/core.h>
#include <catch2/catch.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "keyway/locks/base/sanitizers.h"
#include "tests/support/catch_run.h"
#include "tests/support/mpi_job.h"

#if defined(KW_ASAN)
// Nothing is unloaded: a leak of a module that has gone has no name by which to suppress it.
extern "C" int dlclose(void*) { return 0; }
#endif

namespace keyway::test {

MpiVariant& mpi_variant() {
  static MpiVariant variant;
  return variant;
}

namespace {

std::string replay_line;  // set by main before any test case runs

// Stops the job as soon as a test case has failed on this rank; the reporter has said why.
class StopOnFailure : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (stats.totals.assertions.allOk()) return;
    std::fflush(nullptr);
    fabric::MpiInterface::stop_job(fmt::format("test case '{}' failed; again: {} '{}'",
                                               stats.testInfo.name, replay_line,
                                               stats.testInfo.name));
  }
};
CATCH_REGISTER_LISTENER(StopOnFailure)

}  // namespace
}  // namespace keyway::test

int main(int argc, char** argv) {
  using namespace keyway;
  test::MpiVariant& variant = test::mpi_variant();
  const test::CatchOption options[] = {
      {&variant.force_rma, "--force-rma", "send the rma class through MPI on one node"},
      {&variant.ranks_per_node, "--ranks-per-node", "pretend nodes of n ranks"}};
  std::shared_ptr<fabric::MpiInterface> mpi;  // for as long as the tests run
  return test::run_catch(argc, argv, options, [&](test::CatchOutput& output) {
    auto acquired = fabric::MpiInterface::acquire();
    if (!acquired.ok()) {
      std::fprintf(stderr, "%s\n", std::string(acquired.status().message()).c_str());
      return 1;
    }
    mpi = std::move(*acquired);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    test::replay_line =
        fmt::format("mpirun -n {} {}{} --ranks-per-node {}", ranks, argv[0],
                    variant.force_rma ? " --force-rma" : "", variant.ranks_per_node);
    output.colour = false;       // a launcher's terminal is not a real one
    output.compact = rank != 0;  // one rank reports everything, the others only failures
    return 0;
  });
}
