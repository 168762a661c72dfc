#include "keyway/workloads/summary.h"

#include <catch2/catch.hpp>

using namespace keyway::workloads;

TEST_CASE("a latency has its unit and digits below a us") {
  CHECK(latency_text(0) == "0.00 us");
  CHECK(latency_text(360) == "0.36 us");
  CHECK(latency_text(9'994) == "9.99 us");
  CHECK(latency_text(9'996) == "10.0 us");
  CHECK(latency_text(36'940) == "36.9 us");
  CHECK(latency_text(99'960) == "100 us");
  CHECK(latency_text(1'234'567'000) == "1,234,567 us");
}

TEST_CASE("a throughput is a whole number with its unit") {
  CHECK(throughput_text(0) == "0 ops/s");
  CHECK(throughput_text(999.4) == "999 ops/s");
  CHECK(throughput_text(47624.96275281429) == "47,625 ops/s");
  CHECK(throughput_text(1e6) == "1,000,000 ops/s");
}

TEST_CASE("the summary has a line for each kind of operation, and the phase's throughput once") {
  Spec spec;
  spec.mix = {0.5, 0.5, 0, 0, 0};
  PhaseResult result;
  result.name = "run";
  result.runtime_ns = 1'000'000'000;
  result.operations = 30'000;
  result.failed = 10'000;
  result.measured = Measurements(spec);
  result.measured.count(Metric::kRead, Return::kOk, 15'000);
  result.measured.latency(Metric::kRead, Return::kOk, 250, 15'000);
  result.measured.count(Metric::kUpdate, Return::kOk, 5'000);
  result.measured.count(Metric::kUpdate, return_of(keyway::Code::kUnavailable), 10'000);
  CHECK(summary_header() + summary_rows("one-sided", result, Interval::kOp) ==
        "phase    way                throughput  operation                 p50        p99\n"
        "run      one-sided        20,000 ops/s  READ                  0.25 us    0.25 us\n"
        "                                        UPDATE                      -          -\n"
        "                                        UPDATE-FAILED               -          -\n");
}

TEST_CASE("a step of a sweep has its share of writes in the summary") {
  PhaseResult result;
  result.name = "run";
  result.write_percent = 5;
  CHECK(summary_rows("in process", result, Interval::kOp) ==
        "run 5%   in process            0 ops/s  -                           -          -\n");
}
