#include "keyway/workloads/spec.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "keyway/workloads/ycsb_files.h"

using keyway::Code;
using keyway::Result;
using namespace keyway::workloads;

namespace {

Result<Spec> spec_of(std::string_view text) {
  const auto properties = Properties::parse(text, "test");
  REQUIRE(properties.ok());
  return read_spec(*properties);
}

Spec good(std::string_view text) {
  const auto spec = spec_of(text);
  INFO(text << ": " << spec.status().message());
  REQUIRE(spec.ok());
  return *spec;
}

/// The refusal of `text`: one sentence that contains every one of `parts`.
void refused(std::string_view text, const std::vector<std::string>& parts) {
  const auto spec = spec_of(text);
  CAPTURE(text);
  REQUIRE_FALSE(spec.ok());
  CHECK(spec.code() == Code::kInvalidArgument);
  const std::string sentence(spec.status().message());
  CAPTURE(sentence);
  CHECK(sentence.find('\n') == std::string::npos);
  for (const std::string& part : parts) CHECK(sentence.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("without properties the defaults are YCSB's") {
  const Spec spec = good("");
  CHECK(spec.record_count == 0);
  CHECK(spec.operation_count == 0);
  CHECK(spec.threads == 1);
  CHECK(spec.target_per_s == 0);
  CHECK(spec.max_execution_s == 0);
  CHECK(spec.field_count == 10);
  CHECK(spec.field_length.max == 100);
  CHECK(spec.field_length.min == 100);
  CHECK(spec.field_length.distribution == LengthDistribution::kConstant);
  CHECK(spec.read_all_fields);
  CHECK_FALSE(spec.write_all_fields);
  CHECK_FALSE(spec.data_integrity);
  CHECK(spec.mix == std::array<double, 5>{0.95, 0.05, 0, 0, 0});
  CHECK(spec.distribution == Distribution::kUniform);
  CHECK(spec.zipfian_constant == 0.99);
  CHECK(spec.hotspot_data_fraction == 0.2);
  CHECK(spec.hotspot_operation_fraction == 0.8);
  CHECK(spec.exponential_percentile == 95);
  CHECK(spec.exponential_fraction == 0.8571428571);
  CHECK(spec.scan_length.min == 1);
  CHECK(spec.scan_length.max == 1000);
  CHECK(spec.scan_length.distribution == LengthDistribution::kUniform);
  CHECK_FALSE(spec.keys.ordered);
  CHECK(spec.keys.zero_padding == 1);
  CHECK(spec.keys.bytes == 0);
  CHECK(spec.percentiles == std::vector<double>{50, 95, 99});
  CHECK(spec.interval == Interval::kOp);
  CHECK(spec.status_interval_s == 10);
  CHECK(spec.notes.empty());
}

TEST_CASE("YCSB's workloads are what its paper says") {
  struct Row {
    char letter;
    std::array<double, 5> mix;  // read, update, insert, scan, read-modify-write
    Distribution distribution;
  };
  const Row rows[] = {
      {'a', {0.5, 0.5, 0, 0, 0}, Distribution::kZipfian},
      {'b', {0.95, 0.05, 0, 0, 0}, Distribution::kZipfian},
      {'c', {1, 0, 0, 0, 0}, Distribution::kZipfian},
      {'d', {0.95, 0, 0.05, 0, 0}, Distribution::kLatest},
      {'e', {0, 0, 0.05, 0.95, 0}, Distribution::kZipfian},
      {'f', {0.5, 0, 0, 0, 0.5}, Distribution::kZipfian},
  };
  for (const Row& row : rows) {
    CAPTURE(row.letter);
    const Spec spec = good(ycsb_workload(row.letter));
    CHECK(spec.mix == row.mix);
    CHECK(spec.distribution == row.distribution);
    CHECK(spec.record_count == 1000);
    CHECK(spec.operation_count == 1000);
    CHECK(spec.scan_length.max == (row.letter == 'e' ? 100U : 1000U));
    CHECK(spec.notes.empty());
  }
  CHECK(ycsb_workload('g').empty());
}

TEST_CASE("both names of the core workload are taken, no other class is") {
  good("workload=site.ycsb.workloads.CoreWorkload");
  good("workload=com.yahoo.ycsb.workloads.CoreWorkload");
  refused("workload=site.ycsb.workloads.TimeSeriesWorkload",
          {"TimeSeriesWorkload", "CoreWorkload"});
}

TEST_CASE("every known property may be given with its default") {
  for (const auto& [name, value, help] : known_properties()) {
    if (value.find(' ') != std::string_view::npos) continue;  // a default in words
    CAPTURE(std::string(name));
    Properties properties;
    properties.set(name, value, "test");
    CHECK(read_spec(properties).ok());
  }
}

TEST_CASE("white space at the end of a value is not part of a number") {
  CHECK(good("recordcount=1000  \t").record_count == 1000);
}

TEST_CASE("an unknown property is refused with its place and the nearest known name") {
  refused("# a\nrecordcont=5", {"test:2", "'recordcont'", "'recordcount'"});
  refused("readProportion=0.5", {"'readProportion'", "'readproportion'"});
  refused("hdrhistogram.percentile=5", {"'hdrhistogram.percentiles'"});
}

TEST_CASE("a value out of bounds is refused with its name and what would be right") {
  refused("recordcount=-5", {"recordcount=-5", "whole number"});
  refused("recordcount=1e6", {"recordcount=1e6"});
  refused("recordcount=99999999999999999999", {"recordcount="});
  refused("threadcount=0", {"threadcount=0", "from 1"});
  refused("fieldcount=0", {"fieldcount=0"});
  refused("maxscanlength=0", {"maxscanlength=0"});
  refused("target=-1", {"target=-1"});
  refused("readproportion=-0.5", {"readproportion=-0.5"});
  refused("readproportion=nan", {"readproportion=nan"});
  refused("readproportion=", {"readproportion="});
  refused("hotspotdatafraction=1.5", {"hotspotdatafraction=1.5", "from 0 to 1"});
  refused("hotspotopnfraction=-0.1", {"hotspotopnfraction=-0.1"});
  refused("zipfianconstant=1", {"zipfianconstant=1"});
  refused("exponential.percentile=100", {"exponential.percentile=100"});
  refused("requestdistribution=zipf", {"requestdistribution=zipf", "zipfian", "latest"});
  refused("insertorder=sorted", {"insertorder=sorted", "hashed, ordered"});
  refused("scanlengthdistribution=constant", {"scanlengthdistribution=constant"});
  refused("fieldlengthdistribution=normal", {"fieldlengthdistribution=normal"});
  refused("readallfields=yes", {"readallfields=yes", "true, false"});
  refused("measurement.interval=all", {"measurement.interval=all", "op, intended, both"});
  refused("measurementtype=raw", {"measurementtype=raw"});
  refused("hdrhistogram.percentiles=50,x", {"hdrhistogram.percentiles=50,x"});
  refused("hdrhistogram.percentiles=101", {"hdrhistogram.percentiles=101"});
  refused("keybytes=70000", {"keybytes=70000"});
}

TEST_CASE("properties that contradict each other are refused") {
  refused("readproportion=0\nupdateproportion=0", {"proportion", "0"});
  refused("recordcount=10\ninsertstart=11", {"insertstart=11", "recordcount=10"});
  refused("recordcount=10\ninsertstart=10", {"insertstart=10", "recordcount=10"});
  refused("recordcount=10\ninsertstart=5\ninsertcount=6", {"insertstart=5", "insertcount=6"});
  refused("minscanlength=20\nmaxscanlength=10", {"minscanlength=20", "maxscanlength"});
  refused("fieldlengthdistribution=uniform\nminfieldlength=200", {"minfieldlength=200"});
  refused("dataintegrity=true\nfieldlengthdistribution=uniform", {"dataintegrity", "constant"});
  refused("recordcount=1000000\nkeybytes=7", {"7 bytes", "1000000"});
  refused("keybytes=4", {"4 bytes"});
  refused("fieldcount=1000\nfieldlength=1000000", {"512 MiB"});
}

TEST_CASE("what only YCSB's client can do is refused, never ignored") {
  refused("exporter=site.ycsb.measurements.exporter.JSONMeasurementsExporter", {"--json"});
  refused("hdrhistogram.fileoutput=true", {"hdrhistogram.fileoutput"});
  refused("measurement.histogram.verbose=true", {"measurement.histogram.verbose"});
  refused("measurement.trackjvm=true", {"measurement.trackjvm"});
  refused("reportlatencyforeacherror=true", {"reportlatencyforeacherror"});
  refused("latencytrackederrors=TIMEOUT", {"latencytrackederrors"});
  refused("core_workload_insertion_retry_limit=3", {"core_workload_insertion_retry_limit"});
}

TEST_CASE("values are taken over") {
  const Spec spec = good(
      "recordcount=100\ninsertstart=20\nrequestdistribution=hotspot\nhotspotdatafraction=0.1\n"
      "fieldlengthdistribution=zipfian\nminfieldlength=3\nfieldlength=30\ninsertorder=ordered\n"
      "zeropadding=12\nhdrhistogram.percentiles=50, 99.9,100\nmeasurement.interval=intended\n"
      "scanlengthdistribution=zipfian\nlabel=x \nexportfile=/tmp/report");
  CHECK(spec.insert_count == 80);
  CHECK(spec.distribution == Distribution::kHotspot);
  CHECK(spec.hotspot_data_fraction == 0.1);
  CHECK(spec.field_length.min == 3);
  CHECK(spec.field_length.max == 30);
  CHECK(spec.keys.ordered);
  CHECK(spec.keys.zero_padding == 12);
  CHECK(spec.percentiles == std::vector<double>{50, 99.9, 100});
  CHECK(spec.interval == Interval::kIntended);
  CHECK(spec.scan_length.distribution == LengthDistribution::kZipfian);
  CHECK(spec.label == "x");
  CHECK(spec.export_file == "/tmp/report");
}

TEST_CASE("a target asks for intended latencies unless told otherwise") {
  CHECK(good("target=100").interval == Interval::kBoth);
  CHECK(good("target=100\nmeasurement.interval=op").interval == Interval::kOp);
}

TEST_CASE("proportions that do not sum to 1 are taken as shares, with a note") {
  const Spec spec = good("readproportion=1\nupdateproportion=1");
  REQUIRE(spec.notes.size() == 1);
  CHECK(spec.notes[0].find("sum to 2") != std::string::npos);
}

namespace {

/// A file of this test's own in its working folder, removed afterwards.
class TextFile {
 public:
  explicit TextFile(const std::string& text) { std::ofstream(path_) << text; }
  ~TextFile() { std::filesystem::remove(path_); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  std::string properties() const {
    return "fieldlengthdistribution=histogram\nfieldlengthhistogram=" + path_;
  }

 private:
  std::string path_ = "spec_test_histogram.txt";
};

}  // namespace

TEST_CASE("a field length histogram is read from YCSB's file format") {
  const TextFile file("BlockSize\t10\n0\t1\n2\t3\n3\t0\n");
  const LengthSpec length = good(file.properties()).field_length;
  CHECK(length.block == 10);
  CHECK(length.weights == std::vector<std::uint64_t>{1, 0, 3});
  CHECK(length.min == 10);
  CHECK(length.max == 30);
}

TEST_CASE("a broken histogram file is refused with its line") {
  const auto text = GENERATE(as<std::string>{}, "", "Blocksize\t10\n0\t1\n", "BlockSize\t0\n0\t1\n",
                             "BlockSize\t10\n", "BlockSize\t10\n0\t0\n", "BlockSize\t10\n0 1\n",
                             "BlockSize\t10\n0\tx\n", "BlockSize\t10\n-1\t1\n");
  const TextFile file(text);
  refused(file.properties(), {"fieldlengthhistogram=spec_test_histogram.txt"});
}

TEST_CASE("a histogram file that is not there is refused") {
  refused("fieldlengthdistribution=histogram", {"fieldlengthhistogram=hist.txt"});
}
