// bench_remote_get GETS ROUNDS WAY [URI]: a get from another rank, against the floor of its way,
// raw MPI operations of the same sizes:
//
//   locked   under its lock; MPI_Get with a flush of a bucket line, and of an element's block
//   cold     without its lock, the place unknown; MPI_Rget with a wait of both
//   warm     the place known; MPI_Rget with a wait of the block
//
// Two ranks. Rank 0 measures, in turn, `rounds` times; rank 1 serves. Prints one line of JSON: the
// medians of ns per get and per floor, and of the ratio round by round.

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/client/client.h"
#include "keyway/kvstore/layout/element.h"
#include "keyway/kvstore/layout/size_class.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/mpi/mpi_interface.h"
#include "raw_read.h"

namespace {

constexpr std::uint64_t kValueBytes = 100;
constexpr std::uint64_t kLineBytes = 64;

struct Way {
  std::string_view name;
  // Room for the addresses of all keys, of four, of none.
  std::string_view addresses;
  bool reads_line;
  keyway::bench::RawWay floor;
};
using keyway::bench::RawWay;
constexpr Way kWays[] = {{"locked", "addresses=0", true, RawWay::kGetAndFlush},
                         {"cold", "addresses=64", true, RawWay::kRgetAndWait},
                         {"warm", "addresses=1MiB", false, RawWay::kRgetAndWait}};

std::vector<std::string> keys_of_rank_1(const keyway::Store& store, std::size_t count) {
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; keys.size() < count; ++i) {
    auto key = fmt::format("key-{:012}", i);
    if (store.owner_of(key) == 1) keys.push_back(std::move(key));
  }
  return keys;
}

// A window of MPI's own, entered through the process's interface so that its other threads may be
// in MPI as well.
class RawWindow {
 public:
  explicit RawWindow(keyway::fabric::MpiInterface& mpi) : mpi_(mpi) {
    mpi_.call([&] {
      MPI_Win_allocate(kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base_, &window_);
      MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    });
  }
  ~RawWindow() {
    mpi_.call([&] {
      MPI_Win_unlock_all(window_);
      MPI_Win_free(&window_);
    });
  }
  RawWindow(const RawWindow&) = delete;
  RawWindow& operator=(const RawWindow&) = delete;

  void get(keyway::bench::RawWay way, std::uint64_t at, std::span<char> out) {
    mpi_.call([&] { keyway::bench::raw_read(window_, way, 1, static_cast<MPI_Aint>(at), out); });
  }
  static constexpr std::uint64_t kBytes = 1 << 20;

 private:
  keyway::fabric::MpiInterface& mpi_;
  void* base_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

template <class Operation>
double ns_each(std::size_t times, Operation&& operation) {
  const std::uint64_t start = keyway::steady_ns();
  for (std::size_t i = 0; i < times; ++i) operation(i);
  return static_cast<double>(keyway::steady_ns() - start) / static_cast<double>(times);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure(keyway::Session& session, RawWindow& raw, const Way& way,
             const std::vector<std::string>& keys, std::size_t gets, std::size_t rounds) {
  const std::uint64_t block = keyway::store::class_bytes(
      keyway::store::class_for(keyway::store::element_bytes(keys[0].size(), kValueBytes, false)));
  std::vector<char> buffer(block);
  std::string value;
  std::vector<double> get_ns, floor_ns, ratio;
  for (std::size_t round = 0; round <= rounds; ++round) {
    const double get = ns_each(gets, [&](std::size_t i) {
      if (!session.get(keys[i % keys.size()], value).ok() || value.size() != kValueBytes)
        std::abort();
    });
    const double floor = ns_each(gets, [&](std::size_t i) {
      if (way.reads_line) {
        raw.get(way.floor, i * kLineBytes % (RawWindow::kBytes / 2),
                std::span(buffer).first(kLineBytes));
      }
      raw.get(way.floor, i * block % (RawWindow::kBytes / 2), buffer);
    });
    if (round == 0) continue;  // warm-up
    get_ns.push_back(get);
    floor_ns.push_back(floor);
    ratio.push_back(get / floor);
  }
  std::printf("{\"get_ns\": %.0f, \"floor_ns\": %.0f, \"ratio\": %.3f}\n", median(get_ns),
              median(floor_ns), median(ratio));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t gets = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  const std::size_t rounds = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 5;
  const std::string_view name = argc > 3 ? argv[3] : "locked";
  const auto* const way = std::find_if(std::begin(kWays), std::end(kWays),
                                       [&](const Way& w) { return w.name == name; });
  if (way == std::end(kWays)) {
    std::fprintf(stderr, "bench_remote_get: the way is locked, cold or warm\n");
    return 1;
  }
  const std::string uri = argc > 4 ? argv[4] : "mpi:?memory=64MiB";
  auto store = keyway::Store::open(fmt::format("{}&{}", uri, way->addresses));
  if (!store.ok() || store->ranks() != 2) {
    std::fprintf(
        stderr, "bench_remote_get: %s\n",
        store.ok() ? "start it on two ranks" : std::string(store.status().message()).c_str());
    return 1;
  }
  {
    auto mpi = keyway::fabric::MpiInterface::acquire().value();
    RawWindow raw(*mpi);
    auto session = store->session().value();
    const auto keys = keys_of_rank_1(*store, 2000);
    const std::string value(kValueBytes, 'v');
    if (store->process() == 1) {
      for (const auto& key : keys) {
        if (!session.put(key, value).ok()) return 1;
      }
    }
    store->barrier();
    if (store->process() == 0) measure(session, raw, *way, keys, gets, rounds);
    store->barrier();
  }
  return 0;
}
