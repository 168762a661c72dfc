#include <array>
#include <numeric>

#include "keyway/locks/base/rng.h"
#include "keyway/tools/calibrate/batches.h"

namespace keyway::calibrate {

using fabric::Address;
using fabric::cpu;
using fabric::kCacheLine;
using fabric::ShmEndpoint;

Spread load_hit(const Host& host, const Effort& effort) {
  return time_pinned(host, effort, effort.batch, [&](ShmEndpoint& ep) {
    Address at = kLine;
    for (std::uint32_t i = 0; i < effort.batch; ++i) at = kLine + ep.load(cpu, at);  // it holds 0
  });
}

Spread store_hit(const Host& host, const Effort& effort) {
  return time_pinned(host, effort, effort.batch, [&](ShmEndpoint& ep) {
    for (std::uint32_t i = 0; i < effort.batch; ++i) ep.store(cpu, kLine, i);
  });
}

Spread atomic_hit(const Host& host, const Effort& effort) {
  return time_pinned(host, effort, effort.batch, [&](ShmEndpoint& ep) {
    for (std::uint32_t i = 0; i < effort.batch; ++i) ep.fetch_add(cpu, kLine, 1);
  });
}

namespace {

[[gnu::noinline]] Result<std::uint64_t> called_add(ShmEndpoint& ep, Address at) {
  return ep.fetch_add(cpu, at, 1);
}
[[gnu::noinline]] Result<std::uint64_t> called_load(ShmEndpoint& ep, Address at) {
  return ep.load(cpu, at);
}
[[gnu::noinline]] Result<std::uint64_t> called_store(ShmEndpoint& ep, Address at,
                                                     std::uint64_t value) {
  ep.store(cpu, at, value);
  return value;
}

}  // namespace

Spread called_round(const Host& host, const Effort& effort) {
  return time_pinned(host, effort, effort.batch, [&](ShmEndpoint& ep) {
    for (std::uint32_t i = 0; i < effort.batch; ++i) {
      const auto added = called_add(ep, kLine);
      const auto seen = called_load(ep, kLine + 8);
      if (added.ok() && seen.ok()) (void)called_store(ep, kLine + 8, *seen + *added);
    }
  });
}

namespace {

// Notes the time at its `first` call and at its `last`, at which it is true.
struct Between {
  std::uint32_t first;
  std::uint32_t last;
  std::uint32_t calls = 0;
  std::uint64_t began = 0;
  std::uint64_t ended = 0;

  bool operator()() {
    ++calls;
    if (calls == first) began = steady_ns();
    if (calls != last) return false;
    ended = steady_ns();
    return true;
  }
  double per_call() const { return static_cast<double>(ended - began) / (last - first); }
};

/// Batches of wait(ep, between).
template <class Wait>
Spread time_between(const Host& host, const Effort& effort, std::uint32_t first, std::uint32_t last,
                    Wait&& wait) {
  auto fabric = make_fabric();
  std::vector<double> each;
  run_pinned(host, {host.usable.front()}, [&](std::size_t) {
    ShmEndpoint ep = std::move(fabric.endpoint(0)).value();
    for (std::uint32_t i = 0; i < effort.batches; ++i) {
      Between between{first, last};
      wait(ep, between);
      each.push_back(between.per_call());
    }
  });
  return Spread::of(std::move(each));
}

constexpr std::uint32_t kYields = 100;

void wait_for(ShmEndpoint& ep, Between& between) {
  ep.wait_until(
      kLine, [&](std::uint64_t) { return between(); }, Deadline::never());
}

}  // namespace

Spread spin_look(const Host& host, const Effort& effort) {
  return time_between(host, effort, 1, fabric::kSpinsBeforeYield, wait_for);
}

Spread yield_look(const Host& host, const Effort& effort) {
  constexpr std::uint32_t kFirst = fabric::kSpinsBeforeYield + 2;
  return time_between(host, effort, kFirst, kFirst + kYields, wait_for);
}

Spread retry(const Host& host, const Effort& effort) {
  return time_between(host, effort, 1, 1 + kYields, [](ShmEndpoint& ep, Between& between) {
    ep.retry_until([&] { return between(); }, fabric::Backoff::none(), Deadline::never());
  });
}

namespace {

/// Writes a cycle through all lines of the segment, in an order no prefetcher follows.
void write_cycle(ShmEndpoint& ep, std::uint64_t lines) {
  std::vector<std::uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0);
  Rng rng(1);
  for (std::uint64_t i = lines - 1; i > 0; --i) std::swap(order[i], order[rng.below(i)]);
  for (std::uint64_t i = 0; i < lines; ++i) {
    ep.store(cpu, kLine + order[i] * kCacheLine, order[(i + 1) % lines] * kCacheLine);
  }
}

/// Follows the cycle from `Chains` places at once, a step of each in turn: ns per step of all.
template <std::size_t Chains>
Spread follow(const Host& host, const Effort& effort, std::uint32_t toucher, std::uint32_t reader) {
  const std::uint64_t lines = effort.memory_mib * (1ULL << 20) / kCacheLine;
  auto fabric = make_fabric(fabric::kReservedBytes + lines * kCacheLine);
  Spread spread;
  run_pinned(host, {toucher}, [&](std::size_t) {
    ShmEndpoint ep = std::move(fabric.endpoint(0)).value();
    write_cycle(ep, lines);
  });
  run_pinned(host, {reader}, [&](std::size_t) {
    ShmEndpoint ep = std::move(fabric.endpoint(0)).value();
    std::array<Address, Chains> at;
    for (std::size_t k = 0; k < Chains; ++k) at[k] = kLine + lines / Chains * k * kCacheLine;
    spread = time_batches(effort, effort.batch, [&] {
      for (std::uint32_t i = 0; i < effort.batch; ++i) {
        for (Address& next : at) next = kLine + ep.load(cpu, next);
      }
    });
  });
  return spread;
}

}  // namespace

Spread memory_load(const Host& host, const Effort& effort, std::uint32_t toucher,
                   std::uint32_t reader) {
  return follow<1>(host, effort, toucher, reader);
}

Spread two_memory_loads(const Host& host, const Effort& effort) {
  const std::uint32_t one = host.usable.front();
  return follow<2>(host, effort, one, one);
}

}  // namespace keyway::calibrate
