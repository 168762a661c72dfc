#include "keyway/locks/fabric/sim/machine_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <sstream>

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace keyway::fabric::sim {
namespace {

// One parameter of the format: its name, its unit, and where in a Machine it lies.
struct Field {
  std::string_view name;
  std::string_view unit;
  double (*get)(const Machine&);
  void (*set)(Machine&, double);
};

#define KEYWAY_FIELD(name, unit, member)                               \
  Field {                                                              \
    name, unit, [](const Machine& m) { return double(m.member); },     \
        [](Machine& m, double v) { m.member = decltype(m.member)(v); } \
  }

constexpr std::array kFields{
    KEYWAY_FIELD("shape.ranks_per_node", "ranks", shape.ranks_per_node),
    KEYWAY_FIELD("shape.nodes_per_rack", "nodes", shape.nodes_per_rack),
    KEYWAY_FIELD("semantics.ordered", "switch", semantics.ordered),
    KEYWAY_FIELD("semantics.one_node_is_one_class", "switch", semantics.one_node_is_one_class),
    KEYWAY_FIELD("semantics.random_service", "switch", semantics.random_service),
    KEYWAY_FIELD("path.machine.latency_ns", "ns", machine.latency_ns),
    KEYWAY_FIELD("path.machine.ns_per_byte", "ns/B", machine.ns_per_byte),
    KEYWAY_FIELD("path.rack.latency_ns", "ns", rack.latency_ns),
    KEYWAY_FIELD("path.rack.ns_per_byte", "ns/B", rack.ns_per_byte),
    KEYWAY_FIELD("path.loopback.latency_ns", "ns", loopback.latency_ns),
    KEYWAY_FIELD("path.loopback.ns_per_byte", "ns/B", loopback.ns_per_byte),
    KEYWAY_FIELD("card.issue_ns", "ns", card.issue_ns),
    KEYWAY_FIELD("card.atomic_ns", "ns", card.atomic_ns),
    KEYWAY_FIELD("card.read_ns", "ns", card.read_ns),
    KEYWAY_FIELD("card.write_ns", "ns", card.write_ns),
    KEYWAY_FIELD("card.ns_per_byte", "ns/B", card.ns_per_byte),
    KEYWAY_FIELD("card.crowding_ns", "ns", card.crowding_ns),
    KEYWAY_FIELD("loopback.issue_ns", "ns", loopback_card.issue_ns),
    KEYWAY_FIELD("loopback.atomic_ns", "ns", loopback_card.atomic_ns),
    KEYWAY_FIELD("loopback.read_ns", "ns", loopback_card.read_ns),
    KEYWAY_FIELD("loopback.write_ns", "ns", loopback_card.write_ns),
    KEYWAY_FIELD("loopback.ns_per_byte", "ns/B", loopback_card.ns_per_byte),
    KEYWAY_FIELD("loopback.crowding_ns", "ns", loopback_card.crowding_ns),
    KEYWAY_FIELD("atomicity.gap_ns", "ns", atomicity.gap_ns),
    KEYWAY_FIELD("queue_pairs.cached", "queue pairs", queue_pairs.cached),
    KEYWAY_FIELD("queue_pairs.miss_ns", "ns", queue_pairs.miss_ns),
    KEYWAY_FIELD("jitter.max_ns", "ns", jitter.max_ns),
    KEYWAY_FIELD("jitter.mean_ns", "ns", jitter.mean_ns),
    KEYWAY_FIELD("cpu.load_ns", "ns", cpu.load_ns),
    KEYWAY_FIELD("cpu.store_ns", "ns", cpu.store_ns),
    KEYWAY_FIELD("cpu.atomic_ns", "ns", cpu.atomic_ns),
    KEYWAY_FIELD("cpu.ns_per_byte", "ns/B", cpu.ns_per_byte),
    KEYWAY_FIELD("cpu.poll_ns", "ns", cpu.poll_ns),
};

// Fields of a coherent machine.
constexpr std::array kCoherentFields{
    KEYWAY_FIELD("shape.sockets", "sockets", multicore->shape.sockets),
    KEYWAY_FIELD("shape.numa_per_socket", "NUMA nodes", multicore->shape.numa_per_socket),
    KEYWAY_FIELD("shape.cores_per_numa", "cores", multicore->shape.cores_per_numa),
    KEYWAY_FIELD("shape.threads_per_core", "threads", multicore->shape.threads_per_core),
    KEYWAY_FIELD("placement.siblings_last", "switch", multicore->placement.siblings_last),
    KEYWAY_FIELD("placement.scatter", "switch", multicore->placement.scatter),
    KEYWAY_FIELD("cpu.load_ns", "ns", multicore->cache.load_ns),
    KEYWAY_FIELD("cpu.store_ns", "ns", multicore->cache.store_ns),
    KEYWAY_FIELD("cpu.atomic_ns", "ns", multicore->cache.atomic_ns),
    KEYWAY_FIELD("cpu.overhead_ns", "ns", multicore->overhead_ns),
    KEYWAY_FIELD("line.same_core_ns", "ns", multicore->cache.transfer_ns[1]),
    KEYWAY_FIELD("line.same_numa_ns", "ns", multicore->cache.transfer_ns[2]),
    KEYWAY_FIELD("line.same_socket_ns", "ns", multicore->cache.transfer_ns[3]),
    KEYWAY_FIELD("line.other_socket_ns", "ns", multicore->cache.transfer_ns[4]),
    KEYWAY_FIELD("line.invalidate_each_ns", "ns", multicore->cache.invalidate_each_ns),
    KEYWAY_FIELD("line.load_busy_ns", "ns", multicore->cache.load_busy_ns),
    KEYWAY_FIELD("line.request_share", "share", multicore->cache.request_share),
    KEYWAY_FIELD("line.jitter_share", "share", multicore->cache.jitter_share),
    KEYWAY_FIELD("line.overlap_share", "share", multicore->cache.overlap_share),
    KEYWAY_FIELD("memory.same_numa_ns", "ns", multicore->cache.memory_ns[0]),
    KEYWAY_FIELD("memory.same_socket_ns", "ns", multicore->cache.memory_ns[1]),
    KEYWAY_FIELD("memory.other_socket_ns", "ns", multicore->cache.memory_ns[2]),
    KEYWAY_FIELD("scheduler.switch_ns", "ns", multicore->core.switch_ns),
    KEYWAY_FIELD("scheduler.yield_ns", "ns", multicore->core.yield_ns),
    KEYWAY_FIELD("scheduler.quantum_ns", "ns", multicore->core.quantum_ns),
    KEYWAY_FIELD("scheduler.wake_ns", "ns", multicore->core.wake_ns),
    KEYWAY_FIELD("wait.look_ns", "ns", multicore->wait.look_ns),
    KEYWAY_FIELD("wait.spin_ns", "ns", multicore->wait.spin_ns),
    KEYWAY_FIELD("wait.retry_ns", "ns", multicore->wait.retry_ns),
    KEYWAY_FIELD("wait.signal_ns", "ns", multicore->wait.signal_ns),
    KEYWAY_FIELD("wait.sleeps", "switch", multicore->wait.sleeps),
};
#undef KEYWAY_FIELD

std::span<const Field> fields_of(const Machine& machine) {
  if (machine.multicore) return kCoherentFields;
  return kFields;
}

// A second of virtual time in ns: no single cost is that long, and sums stay far from overflow.
constexpr double kMaxNs = 1e9;
constexpr double kMaxCount = 1 << 24;

Status bad(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

/// The error in `value` for a parameter, or success.
Status check_value(const Field& field, double value) {
  const bool is_switch = field.unit == "switch";
  const bool is_share = field.unit == "share";
  const bool is_count = !is_switch && !is_share && field.unit != "ns" && field.unit != "ns/B";
  if (is_switch && value != 0 && value != 1) {
    return bad(fmt::format("{} is a switch: give true or false", field.name));
  }
  if (!std::isfinite(value) || value < 0) {
    return bad(
        fmt::format("{} is {}: give a number of {} from 0 up", field.name, value, field.unit));
  }
  if (is_share && value > 1) {
    return bad(fmt::format("{} is {}: give a share from 0 to 1", field.name, value));
  }
  if (is_count && value != std::floor(value)) {
    return bad(fmt::format("{} is {}: give a whole number of {}", field.name, value, field.unit));
  }
  if (value > (is_count ? kMaxCount : kMaxNs)) {
    return bad(fmt::format("{} is {}: give at most {} {}", field.name, value,
                           is_count ? kMaxCount : kMaxNs, field.unit));
  }
  return {};
}

const Field* field_named(const Machine& machine, std::string_view name) {
  const std::span<const Field> fields = fields_of(machine);
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [name](const Field& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

Result<double> number(const Field& field, const toml::node& node, std::string_view key) {
  const bool is_switch = field.unit == "switch";
  if (is_switch && node.is_boolean()) return node.as_boolean()->get() ? 1.0 : 0.0;
  if (!is_switch && node.is_number()) return *node.value<double>();
  return bad(
      fmt::format("{}.{} must be {}", field.name, key, is_switch ? "true or false" : "a number"));
}

Status read_range(const Field& field, const toml::node& node, ParameterNote& note) {
  const toml::array* range = node.as_array();
  if (range == nullptr || range->size() != 2 || !range->get(0)->is_number() ||
      !range->get(1)->is_number()) {
    return bad(
        fmt::format("{}.range must be two numbers, the minimum and the maximum", field.name));
  }
  const double value = note.least;
  note.least = *range->get(0)->value<double>();
  note.most = *range->get(1)->value<double>();
  for (const double bound : {note.least, note.most}) {
    if (Status status = check_value(field, bound); !status.ok()) return status;
  }
  if (!(note.least <= value && value <= note.most)) {
    return bad(fmt::format("{}.range [{}, {}] does not hold the value {}", field.name, note.least,
                           note.most, value));
  }
  return {};
}

/// Reads one parameter's table into the machine.
Status read_parameter(const Field& field, const toml::table& table, Machine& machine) {
  for (const auto& [key, node] : table) {
    const std::string_view k = key.str();
    if (k != "value" && k != "unit" && k != "source" && k != "range") {
      return bad(fmt::format("{}.{} is unknown: a parameter has value, unit, source and range",
                             field.name, k));
    }
  }
  const toml::node* given = table.get("value");
  if (given == nullptr) return bad(fmt::format("{}.value is missing", field.name));
  auto value = number(field, *given, "value");
  if (!value.ok()) return value.status();
  if (Status status = check_value(field, *value); !status.ok()) return status;
  const auto unit = table["unit"].value<std::string_view>();
  if (!unit || *unit != field.unit) {
    return bad(fmt::format("{}.unit must be \"{}\"", field.name, field.unit));
  }
  const auto source = table["source"].value<std::string>();
  if (!source || source->empty()) {
    return bad(fmt::format("{}.source must name the source of the figure", field.name));
  }
  ParameterNote note{.source = *source, .least = *value, .most = *value};
  if (const toml::node* range = table.get("range")) {
    if (Status status = read_range(field, *range, note); !status.ok()) return status;
  }
  field.set(machine, *value);
  machine.notes[std::string(field.name)] = std::move(note);
  return {};
}

/// Reads the tables below `prefix`: parameters, or groups of them.
Status read_group(const std::string& prefix, const toml::table& group, Machine& machine) {
  for (const auto& [key, node] : group) {
    const std::string name =
        prefix.empty() ? std::string(key.str()) : fmt::format("{}.{}", prefix, key.str());
    if (name == "name" || name == "kind") continue;
    const Field* field = field_named(machine, name);
    const std::span<const Field> fields = fields_of(machine);
    const bool is_group = std::any_of(fields.begin(), fields.end(), [&](const Field& f) {
      return f.name.starts_with(name + ".");
    });
    if (field == nullptr && !is_group) {
      return bad(fmt::format("{} is unknown: no parameter of a machine is called so", name));
    }
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      return bad(fmt::format("{} must be a table{}", name,
                             field != nullptr ? " with value, unit and source" : ""));
    }
    Status status = field != nullptr ? read_parameter(*field, *table, machine)
                                     : read_group(name, *table, machine);
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace

Result<Machine> parse_machine(std::string_view text) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    return bad(fmt::format("line {} is not valid TOML: {}", parsed.error().source().begin.line,
                           parsed.error().description()));
  }
  Machine machine;
  const auto name = parsed.table()["name"].value<std::string>();
  if (!name || name->empty()) return bad("name is missing: say what the machine is called");
  machine.name = *name;
  const auto kind = parsed.table()["kind"].value_or<std::string_view>("distributed");
  if (kind != "distributed" && kind != "coherent") {
    return bad(fmt::format("kind is \"{}\": a machine is \"distributed\" or \"coherent\"", kind));
  }
  if (kind == "coherent") machine.multicore.emplace();
  if (Status status = read_group("", parsed.table(), machine); !status.ok()) return status;
  for (const Field& field : fields_of(machine)) {
    if (!machine.notes.contains(std::string(field.name))) {
      return bad(fmt::format("{} is missing", field.name));
    }
  }
  if (Status status = check_machine(machine); !status.ok()) return status;
  return machine;
}

std::vector<MachineParameter> parameters(const Machine& machine) {
  std::vector<MachineParameter> all;
  for (const Field& field : fields_of(machine)) {
    const double value = field.get(machine);
    ParameterNote note{.source = {}, .least = value, .most = value};
    const auto found = machine.notes.find(std::string(field.name));
    if (found != machine.notes.end()) note = found->second;
    all.push_back({std::string(field.name), value, std::string(field.unit), std::move(note)});
  }
  return all;
}

Status set_parameter(Machine& machine, std::string_view name, double value) {
  const Field* field = field_named(machine, name);
  if (field == nullptr) {
    return bad(fmt::format("{} is unknown: no parameter of a machine is called so", name));
  }
  if (Status status = check_value(*field, value); !status.ok()) return status;
  Machine changed = machine;
  field->set(changed, value);
  if (Status status = check_machine(changed); !status.ok()) return status;
  machine = std::move(changed);
  return {};
}

namespace {

Status check_multicore(const Multicore& node) {
  const MulticoreShape& shape = node.shape;
  for (const std::uint32_t count :
       {shape.sockets, shape.numa_per_socket, shape.cores_per_numa, shape.threads_per_core}) {
    // Each within the bound, so that their product does not overflow.
    if (count == 0 || count > kMaxHardwareThreads) {
      return bad(
          fmt::format("shape has a count of {}: each is from 1 to {}", count, kMaxHardwareThreads));
    }
  }
  if (shape.threads() > kMaxHardwareThreads) {
    return bad(fmt::format("shape has {} hardware threads: a node has at most {}", shape.threads(),
                           kMaxHardwareThreads));
  }
  if (node.core.yield_ns <= 0 || node.core.quantum_ns <= 0 || node.wait.retry_ns <= 0) {
    return bad(
        "scheduler.yield_ns, scheduler.quantum_ns and wait.retry_ns must be above 0: time "
        "passes while an agent waits");
  }
  return {};
}

}  // namespace

Status check_machine(const Machine& machine) {
  if (machine.multicore) return check_multicore(*machine.multicore);
  if (machine.shape.ranks_per_node == 0) {
    return bad("shape.ranks_per_node is 0: a node holds at least one rank");
  }
  const double atomic = std::min(machine.card.atomic_ns, machine.loopback_card.atomic_ns);
  if (machine.atomicity.gap_ns > atomic) {
    return bad(
        fmt::format("atomicity.gap_ns is {}: it lies within card.atomic_ns and "
                    "loopback.atomic_ns, of which the lesser is {}",
                    machine.atomicity.gap_ns, atomic));
  }
  if (machine.jitter.mean_ns > machine.jitter.max_ns) {
    return bad(fmt::format("jitter.mean_ns is {}: it is at most jitter.max_ns, which is {}",
                           machine.jitter.mean_ns, machine.jitter.max_ns));
  }
  return {};
}

}  // namespace keyway::fabric::sim
