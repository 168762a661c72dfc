#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "keyway/locks/fabric/wait.h"
#include "keyway/tools/calibrate/batches.h"

namespace keyway::calibrate {

using fabric::cpu;
using fabric::ShmEndpoint;

namespace {

/// Rounds of a ping-pong in one batch: few, so that many batches pass without a disturbance.
constexpr std::uint32_t kRounds = 100;

/// Thread 0 counts the line up to odd numbers, thread 1 to even ones; `pass` is called between
/// polls.
template <class Pass>
Spread ping_pong(const Host& host, const Effort& effort, const Pair& pair, Pass&& pass) {
  auto fabric = make_fabric();
  Spread spread;
  run_pinned(host, {pair.first, pair.second}, [&](std::size_t me) {
    ShmEndpoint ep = std::move(fabric.endpoint(0)).value();
    std::uint64_t turn = me;  // the value at which it is this thread's turn
    const auto rounds = [&] {
      for (std::uint32_t round = 0; round < kRounds; ++round, turn += 2) {
        while (ep.load(cpu, kLine) != turn) pass();
        ep.store(cpu, kLine, turn + 1);
      }
    };
    if (me == 0) {
      spread = time_batches(effort, 2.0 * kRounds, rounds);
    } else {
      for (std::uint32_t batch = 0; batch <= effort.batches; ++batch) rounds();
    }
  });
  return spread;
}

}  // namespace

Spread one_way(const Host& host, const Effort& effort, const Pair& pair) {
  return ping_pong(host, effort, pair, [] {});
}

Spread single_rounds(const Host& host, const Effort& effort, const Pair& pair) {
  auto fabric = make_fabric();
  std::vector<double> each;
  const std::uint32_t rounds = effort.batches * 10;
  run_pinned(host, {pair.first, pair.second}, [&](std::size_t me) {
    ShmEndpoint ep = std::move(fabric.endpoint(0)).value();
    std::uint64_t began = 0;
    for (std::uint64_t turn = me; turn < 2 * rounds; turn += 2) {
      while (ep.load(cpu, kLine) != turn) continue;
      const std::uint64_t now = me == 0 ? steady_ns() : 0;
      if (began != 0) each.push_back(static_cast<double>(now - began));
      began = now;
      ep.store(cpu, kLine, turn + 1);
    }
  });
  std::sort(each.begin(), each.end());
  return {each[each.size() / 4], each[each.size() / 2], each[each.size() * 3 / 4]};
}

Spread context_switch(const Host& host, const Effort& effort) {
  const std::uint32_t one = host.usable.front();
  return ping_pong(host, effort, {one, one}, [] { fabric::give_way(); });
}

Spread contended_atomic(const Host& host, const Effort& effort, const Pair& pair) {
  auto fabric = make_fabric();
  std::atomic<bool> ends{false};
  std::vector<double> each;
  run_pinned(host, {pair.first, pair.second}, [&](std::size_t me) {
    ShmEndpoint ep = std::move(fabric.endpoint(0)).value();
    // relaxed: nothing is read that the flag would publish.
    while (me == 1 && !ends.load(std::memory_order_relaxed)) ep.fetch_add(cpu, kLine, 1);
    if (me == 1) return;
    for (std::uint32_t i = 0; i <= effort.batches; ++i) {
      const std::uint64_t began = steady_ns();
      const std::uint64_t from = ep.load(cpu, kLine);
      for (std::uint32_t n = 0; n < effort.batch; ++n) ep.fetch_add(cpu, kLine, 1);
      const std::uint64_t to = ep.load(cpu, kLine);
      const auto took = static_cast<double>(steady_ns() - began);
      // Only batches in which the other took part.
      if (to - from > effort.batch + effort.batch / 10) {
        each.push_back(took / static_cast<double>(to - from));
      }
    }
    ends.store(true, std::memory_order_relaxed);
  });
  return each.empty() ? Spread{} : Spread::of(std::move(each));
}

namespace {

constexpr std::uint64_t kTimeToFallAsleepNs = 100'000;

long futex(std::atomic<std::uint32_t>& word, int what, std::uint32_t value) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), what | FUTEX_PRIVATE_FLAG,
                 value, nullptr, nullptr, 0);
}

void busy_for(std::uint64_t ns) {
  const std::uint64_t until = steady_ns() + ns;
  while (steady_ns() < until) fabric::cpu_pause();
}

}  // namespace

Wake futex_wake(const Host& host, const Effort& effort, const Pair& pair) {
  std::atomic<std::uint32_t> word{0};
  std::atomic<std::uint64_t> awake_at{0};
  std::vector<double> signal;
  std::vector<double> runs;
  const std::uint32_t wakes = effort.batches;
  run_pinned(host, {pair.first, pair.second}, [&](std::size_t me) {
    for (std::uint32_t i = 1; i <= wakes; ++i) {
      if (me == 1) {
        // acquire and release, here and below: the two hand each other the times.
        while (word.load(std::memory_order_acquire) != i) futex(word, FUTEX_WAIT, i - 1);
        awake_at.store(steady_ns(), std::memory_order_release);
        continue;
      }
      busy_for(kTimeToFallAsleepNs);
      const std::uint64_t began = steady_ns();
      word.store(i, std::memory_order_release);
      const bool slept = futex(word, FUTEX_WAKE, 1) == 1;
      const std::uint64_t signalled = steady_ns();
      std::uint64_t awake = 0;
      while ((awake = awake_at.exchange(0, std::memory_order_acquire)) == 0) fabric::give_way();
      if (!slept) continue;
      signal.push_back(static_cast<double>(signalled - began));
      runs.push_back(awake > began ? static_cast<double>(awake - began) : 0);
    }
  });
  if (signal.empty()) return {};
  return {Spread::of(std::move(signal)), Spread::of(std::move(runs))};
}

Spread quantum(const Host& host, const Effort& effort) {
  constexpr std::uint64_t kGapNs = 100'000;  // a longer one is another thread's turn
  const std::uint64_t until = steady_ns() + effort.quantum_ms * 1'000'000ULL;
  const std::uint32_t one = host.usable.front();
  std::vector<double> lengths;
  run_pinned(host, {one, one}, [&](std::size_t me) {
    std::uint64_t began = 0;  // start of this turn, as first seen
    std::uint64_t last = steady_ns();
    for (std::uint64_t now = last; now < until; last = now) {
      now = steady_ns();
      if (now - last < kGapNs) continue;
      if (me == 0 && began != 0) lengths.push_back(static_cast<double>(last - began));
      began = now;
    }
  });
  return lengths.size() < 3 ? Spread{} : Spread::of(std::move(lengths));
}

}  // namespace keyway::calibrate
