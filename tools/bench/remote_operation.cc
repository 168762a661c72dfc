// bench_remote_operation TIMES ROUNDS WAY [URI]: an operation on an element of another rank, over
// the floor of its way, raw MPI operations of the same sizes:
//
//   locked   a get under its lock; MPI_Get with a flush of a bucket line, and of an element's block
//   cold     a get without its lock, the place unknown; MPI_Rget with a wait of both
//   warm     the place known; MPI_Rget with a wait of the block
//   put      a put in place; MPI_Compare_and_swap with a flush of a word, and MPI_Put with a flush
//            of the block
//
// Two ranks. Rank 0 measures, in turn, `rounds` times; rank 1 serves. Prints one line of JSON: the
// medians of ns per operation and per floor, and of the ratio round by round.

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
#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/mpi/mpi_interface.h"
#include "raw_access.h"

namespace {

constexpr std::uint64_t kValueBytes = 100;
constexpr std::uint64_t kLineBytes = 64;

struct Way {
  std::string_view name;
  // Room for the addresses of all keys, of four, of none.
  std::string_view addresses;
  bool reads_line;
  keyway::bench::RawWay floor;

  bool is_put() const { return floor == keyway::bench::RawWay::kSwapAndPut; }
};
using keyway::bench::RawWay;
constexpr Way kWays[] = {{"locked", "addresses=0", true, RawWay::kGetAndFlush},
                         {"cold", "addresses=64", true, RawWay::kRgetAndWait},
                         {"warm", "addresses=1MiB", false, RawWay::kRgetAndWait},
                         {"put", "addresses=1MiB", false, RawWay::kSwapAndPut}};

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

  void access(keyway::bench::RawWay way, std::uint64_t at, std::span<char> bytes) {
    mpi_.call(
        [&] { keyway::bench::raw_access(window_, way, 1, static_cast<MPI_Aint>(at), bytes); });
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
             const std::vector<std::string>& keys, std::size_t times, std::size_t rounds) {
  constexpr std::uint64_t kEntryBytes = 8;
  const std::uint64_t block =
      session.inspector().stored_bytes(keys[0], {.value_bytes = kValueBytes}) - kEntryBytes;
  std::vector<char> buffer(block);
  std::string value(kValueBytes, 'v');
  const auto operation = [&](std::size_t i) {
    const std::string& key = keys[i % keys.size()];
    const bool done = way.is_put() ? session.put(key, value).ok()
                                   : session.get(key, value).ok() && value.size() == kValueBytes;
    if (!done) std::abort();
  };
  const auto floor_of = [&](std::size_t i) {
    const std::uint64_t at = i * block % (RawWindow::kBytes / 2);
    if (way.reads_line) {
      raw.access(way.floor, i * kLineBytes % (RawWindow::kBytes / 2),
                 std::span(buffer).first(kLineBytes));
    }
    raw.access(way.floor, at, buffer);
  };
  std::vector<double> operation_ns, floor_ns, ratio;
  for (std::size_t round = 0; round <= rounds; ++round) {
    const double ours = ns_each(times, operation);
    const double floor = ns_each(times, floor_of);
    if (round == 0) continue;  // warm-up
    operation_ns.push_back(ours);
    floor_ns.push_back(floor);
    ratio.push_back(ours / floor);
  }
  std::printf("{\"operation_ns\": %.0f, \"floor_ns\": %.0f, \"ratio\": %.3f}\n",
              median(operation_ns), median(floor_ns), median(ratio));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t times = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  const std::size_t rounds = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 5;
  const std::string_view name = argc > 3 ? argv[3] : "locked";
  const auto* const way = std::find_if(std::begin(kWays), std::end(kWays),
                                       [&](const Way& w) { return w.name == name; });
  if (way == std::end(kWays)) {
    std::fprintf(stderr, "bench_remote_operation: the way is locked, cold, warm or put\n");
    return 1;
  }
  const std::string uri = argc > 4 ? argv[4] : "mpi:?memory=64MiB";
  auto store = keyway::Store::open(fmt::format("{}&{}", uri, way->addresses));
  if (!store.ok() || store->ranks() != 2) {
    std::fprintf(
        stderr, "bench_remote_operation: %s\n",
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
    if (store->process() == 0) measure(session, raw, *way, keys, times, rounds);
    store->barrier();
  }
  return 0;
}
