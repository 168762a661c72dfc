#include <algorithm>
#include <array>
#include <numeric>

#include "keyway/workloads/spec.h"

namespace keyway::workloads {
namespace {

constexpr PropertyInfo kProperties[] = {
    {"recordcount", "0", "number of records"},
    {"operationcount", "0", "number of operations of the run; 0: until maxexecutiontime"},
    {"insertstart", "0", "number of the first record to load"},
    {"insertcount", "recordcount - insertstart", "number of records to load, from insertstart on"},
    {"threadcount", "1", "number of threads of each rank"},
    {"target", "0", "operations per second of the whole job; 0: no limit"},
    {"maxexecutiontime", "0", "maximum seconds of the run; 0: no limit"},
    {"workload", "site.ycsb.workloads.CoreWorkload", "only the core workload"},
    {"readproportion", "0.95", "share of reads"},
    {"updateproportion", "0.05", "share of updates"},
    {"insertproportion", "0", "share of inserts"},
    {"scanproportion", "0", "share of scans"},
    {"readmodifywriteproportion", "0", "share of read-modify-writes"},
    {"requestdistribution", "uniform",
     "uniform, zipfian, latest, hotspot, sequential, exponential; rankedzipfian: zipfian over "
     "the records, the first the hottest"},
    {"zipfianconstant", "0.99", "skew of the zipfian distributions, between 0 and 1"},
    {"hotspotdatafraction", "0.2", "hotspot: share of hot records"},
    {"hotspotopnfraction", "0.8", "hotspot: share of the operations on hot records"},
    {"exponential.percentile", "95", "exponential: % of the operations on ..."},
    {"exponential.frac", "0.8571428571", "... this share of the records"},
    {"fieldcount", "10", "fields of a record"},
    {"fieldlength", "100", "bytes of a field; with a distribution, the maximum"},
    {"minfieldlength", "1", "minimum bytes of a field"},
    {"fieldlengthdistribution", "constant", "constant, uniform, zipfian, histogram"},
    {"fieldlengthhistogram", "hist.txt", "file of the field length histogram"},
    {"fieldnameprefix", "field", "prefix of field names, which dataintegrity puts into values"},
    {"readallfields", "true", "reads fetch the whole record, or one field"},
    {"readallfieldsbyname", "false", "no difference here"},
    {"writeallfields", "false", "updates write the whole record, or one field"},
    {"dataintegrity", "false", "derive values from keys and check every read"},
    {"minscanlength", "1", "minimum records of a scan"},
    {"maxscanlength", "1000", "maximum records of a scan"},
    {"scanlengthdistribution", "uniform", "uniform, zipfian"},
    {"insertorder", "hashed", "hashed: scattered key names; ordered: ascending ones"},
    {"zeropadding", "1", "minimum digits of a key name"},
    {"keybytes", "0", "exact length of every key name in bytes; 0: YCSB's names"},
    {"table", "usertable", "ignored: a store is one table"},
    {"measurementtype", "hdrhistogram", "only hdrhistogram"},
    {"measurement.interval", "op; with a target, both",
     "latency from the operation's start (op), its intended start (intended), or both"},
    {"hdrhistogram.percentiles", "50,95,99", "percentiles of the report"},
    {"hdrhistogram.fileoutput", "false", "only false"},
    {"measurement.histogram.verbose", "false", "only false"},
    {"measurement.trackjvm", "false", "only false"},
    {"histogram.buckets", "1000", "no difference here"},
    {"timeseries.granularity", "1000", "no difference here"},
    {"status", "false", "a status line on stderr, as -s"},
    {"status.interval", "10", "seconds between status lines"},
    {"label", "", "prefix of every status line"},
    {"exportfile", "", "file for the text report instead of stdout"},
    {"exporter", "site.ycsb.measurements.exporter.TextMeasurementsExporter",
     "only the text exporter; see --json and --csv"},
    {"db", "", "ignored: see --store"},
    {"dotransactions", "", "ignored: see the command, load or run"},
    {"reportlatencyforeacherror", "false", "only false"},
    {"latencytrackederrors", "", "only empty"},
    {"spin.sleep", "false", "no difference here"},
    {"core_workload_insertion_retry_limit", "0", "only 0: a failed insert is reported"},
    {"core_workload_insertion_retry_interval", "3", "no difference here"},
};

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::span<const PropertyInfo> known_properties() { return kProperties; }

std::string_view nearest_property(std::string_view name) {
  return std::min_element(std::begin(kProperties), std::end(kProperties),
                          [name](const PropertyInfo& a, const PropertyInfo& b) {
                            return edit_distance(a.name, name) < edit_distance(b.name, name);
                          })
      ->name;
}

std::string_view op_name(OpKind kind) {
  switch (kind) {
    case OpKind::kRead: return "READ";
    case OpKind::kUpdate: return "UPDATE";
    case OpKind::kInsert: return "INSERT";
    case OpKind::kScan: return "SCAN";
    case OpKind::kReadModifyWrite: return "READ-MODIFY-WRITE";
  }
  return "?";
}

std::string_view distribution_name(Distribution distribution) {
  switch (distribution) {
    case Distribution::kUniform: return "uniform";
    case Distribution::kSequential: return "sequential";
    case Distribution::kZipfian: return "zipfian";
    case Distribution::kRankedZipfian: return "rankedzipfian";
    case Distribution::kLatest: return "latest";
    case Distribution::kHotspot: return "hotspot";
    case Distribution::kExponential: return "exponential";
  }
  return "?";
}

}  // namespace keyway::workloads
