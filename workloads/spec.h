// A workload: YCSB's properties, typed, with YCSB's defaults, and checked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/locks/base/status.h"
#include "keyway/workloads/key_name.h"
#include "keyway/workloads/properties.h"

namespace keyway::workloads {

enum class OpKind : std::uint8_t { kRead, kUpdate, kInsert, kScan, kReadModifyWrite };
inline constexpr std::size_t kOpKinds = 5;

/// The distribution of the requested records. kZipfian is YCSB's scrambled one.
enum class Distribution {
  kUniform,
  kSequential,
  kZipfian,
  kRankedZipfian,
  kLatest,
  kHotspot,
  kExponential
};
enum class LengthDistribution { kConstant, kUniform, kZipfian, kHistogram };
/// From when an operation's latency counts: its start, its intended start, or both apart.
enum class Interval { kOp, kIntended, kBoth };

/// A length in [min, max] and its distribution.
struct LengthSpec {
  LengthDistribution distribution = LengthDistribution::kConstant;
  std::uint64_t min = 1;
  std::uint64_t max = 100;
  std::uint64_t block = 1;             // kHistogram: lengths are multiples of it
  std::vector<std::uint64_t> weights;  // kHistogram: weights[i] is that of (i + 1) * block
};

/// Plain data; read_spec() fills and checks it.
struct Spec {
  std::uint64_t record_count = 0;
  std::uint64_t operation_count = 0;  // 0: until max_execution_s
  std::uint64_t insert_start = 0;
  std::uint64_t insert_count = 0;  // record_count - insert_start unless given
  std::uint32_t threads = 1;
  double target_per_s = 0;            // 0: as fast as it goes
  std::uint64_t max_execution_s = 0;  // 0: no limit

  std::uint32_t field_count = 10;
  LengthSpec field_length;
  std::string field_prefix = "field";
  bool read_all_fields = true;
  bool write_all_fields = false;
  bool data_integrity = false;

  std::array<double, kOpKinds> mix{0.95, 0.05, 0, 0, 0};  // by OpKind; need not sum to 1
  Distribution distribution = Distribution::kUniform;
  double zipfian_constant = 0.99;
  double hotspot_data_fraction = 0.2;
  double hotspot_operation_fraction = 0.8;
  double exponential_percentile = 95;
  double exponential_fraction = 0.8571428571;
  LengthSpec scan_length;
  KeyStyle keys;

  std::vector<double> percentiles{50, 95, 99};
  Interval interval = Interval::kOp;
  bool status = false;
  std::uint32_t status_interval_s = 10;
  std::string label;
  std::string export_file;

  std::vector<std::string> notes;  // sentences for the user: accepted, but not as YCSB would

  double share(OpKind kind) const { return mix[static_cast<std::size_t>(kind)]; }
};

struct PropertyInfo {
  std::string_view name;
  std::string_view default_value;
  std::string_view help;
};

/// Every property that read_spec() knows, in the order of the help text.
std::span<const PropertyInfo> known_properties();
/// The known property with the name nearest to `name` by edit distance.
std::string_view nearest_property(std::string_view name);

/// Fails with one sentence that names the property, its value and what would be right.
Result<Spec> read_spec(const Properties& properties);

/// The name that YCSB gives an operation in its report.
std::string_view op_name(OpKind kind);
/// The value of `requestdistribution` that means `distribution`.
std::string_view distribution_name(Distribution distribution);

}  // namespace keyway::workloads
