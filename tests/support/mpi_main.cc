// Catch2's main for tests that run as an MPI job, compiled once (keyway_mpi_test_main).
#define CATCH_CONFIG_RUNNER
#include <fmt/core.h>
#include <catch2/catch.hpp>

#include <cstdio>
#include <string>

#include "tests/support/mpi_job.h"

#if defined(__SANITIZE_ADDRESS__)
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
  Catch::Session session;
  test::MpiVariant& variant = test::mpi_variant();
  using Catch::clara::Opt;
  session.cli(session.cli() |
              Opt(variant.force_rma)["--force-rma"]("send the rma class through MPI on one node") |
              Opt(variant.ranks_per_node, "n")["--ranks-per-node"]("pretend nodes of n ranks"));
  if (const int error = session.applyCommandLine(argc, argv); error != 0) return error;

  auto mpi = fabric::MpiInterface::acquire();
  if (!mpi.ok()) {
    std::fprintf(stderr, "%s\n", std::string(mpi.status().message()).c_str());
    return 1;
  }
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  test::replay_line = fmt::format("mpirun -n {} {}{} --ranks-per-node {}", ranks, argv[0],
                                  variant.force_rma ? " --force-rma" : "", variant.ranks_per_node);
  session.configData().useColour = Catch::UseColour::No;  // a launcher's terminal is no terminal
  // One rank tells the whole story; the others speak up when something fails.
  if (rank != 0) session.configData().reporterName = "compact";
  return session.run();
}
