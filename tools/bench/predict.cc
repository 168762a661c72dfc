// bench_predict: the throughput of a lock on this host, and the prediction of a simulation of this
// host.
//
//   bench_predict ACQUIRES REPEATS [MACHINE_FILE]
//
// Agents with a core each take one lock in turn, write one word under it, and release it, with no
// work between; on the shm fabric and on a simulated one, with a machine that is measured first
// unless a file is given. Prints one JSON line per lock and number of agents: the upper quartile of
// REPEATS throughputs.
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "keyway/locks/distributed/any_lock.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/fabric/shm/shm_fabric.h"
#include "keyway/locks/fabric/sim/machine_file.h"
#include "keyway/locks/fabric/sim/sim_fabric.h"
#include "keyway/tools/calibrate/calibrate.h"
#include "keyway/tools/calibrate/measure.h"

namespace {

using namespace keyway;

constexpr std::uint32_t kMaxAgents = 2;

struct Layout {
  fabric::SegmentLayout segment;
  std::uint64_t group = segment.reserve(locks::kLockLineBytes, 128);
  std::uint64_t line = segment.reserve(locks::kLockLineBytes, 128);
  std::uint64_t record = segment.reserve(fabric::kCacheLine, 128);
  locks::NodeRegion nodes = locks::NodeRegion::reserve(segment, kMaxAgents + 1, 4);

  locks::LockSite site() const { return {.line = {0, line}, .group = {0, group}}; }
};

/// One agent's part: rounds until it has had `acquires`, or another has.
template <class E, class Over>
std::uint64_t take_turns(E& ep, const Layout& layout, const locks::AnyLock& lock,
                         std::uint64_t acquires, Over&& over) {
  locks::LockAgent<E> agent(ep, layout.nodes);
  const locks::LockSite site = layout.site();
  std::uint64_t rounds = 0;
  while (rounds < acquires && !over()) {
    auto grant = lock.acquire(agent, site, locks::Mode::kWrite, Deadline::never());
    ep.store(fabric::cpu, {0, layout.record}, ep.load(fabric::cpu, {0, layout.record}) + 1);
    lock.release(agent, site, *grant);
    ++rounds;
  }
  return rounds;
}

/// Acquisitions per second of all agents together, until one has had its number.
double on_this_host(const locks::AnyLock& lock, const calibrate::Host& host,
                    const std::vector<std::uint32_t>& where, std::uint64_t acquires) {
  Layout layout;
  fabric::ShmFabric::Options options;
  options.segment_bytes = layout.segment.size();
  options.agents_per_rank = kMaxAgents + 1;
  auto fabric = std::move(fabric::ShmFabric::create(options)).value();
  std::atomic<std::uint32_t> ready{0};
  std::atomic<bool> over{false};
  std::vector<std::uint64_t> rounds(where.size());
  std::vector<std::uint64_t> began(where.size());
  std::vector<std::uint64_t> ended(where.size());
  calibrate::run_pinned(host, where, [&](std::size_t me) {
    auto ep = std::move(fabric.endpoint(0)).value();
    ready.fetch_add(1, std::memory_order_acq_rel);
    while (ready.load(std::memory_order_acquire) < where.size()) fabric::give_way();
    began[me] = steady_ns();
    rounds[me] = take_turns(ep, layout, lock, acquires,
                            [&] { return over.load(std::memory_order_relaxed); });
    over.store(true, std::memory_order_relaxed);
    ended[me] = steady_ns();
  });
  const double ns = static_cast<double>(*std::max_element(ended.begin(), ended.end()) -
                                        *std::min_element(began.begin(), began.end()));
  double sum = 0;
  for (const std::uint64_t n : rounds) sum += static_cast<double>(n);
  return sum * 1e9 / ns;
}

double simulated(const locks::AnyLock& lock, const fabric::sim::Machine& machine,
                 std::size_t agents, std::uint64_t acquires) {
  Layout layout;
  fabric::SimFabric::Options options;
  options.machine = machine;
  options.segment_bytes = layout.segment.size();
  options.agents_per_rank = kMaxAgents + 1;
  auto fabric = std::move(fabric::SimFabric::create(options)).value();
  bool over = false;
  std::uint64_t rounds = 0;
  fabric.run(std::vector<std::uint32_t>(agents, 0), [&](std::uint32_t) {
    auto ep = std::move(fabric.endpoint(0)).value();
    rounds += take_turns(ep, layout, lock, acquires, [&] { return over; });
    over = true;
  });
  return static_cast<double>(rounds) * 1e9 / fabric.time_ns();
}

Result<std::string> machine_text(const char* file) {
  if (file == nullptr) return calibrate::calibrate({});
  std::ifstream in(file);
  if (!in) return Status(Code::kUnavailable, fmt::format("{} cannot be read", file));
  return std::string(std::istreambuf_iterator<char>(in), {});
}

/// One line per lock and number of agents.
std::vector<std::string> compare(std::uint64_t acquires, int repeats, const calibrate::Host& host,
                                 const fabric::sim::Machine& machine) {
  const auto pair = host.any_pair();
  std::vector<std::string> lines;
  for (const char* kind : {"fompi-spin", "fompi-rw", "gbh", "gbh:lockall=off", "d-mcs"}) {
    const auto lock = std::move(locks::AnyLock::make(kind)).value();
    for (std::size_t agents = 1; agents <= kMaxAgents; ++agents) {
      std::vector<std::uint32_t> where = {pair.first, pair.second};
      where.resize(agents);
      std::vector<double> measured;
      for (int i = 0; i < repeats; ++i) {
        measured.push_back(on_this_host(lock, host, where, acquires));
      }
      // As for the machine: others only ever slow a run down, so the upper quartile represents it.
      std::sort(measured.begin(), measured.end());
      const double here = measured[measured.size() * 3 / 4];
      const double predicted = simulated(lock, machine, agents, std::min(acquires, 20'000UL));
      lines.push_back(
          fmt::format("{{\"lock\": \"{}\", \"agents\": {}, \"measured_per_s\": {:.0f}, "
                      "\"predicted_per_s\": {:.0f}, \"ratio\": {:.3f}}}\n",
                      kind, agents, here, predicted, predicted / here));
    }
  }
  return lines;
}

/// A hypervisor may move this machine's processors between measuring it and measuring locks. The
/// transfer time of a line between them shows it.
int predict(std::uint64_t acquires, int repeats, const char* file) {
  constexpr int kAttempts = 8;
  constexpr double kMoved = 1.5;
  const calibrate::Host host = calibrate::Host::discover();
  const auto way_ns = [&] { return calibrate::one_way(host, {}, host.any_pair()).typical; };
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const double before = way_ns();
    const auto text = machine_text(file);
    const auto machine = text.ok() ? fabric::sim::parse_machine(*text) : text.status();
    if (!machine.ok()) {
      fmt::print(stderr, "bench_predict: {}\n", machine.status().message());
      return 2;
    }
    const auto lines = compare(acquires, repeats, host, *machine);
    const double after = way_ns();
    if (after < before * kMoved && before < after * kMoved) {
      for (const std::string& line : lines) fmt::print("{}", line);
      return 0;
    }
    fmt::print(stderr,
               "bench_predict: a line's way took {:.0f} ns before and {:.0f} ns after: the "
               "processors were moved, so once more\n",
               before, after);
  }
  fmt::print(stderr, "bench_predict: this host changes too often to measure\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    fmt::print(stderr, "usage: bench_predict ACQUIRES REPEATS [MACHINE_FILE]\n");
    return 2;
  }
  return predict(std::stoull(argv[1]), std::stoi(argv[2]), argc == 4 ? argv[3] : nullptr);
}
