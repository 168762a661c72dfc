// Conformance of every lock kind on mpi: agents are dealt out over the ranks of the job, and the
// agents of one rank are its threads or its fibers.
#include "tests/conformance/lock_conformance.h"
#include "tests/support/mpi_job.h"

namespace keyway::conformance {
namespace {

/// Room for the largest plan of the suite.
constexpr std::uint64_t kSegmentBytes = 1u << 20;

/// One fabric serves all checks, because making one takes longer than most of them: each check
/// finds zeroed segments, as in a fresh one.
template <class Runner>
class OnMpi : public Runner {
 public:
  using Fabric = fabric::MpiFabric;
  static inline Fabric* job = nullptr;

  OnMpi(const Shape& shape, const Setting&) : plan_(Plan::of(shape, job->ranks())) {
    KW_CHECK(plan_.segment_bytes <= kSegmentBytes);
    const std::vector<std::byte> zeros(plan_.segment_bytes - fabric::kReservedBytes);
    job->endpoint()->write(fabric::cpu, {job->rank(), fabric::kReservedBytes}, zeros);
    job->barrier();
  }

  const Plan& plan() const { return plan_; }
  Fabric& fabric() { return *job; }
  std::vector<std::uint32_t> agents_here(std::uint32_t agents) const {
    std::vector<std::uint32_t> here;
    for (std::uint32_t i = job->rank(); i < agents; i += plan_.ranks) here.push_back(i);
    return here;
  }
  Outcome agree(Outcome outcome) {
    const Status all = job->agree(outcome ? Status(Code::kCorruption, *outcome) : Status());
    if (all.ok()) return {};
    return std::string(all.message());
  }

 private:
  Plan plan_;
};

struct MpiThreads : OnMpi<Threads> {
  static constexpr std::string_view kName = "mpi with threads";
  using OnMpi::OnMpi;
};
struct MpiFibers : OnMpi<Fibers> {
  static constexpr std::string_view kName = "mpi with fibers";
  using OnMpi::OnMpi;
};

/// Operations take microseconds here, and ranks share the processors.
const Setting kSetting{.rounds = 16};

template <class World>
void run_on_job(fabric::MpiFabric& job) {
  World::job = &job;
  run_conformance<World>(kSetting);
}

// Catch2 enters a test case once for every section, so the fabrics are made on the first entry and
// closed by the last test case: both are collective, and every rank runs the same cases.
std::optional<fabric::MpiFabric> open_job;
fabric::MpiFabric& the_job() {
  if (!open_job) open_job.emplace(test::make_mpi_fabric(kSegmentBytes));
  return *open_job;
}

TEST_CASE("locks on mpi with threads") { run_on_job<MpiThreads>(the_job()); }
TEST_CASE("locks on mpi with fibers") { run_on_job<MpiFibers>(the_job()); }
TEST_CASE("the job closes after the checks") {
  open_job.reset();
  CHECK_FALSE(open_job.has_value());
}

}  // namespace
}  // namespace keyway::conformance
