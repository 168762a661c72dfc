#include "keyway/workloads/report.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace keyway::workloads;

namespace {

Spec reads_only() {
  Spec spec;
  spec.mix = {1, 0, 0, 0, 0};
  return spec;
}

/// 99 reads of 1 us, one of 20 us, and one that found nothing after 3 us.
PhaseResult reads(const Spec& spec) {
  PhaseResult result;
  result.name = "run";
  result.runtime_ns = 10'110'000'000;
  result.operations = 101;
  result.measured = Measurements(spec);
  result.measured.count(Metric::kRead, Return::kOk, 100);
  result.measured.latency(Metric::kRead, Return::kOk, 1500, 99);
  result.measured.latency(Metric::kRead, Return::kOk, 20'000);
  result.measured.count(Metric::kRead, return_of(keyway::Code::kNotFound));
  result.measured.latency(Metric::kRead, return_of(keyway::Code::kNotFound), 3000);
  return result;
}

}  // namespace

TEST_CASE("the text report is YCSB's, line by line") {
  Spec spec = reads_only();
  spec.percentiles = {50, 99.9};
  CHECK(text_report(reads(spec), spec) ==
        "[OVERALL], RunTime(ms), 10110\n"
        "[OVERALL], Throughput(ops/sec), 9.990108803165183\n"
        "[READ], Operations, 100\n"
        "[READ], AverageLatency(us), 1.685\n"
        "[READ], MinLatency(us), 1\n"
        "[READ], MaxLatency(us), 20\n"
        "[READ], 50thPercentileLatency(us), 1\n"
        "[READ], 99.9PercentileLatency(us), 20\n"
        "[READ], Return=OK, 100\n"
        "[READ], Return=NOT_FOUND, 1\n"
        "[READ-FAILED], Operations, 1\n"
        "[READ-FAILED], AverageLatency(us), 3.0\n"
        "[READ-FAILED], MinLatency(us), 3\n"
        "[READ-FAILED], MaxLatency(us), 3\n"
        "[READ-FAILED], 50thPercentileLatency(us), 3\n"
        "[READ-FAILED], 99.9PercentileLatency(us), 3\n");
}

TEST_CASE("without latencies a report has counts only") {
  const Spec spec = reads_only();
  PhaseResult result;
  result.name = "run";
  result.runtime_ns = 2'000'000'000;
  result.operations = 4;
  result.measured = Measurements(spec);
  result.measured.count(Metric::kRead, Return::kOk, 4);
  CHECK(text_report(result, spec) ==
        "[OVERALL], RunTime(ms), 2000\n"
        "[OVERALL], Throughput(ops/sec), 2.0\n"
        "[READ], Operations, 4\n"
        "[READ], Return=OK, 4\n");
}

TEST_CASE("intended latencies stand beside or in place of the others") {
  Spec spec = reads_only();
  spec.percentiles = {99};
  PhaseResult result;
  result.name = "run";
  result.runtime_ns = 1'000'000'000;
  result.operations = 1;
  result.measured = Measurements(spec);
  result.measured.count(Metric::kRead, Return::kOk);
  result.measured.latency(Metric::kRead, Return::kOk, 1000);
  result.measured.intended_latency(Metric::kRead, Return::kOk, 50'000);
  const std::string head =
      "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 1.0\n[READ], Operations, 1\n";
  const auto latencies = [](const std::string& name, const std::string& us) {
    return "[" + name + "], AverageLatency(us), " + us + ".0\n[" + name + "], MinLatency(us), " +
           us + "\n[" + name + "], MaxLatency(us), " + us + "\n[" + name +
           "], 99thPercentileLatency(us), " + us + "\n";
  };
  const std::string ok = "[READ], Return=OK, 1\n";
  spec.interval = Interval::kOp;
  CHECK(text_report(result, spec) == head + latencies("READ", "1") + ok);
  spec.interval = Interval::kIntended;
  CHECK(text_report(result, spec) == head + latencies("READ", "50") + ok);
  spec.interval = Interval::kBoth;
  CHECK(text_report(result, spec) == head + latencies("READ", "1") + ok +
                                         "[Intended-READ], Operations, 1\n" +
                                         latencies("Intended-READ", "50"));
}

TEST_CASE("percentiles are named as YCSB names them") {
  CHECK(percentile_name(1) == "1st");
  CHECK(percentile_name(2) == "2nd");
  CHECK(percentile_name(3) == "3rd");
  CHECK(percentile_name(11) == "11th");
  CHECK(percentile_name(12) == "12th");
  CHECK(percentile_name(13) == "13th");
  CHECK(percentile_name(21) == "21st");
  CHECK(percentile_name(50) == "50th");
  CHECK(percentile_name(95) == "95th");
  CHECK(percentile_name(100) == "100th");
  CHECK(percentile_name(99.9) == "99.9");
  CHECK(percentile_name(99.99) == "99.99");
}

TEST_CASE("numbers have a point and no exponent") {
  CHECK(decimal(0) == "0.0");
  CHECK(decimal(491) == "491.0");
  CHECK(decimal(0.05) == "0.05");
  CHECK(decimal(12345678.25) == "12345678.25");
  CHECK(decimal(1e20).find('e') == std::string::npos);
}

TEST_CASE("CSV has a line for each bracketed name, in ns") {
  Spec spec = reads_only();
  spec.percentiles = {50, 99.9};
  PhaseResult result = reads(spec);
  result.write_percent = 5;
  CHECK(csv_header(spec) ==
        "phase,write_percent,runtime_ms,throughput_per_s,metric,operations,average_ns,min_ns,"
        "max_ns,p50_ns,p99.9_ns\n");
  CHECK(csv_rows(result, spec) ==
        "run,5,10110.000,9.990,READ,100,1685.0,1500,20000,1503,20000\n"
        "run,5,10110.000,9.990,READ-FAILED,1,3000.0,3000,3000,3000,3000\n");
}

TEST_CASE("every CSV line has as many columns as the head") {
  const Spec spec = reads_only();
  PhaseResult result;
  result.measured = Measurements(spec);
  result.measured.count(Metric::kRead, Return::kOk, 4);  // no latencies
  const auto commas = [](const std::string& text) {
    return std::count(text.begin(), text.end(), ',');
  };
  CHECK(commas(csv_rows(result, spec)) == commas(csv_header(spec)));
}

TEST_CASE("throughput is that of operations that succeeded; failed ones have a line of their own") {
  const Spec spec = reads_only();
  PhaseResult result;
  result.name = "run";
  result.runtime_ns = 2'000'000'000;
  result.operations = 1000;
  result.failed = 900;
  result.measured = Measurements(spec);
  result.measured.count(Metric::kRead, Return::kOk, 100);
  result.measured.count(Metric::kRead, return_of(keyway::Code::kUnavailable), 900);
  CHECK(text_report(result, spec) ==
        "[OVERALL], RunTime(ms), 2000\n"
        "[OVERALL], Throughput(ops/sec), 50.0\n"
        "[OVERALL], FailedOperations, 900\n"
        "[READ], Operations, 100\n"
        "[READ], Return=OK, 100\n"
        "[READ], Return=UNAVAILABLE, 900\n"
        "[READ-FAILED], Operations, 900\n");
  CHECK(csv_rows(result, spec).starts_with("run,,2000.000,50.000,READ,100,"));
}
