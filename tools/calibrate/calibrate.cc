#include "keyway/tools/calibrate/calibrate.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "keyway/locks/fabric/sim/machine_file.h"
#include "keyway/locks/fabric/wait.h"

namespace keyway::calibrate {
namespace {

using fabric::sim::Machine;
using fabric::sim::Multicore;
using fabric::sim::Nearness;

/// A cost is at least this: time must pass.
constexpr double kMinNs = 0.05;

double at_least(double ns) { return std::max(ns, kMinNs); }

// Collects the figures with their sources.
class Writer {
 public:
  explicit Writer(const Options& options, const Host& host) : effort_(options.effort), host_(host) {
    machine_.name = options.name;
    machine_.multicore.emplace();
    by_ = fmt::format("measured by lockbench --calibrate on {}", host.cpu_model);
  }

  const Effort& effort() const { return effort_; }
  const Host& host() const { return host_; }
  Machine& machine() { return machine_; }
  Multicore& node() { return *machine_.multicore; }

  /// A figure that was measured: its lower quartile, from the least to the median.
  void measured(const char* name, double& figure, const Spread& spread, std::string_view how) {
    const Spread fit = spread.map(at_least);
    figure = fit.typical;
    machine_.notes[name] = {fmt::format("{}: {}", by_, how), fit.least, fit.most};
  }
  void counted(const char* name, std::string_view how) {
    machine_.notes[name] = {fmt::format("{}: {}", by_, how), 0, 0};
  }
  void guessed(const char* name, double& figure, double value, double least, double most,
               std::string_view why) {
    figure = value;
    machine_.notes[name] = {fmt::format("estimate: {}", why), least, most};
  }

 private:
  Effort effort_;
  const Host& host_;
  Machine machine_;
  std::string by_;
};

void write_shape(Writer& writer) {
  const Host& host = writer.host();
  writer.node().shape = host.shape;
  const char* how =
      host.regular ? "by hwloc" : "by hwloc; its parts differ in size, so threads only";
  for (const char* name : {"shape.sockets", "shape.numa_per_socket", "shape.cores_per_numa",
                           "shape.threads_per_core"}) {
    writer.counted(name, how);
  }
  writer.counted("placement.siblings_last", "agents are pinned so");
  writer.counted("placement.scatter", "agents are pinned so");
  writer.counted("wait.sleeps", "locks/fabric/wait.h yields");
}

void write_hits(Writer& writer) {
  const Host& host = writer.host();
  const Effort& effort = writer.effort();
  auto& cache = writer.node().cache;
  writer.measured("cpu.load_ns", cache.load_ns, load_hit(host, effort),
                  "loads of a line at hand, each from the one before");
  writer.measured("cpu.store_ns", cache.store_ns, store_hit(host, effort),
                  "stores to a line at hand");
  writer.measured("cpu.atomic_ns", cache.atomic_ns, atomic_hit(host, effort),
                  "fetch_add on a line at hand");
  const double bare = cache.load_ns + cache.store_ns + cache.atomic_ns;
  const auto each = [bare](double round) { return (round - bare) / 3; };
  writer.measured("cpu.overhead_ns", writer.node().overhead_ns,
                  called_round(host, effort).map(each),
                  "a third of what calls add to a round of fetch_add, load and store");
}

/// A transfer from a ping-pong: one way is a store that takes a copy away, and a load that fetches
/// one.
Spread transfer_of(const Spread& one_way, const fabric::sim::CacheCosts& cache) {
  const double bare = cache.store_ns + cache.load_ns;
  return one_way.map([bare](double ns) { return (ns - bare) / 2; });
}

/// A round of the ping-pong is four transfers t. When each lies anywhere within t (1 +- j), half of
/// the rounds lie within 1.35 deviations of their sum, which is 1.35 * 2 j t / sqrt(3).
void write_jitter(Writer& writer, const Pair& pair, double transfer) {
  double& figure = writer.node().cache.jitter_share;
  if (pair.first == pair.second) {
    return writer.guessed("line.jitter_share", figure, 0.2, 0, 0.5,
                          "it takes two hardware threads at once to measure");
  }
  const Spread rounds = single_rounds(writer.host(), writer.effort(), pair);
  const double share =
      std::clamp(std::sqrt(3) / 2.7 * (rounds.most - rounds.least) / transfer, 0.0, 0.9);
  writer.measured("line.jitter_share", figure, {share, share, share},
                  "from how far apart the quartiles of single ping-pong rounds lie; what the "
                  "clock itself varies is in it");
}

/// Two threads do atomics on one line without pause: a thread that has the line keeps it for the
/// share s of the other's transfer t, so that t + a ns contain 1 + s t / a atomics, of a ns each on
/// a held line.
void write_request_share(Writer& writer) {
  auto& cache = writer.node().cache;
  const auto pair = writer.host().any_pair();
  const double atomic = cache.atomic_ns;
  const double transfer = cache.transfer_ns[static_cast<std::size_t>(
      writer.host().shape.nearness(pair.first, pair.second))];
  write_jitter(writer, pair, transfer);
  Spread each;
  if (pair.first != pair.second) each = contended_atomic(writer.host(), writer.effort(), pair);
  if (each.least <= 0) {
    return writer.guessed("line.request_share", cache.request_share, 0.5, 0, 1,
                          "it takes two hardware threads at once to measure");
  }
  const auto share_of = [&](double ns) {
    return std::clamp(((transfer + atomic) / ns - 1) * atomic / transfer, 0.0, 1.0);
  };
  writer.measured("line.request_share", cache.request_share,
                  {share_of(each.most), share_of(each.typical), share_of(each.least)},
                  "from atomics of two threads on one line");
}

void write_transfers(Writer& writer) {
  constexpr std::array kNames = {"", "line.same_core_ns", "line.same_numa_ns",
                                 "line.same_socket_ns", "line.other_socket_ns"};
  auto& cache = writer.node().cache;
  const Spread* nearest = nullptr;
  std::array<Spread, fabric::sim::kNearnesses> found;
  for (std::size_t how = 1; how < fabric::sim::kNearnesses; ++how) {
    const auto pair = writer.host().pair_at(static_cast<Nearness>(how));
    if (pair.first == pair.second) continue;
    found[how] = transfer_of(one_way(writer.host(), writer.effort(), pair), cache);
    writer.measured(kNames[how], cache.transfer_ns[how], found[how],
                    fmt::format("half of one way of a ping-pong of hardware threads {} and {}, "
                                "less a store and a load at hand",
                                pair.first, pair.second));
    if (nearest == nullptr) nearest = &found[how];
  }
  for (std::size_t how = 1; how < fabric::sim::kNearnesses; ++how) {
    if (cache.transfer_ns[how] > 0) continue;
    writer.measured(kNames[how], cache.transfer_ns[how], nearest ? *nearest : Spread{100, 100, 100},
                    "not on this host: the nearest that is, or 100 ns where there is one thread");
  }
  write_request_share(writer);
  writer.guessed("line.invalidate_each_ns", cache.invalidate_each_ns, 1, 0, 10,
                 "it takes three hardware threads and more to measure");
  writer.guessed("line.load_busy_ns", cache.load_busy_ns, 10, 2, 40,
                 "it takes three hardware threads and more to measure");
}

void write_memory(Writer& writer) {
  constexpr std::array kNames = {"memory.same_numa_ns", "memory.same_socket_ns",
                                 "memory.other_socket_ns"};
  constexpr std::array kHow = {Nearness::kSameThread, Nearness::kSameSocket,
                               Nearness::kOtherSocket};
  auto& cache = writer.node().cache;
  const double bare = cache.load_ns;
  Spread nearest;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const auto [toucher, reader] = writer.host().pair_at(kHow[i]);
    if (i > 0 && toucher == reader) {
      writer.measured(kNames[i], cache.memory_ns[i], nearest, "not on this host: as the own one's");
      continue;
    }
    const Spread spread =
        memory_load(writer.host(), writer.effort(), toucher, reader).map([bare](double ns) {
          return ns - bare;
        });
    if (i == 0) nearest = spread;
    writer.measured(
        kNames[i], cache.memory_ns[i], spread,
        fmt::format("loads all over {} MiB, each from the one before, less a load at hand",
                    writer.effort().memory_mib));
  }
}

/// The time of two independent loads from memory, over that of one.
void write_overlap(Writer& writer) {
  const std::uint32_t one = writer.host().usable.front();
  const Spread alone = memory_load(writer.host(), writer.effort(), one, one);
  const Spread both = two_memory_loads(writer.host(), writer.effort());
  const auto share = [](double single, double two) {
    return std::clamp((2 * single - two) / single, 0.0, 1.0);
  };
  const double fit = share(alone.typical, both.typical);
  const auto [least, most] =
      std::minmax({fit, share(alone.most, both.most), share(alone.least, both.least)});
  writer.measured("line.overlap_share", writer.node().cache.overlap_share, {least, fit, most},
                  "from two loads from memory at once, neither from the other, and one alone");
}

void write_waiting(Writer& writer) {
  const Host& host = writer.host();
  const Effort& effort = writer.effort();
  Multicore& node = writer.node();
  const Spread look = spin_look(host, effort);
  writer.measured("wait.look_ns", node.wait.look_ns, look, "looks of a waiter that spins");
  writer.measured("wait.spin_ns", node.wait.spin_ns,
                  look.map([](double ns) { return ns * fabric::kSpinsBeforeYield; }),
                  "its looks before it yields");
  writer.measured("wait.retry_ns", node.wait.retry_ns, retry(host, effort),
                  "attempts that fail, without back-off");
  writer.measured("scheduler.yield_ns", node.core.yield_ns, yield_look(host, effort),
                  "looks of a waiter that yields");
  writer.measured("scheduler.switch_ns", node.core.switch_ns, context_switch(host, effort),
                  "one way of a ping-pong by yields on one hardware thread");
  const Wake wake = futex_wake(host, effort, host.any_pair());
  writer.measured("wait.signal_ns", node.wait.signal_ns, wake.signal, "FUTEX_WAKE of a sleeper");
  writer.measured("scheduler.wake_ns", node.core.wake_ns, wake.runs,
                  "from before FUTEX_WAKE to when the sleeper runs");
  const Spread turns = quantum(host, effort);
  if (turns.typical > 0) {
    writer.measured("scheduler.quantum_ns", node.core.quantum_ns, turns,
                    "turns of one of two busy threads on one hardware thread");
  } else {
    writer.guessed("scheduler.quantum_ns", node.core.quantum_ns, 3e6, 1e6, 1e7,
                   "no turn was seen to end; Linux' usual one");
  }
}

std::string toml(const Machine& machine) {
  std::string text = fmt::format(
      "# Written by lockbench --calibrate. A range is from the fastest batch to the median; the "
      "value is\n"
      "# the lower quartile.\nname = \"{}\"\nkind = \"coherent\"\n",
      machine.name);
  for (const auto& parameter : fabric::sim::parameters(machine)) {
    const bool is_switch = parameter.unit == "switch";
    text += fmt::format("\n[{}]\nvalue = {}\nunit = \"{}\"\nsource = \"{}\"\n", parameter.name,
                        is_switch ? (parameter.value != 0 ? "true" : "false")
                                  : fmt::format("{:.4g}", parameter.value),
                        parameter.unit, parameter.note.source);
    if (parameter.note.least < parameter.note.most) {
      text += fmt::format("range = [{:.4g}, {:.4g}]\n", parameter.note.least, parameter.note.most);
    }
  }
  return text;
}

}  // namespace

Result<std::string> calibrate(const Options& options) {
  const Host host = Host::discover();
  if (host.shape.threads() > fabric::sim::kMaxHardwareThreads) {
    return Status(Code::kUnsupported,
                  fmt::format("this host has {} hardware threads: calibrate takes at most {}",
                              host.shape.threads(), fabric::sim::kMaxHardwareThreads));
  }
  Writer writer(options, host);
  write_shape(writer);
  write_hits(writer);
  write_transfers(writer);
  write_memory(writer);
  write_overlap(writer);
  write_waiting(writer);
  std::string text = toml(writer.machine());
  const auto machine = fabric::sim::parse_machine(text);
  if (!machine.ok()) return machine.status();
  return text;
}

}  // namespace keyway::calibrate
