#include "keyway/workloads/spec.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "keyway/workloads/property_reader.h"

namespace keyway::workloads {
namespace {

constexpr std::uint64_t kMaxKeyBytes = 64 * 1024;
constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{512} << 20;

void read_counts(PropertyReader& in, Spec& spec) {
  in.number("recordcount", spec.record_count, 0, std::numeric_limits<std::int64_t>::max());
  in.number("operationcount", spec.operation_count, 0, std::numeric_limits<std::int64_t>::max());
  in.number("insertstart", spec.insert_start, 0, std::numeric_limits<std::int64_t>::max());
  if (spec.insert_start > spec.record_count ||
      (spec.insert_start == spec.record_count && spec.insert_start != 0)) {
    in.fail(
        fmt::format("insertstart={} lies beyond the last record of recordcount={}: set "
                    "insertstart below recordcount",
                    spec.insert_start, spec.record_count));
    return;
  }
  spec.insert_count = spec.record_count - spec.insert_start;
  in.number("insertcount", spec.insert_count, 0, std::numeric_limits<std::int64_t>::max());
  if (spec.insert_count > spec.record_count - spec.insert_start) {
    in.fail(
        fmt::format("insertstart={} plus insertcount={} go beyond recordcount={}: raise "
                    "recordcount or lower insertcount",
                    spec.insert_start, spec.insert_count, spec.record_count));
  }
  in.number("threadcount", spec.threads, 1, 4096);
  in.real("target", spec.target_per_s, 0, 1e12);
  in.number("maxexecutiontime", spec.max_execution_s, 0, 365ULL * 24 * 3600);
}

void read_mix(PropertyReader& in, Spec& spec) {
  constexpr std::pair<OpKind, std::string_view> kShares[] = {
      {OpKind::kRead, "readproportion"},
      {OpKind::kUpdate, "updateproportion"},
      {OpKind::kInsert, "insertproportion"},
      {OpKind::kScan, "scanproportion"},
      {OpKind::kReadModifyWrite, "readmodifywriteproportion"},
  };
  double sum = 0;
  for (const auto& [kind, name] : kShares) {
    in.real(name, spec.mix[static_cast<std::size_t>(kind)], 0, 1e6);
    sum += spec.share(kind);
  }
  if (sum <= 0) {
    in.fail(
        "all five proportions are 0, so there is nothing to do: give readproportion, "
        "updateproportion, insertproportion, scanproportion or readmodifywriteproportion a "
        "share");
  } else if (std::abs(sum - 1) > 1e-6) {
    spec.notes.push_back(fmt::format(
        "the proportions sum to {:g}, not 1: each is taken as its share of that, as YCSB does",
        sum));
  }
}

void read_distribution(PropertyReader& in, Spec& spec) {
  in.choice("requestdistribution", spec.distribution,
            {{"uniform", Distribution::kUniform},
             {"zipfian", Distribution::kZipfian},
             {"latest", Distribution::kLatest},
             {"hotspot", Distribution::kHotspot},
             {"sequential", Distribution::kSequential},
             {"exponential", Distribution::kExponential},
             {"rankedzipfian", Distribution::kRankedZipfian}});
  in.real("zipfianconstant", spec.zipfian_constant, 0.001, 0.999);
  in.real("hotspotdatafraction", spec.hotspot_data_fraction, 0, 1);
  in.real("hotspotopnfraction", spec.hotspot_operation_fraction, 0, 1);
  in.real("exponential.percentile", spec.exponential_percentile, 0.001, 99.999);
  in.real("exponential.frac", spec.exponential_fraction, 1e-9, 1e9);
}

void read_fields(PropertyReader& in, Spec& spec) {
  LengthSpec& length = spec.field_length;
  in.number("fieldcount", spec.field_count, 1, 1000000);
  in.number("fieldlength", length.max, 0, kMaxRecordBytes);
  in.number("minfieldlength", length.min, 0, kMaxRecordBytes);
  in.choice("fieldlengthdistribution", length.distribution,
            {{"constant", LengthDistribution::kConstant},
             {"uniform", LengthDistribution::kUniform},
             {"zipfian", LengthDistribution::kZipfian},
             {"histogram", LengthDistribution::kHistogram}});
  in.text("fieldnameprefix", spec.field_prefix);
  in.flag("readallfields", spec.read_all_fields);
  in.flag("writeallfields", spec.write_all_fields);
  in.flag("dataintegrity", spec.data_integrity);
  if (length.distribution == LengthDistribution::kHistogram) {
    std::string path = "hist.txt";
    in.text("fieldlengthhistogram", path);
    in.histogram(path, length);
  } else if (length.distribution == LengthDistribution::kConstant) {
    length.min = length.max;
  } else if (length.min > length.max) {
    in.fail(fmt::format("minfieldlength={} is above fieldlength={}: lower it or raise fieldlength",
                        length.min, length.max));
  }
  if (spec.data_integrity && length.distribution != LengthDistribution::kConstant) {
    in.fail("dataintegrity=true needs fields of one length: set fieldlengthdistribution=constant");
  }
  if (length.max * spec.field_count > kMaxRecordBytes) {
    in.fail(
        fmt::format("a record of fieldcount={} fields of {} bytes is larger than 512 MiB: "
                    "lower one of them",
                    spec.field_count, length.max));
  }
}

void read_scans(PropertyReader& in, Spec& spec) {
  spec.scan_length = {LengthDistribution::kUniform, 1, 1000, 1, {}};
  in.number("minscanlength", spec.scan_length.min, 1, 1000000000);
  in.number("maxscanlength", spec.scan_length.max, 1, 1000000000);
  in.choice("scanlengthdistribution", spec.scan_length.distribution,
            {{"uniform", LengthDistribution::kUniform}, {"zipfian", LengthDistribution::kZipfian}});
  if (spec.scan_length.min > spec.scan_length.max) {
    in.fail(
        fmt::format("minscanlength={} is above maxscanlength={}: lower it or raise "
                    "maxscanlength",
                    spec.scan_length.min, spec.scan_length.max));
  }
}

void read_keys(PropertyReader& in, Spec& spec) {
  in.choice("insertorder", spec.keys.ordered, {{"hashed", false}, {"ordered", true}});
  in.number("zeropadding", spec.keys.zero_padding, 0, kMaxKeyBytes - 4);
  in.number("keybytes", spec.keys.bytes, 0, kMaxKeyBytes);
  if (spec.keys.bytes != 0 && (spec.keys.bytes < 5 || spec.keys.capacity() < spec.record_count)) {
    in.fail(
        fmt::format("keys of {} bytes cannot name {} records: raise keybytes (16 is enough "
                    "for any workload)",
                    spec.keys.bytes, spec.record_count));
  }
}

void read_percentiles(PropertyReader& in, Spec& spec) {
  std::string list;
  in.text("hdrhistogram.percentiles", list);
  if (list.empty()) return;
  spec.percentiles.clear();
  for (std::string_view rest = list; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = trimmed(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    double value = 0;
    const auto end = std::from_chars(item.data(), item.data() + item.size(), value);
    if (end.ec != std::errc() || end.ptr != item.data() + item.size() || !(value > 0) ||
        value > 100) {
      in.fail(
          fmt::format("hdrhistogram.percentiles={} is not a list of numbers above 0 and up "
                      "to 100: write for example 50,95,99,99.9",
                      list));
      return;
    }
    spec.percentiles.push_back(value);
  }
}

void read_measurement(PropertyReader& in, Spec& spec) {
  bool as_histogram = false;
  in.choice("measurementtype", as_histogram, {{"hdrhistogram", false}, {"histogram", true}});
  if (as_histogram) {
    spec.notes.emplace_back("measurementtype=histogram is reported as hdrhistogram");
  }
  spec.interval = spec.target_per_s > 0 ? Interval::kBoth : Interval::kOp;
  in.choice("measurement.interval", spec.interval,
            {{"op", Interval::kOp}, {"intended", Interval::kIntended}, {"both", Interval::kBoth}});
  read_percentiles(in, spec);
  in.flag("status", spec.status);
  in.number("status.interval", spec.status_interval_s, 1, 86400);
  in.text("label", spec.label);
  in.text("exportfile", spec.export_file);
}

/// Rejects properties that only YCSB's Java client supports, instead of ignoring them.
void refuse_java(PropertyReader& in) {
  std::string workload = "site.ycsb.workloads.CoreWorkload";
  in.text("workload", workload);
  if (workload != "site.ycsb.workloads.CoreWorkload" &&
      workload != "com.yahoo.ycsb.workloads.CoreWorkload") {
    in.fail(
        fmt::format("workload={} is not known: only site.ycsb.workloads.CoreWorkload is, so "
                    "remove the property or set that",
                    workload));
  }
  std::string exporter = "TextMeasurementsExporter";
  in.text("exporter", exporter);
  if (!exporter.ends_with("TextMeasurementsExporter")) {
    in.fail(fmt::format("exporter={} is unsupported: remove it, and use --json FILE for JSON",
                        exporter));
  }
  for (const std::string_view name : {"hdrhistogram.fileoutput", "measurement.histogram.verbose",
                                      "measurement.trackjvm", "reportlatencyforeacherror"}) {
    bool wanted = false;
    in.flag(name, wanted);
    if (wanted) in.fail(fmt::format("{}=true is not supported: remove the property", name));
  }
  std::string errors;
  in.text("latencytrackederrors", errors);
  if (!errors.empty()) {
    in.fail(
        "latencytrackederrors is not supported: remove the property; [OP-FAILED] has the "
        "latencies of all failures");
  }
  std::uint64_t retries = 0;
  in.number("core_workload_insertion_retry_limit", retries, 0,
            std::numeric_limits<std::int64_t>::max());
  if (retries != 0) {
    in.fail(
        "core_workload_insertion_retry_limit must be 0: a failed insert is reported, not "
        "tried again");
  }
}

}  // namespace

Result<Spec> read_spec(const Properties& properties) {
  PropertyReader in(properties);
  Spec spec;
  in.refuse_unknown();
  refuse_java(in);
  read_counts(in, spec);
  read_mix(in, spec);
  read_distribution(in, spec);
  read_fields(in, spec);
  read_scans(in, spec);
  read_keys(in, spec);
  read_measurement(in, spec);
  if (!in.status().ok()) return in.status();
  return spec;
}

}  // namespace keyway::workloads
