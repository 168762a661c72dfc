// A rank that is stopped (SIGSTOP), and continued later.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "job_store.h"
#include "keyway/locks/base/rng.h"

using namespace keyway;
using namespace keyway::test;

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kTimeout(500);
constexpr std::uint64_t kTimeoutNs = std::chrono::nanoseconds(kTimeout).count();
constexpr std::uint64_t kKeys = 3000;
// Longer than a line holds, so that elements are read without their locks.
const std::string kValue(100, 'v');

std::string key(std::uint64_t i) { return fmt::format("key {}", i); }

enum Phase : std::uint32_t { kRuns, kStopped, kContinued, kPhases };

/// The operations of a thread, by phase.
struct Seen {
  std::array<std::uint64_t, kPhases> served{};
  std::array<std::uint64_t, kPhases> late{};
  std::array<std::uint64_t, kPhases> held_up_ns{};  // by operations that took the timeout or more
  std::array<std::uint64_t, kPhases> longest_ns{};
  std::string wrong;
};

/// One thread's gets, puts, increments and writes of two keys, on keys of which wanted(owner).
class Load {
 public:
  template <class Wanted>
  Load(Store& store, const std::atomic<std::uint32_t>& phase, Wanted&& wanted)
      : session_(session_of(store)), phase_(phase) {
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      if (wanted(store.owner_of(key(i)))) keys_.push_back(key(i));
    }
  }
  /// Until the phases are over, or for a span.
  void run(std::chrono::nanoseconds span = std::chrono::nanoseconds::max()) {
    Rng rng(steady_ns());
    const std::uint64_t until = Deadline::within(span).started(steady_ns()).absolute_ns();
    while (steady_ns() < until) {
      const std::uint32_t phase = phase_.load(std::memory_order_acquire);
      if (phase == kPhases) return;
      const std::uint64_t begun = steady_ns();
      const Status status = once(keys_[rng.below(keys_.size())], rng.below(100));
      const std::uint64_t took = steady_ns() - begun;
      seen_.longest_ns[phase] = std::max(seen_.longest_ns[phase], took);
      if (took >= kTimeoutNs) seen_.held_up_ns[phase] += took;
      if (status.ok()) {
        ++seen_.served[phase];
      } else if (status == Code::kTimeout || status == Code::kInDoubt) {
        ++seen_.late[phase];
      } else if (seen_.wrong.empty()) {
        seen_.wrong = status.message();
      }
    }
  }
  const Seen& seen() const { return seen_; }

 private:
  Status once(const std::string& name, std::uint64_t draw) {
    if (draw < 50) return session_.get(name, value_);
    if (draw < 90) return session_.put(name, kValue);
    if (draw < 95) return session_.append(name, "a").status();
    return session_.set_range(name, 3, "abc", PutIf::kAlways).status();
  }

  Session session_;
  const std::atomic<std::uint32_t>& phase_;
  std::vector<std::string> keys_;
  std::string value_;
  Seen seen_;
};

/// What a rank that was not stopped has seen, over several rounds.
struct Outcome {
  int beyond = 0;  // operations that waited beyond their deadline
  // Operations on keys of living ranks, before the stop and during it, and the time for them:
  // without that of operations that took the timeout or longer, which needed a lock that the
  // stopped rank held or awaited.
  std::uint64_t before = 0, before_ns = 0;
  std::uint64_t during = 0, during_ns = 0;
  std::uint64_t late = 0;

  /// The rate during stops over the one before them.
  double kept() const {
    const auto rate = [](std::uint64_t served, std::uint64_t ns) {
      return static_cast<double>(served) / static_cast<double>(ns);
    };
    return rate(during, during_ns) / rate(before, before_ns);
  }
};

/// The last of three ranks is stopped for a while, under load from all. One thread of each
/// rank uses keys of the others, one keys of that rank.
void stop_last_rank(Store& store, seconds span, Outcome& outcome) {
  const std::uint32_t last = store.processes() - 1;
  const auto pids = store.gather_everywhere(fmt::to_string(getpid()));
  std::atomic<std::uint32_t> phase{kRuns};
  if (store.process() == 0) {
    Session session = session_of(store);
    for (std::uint64_t i = 0; i < kKeys; ++i) REQUIRE(session.put(key(i), kValue).ok());
  }
  store.barrier();
  Load living(store, phase, [&](std::uint32_t owner) { return owner != last; });
  Load stopped(store, phase, [&](std::uint32_t owner) { return owner == last; });
  std::thread on_stopped([&] { stopped.run(); });
  const auto pass = [&](std::uint32_t next) { phase.store(next, std::memory_order_release); };
  if (store.process() == 0) {
    // By another process: an operation of this one may wait for the stopped rank.
    const auto command = fmt::format("(sleep {0}; kill -STOP {1}; sleep {0}; kill -CONT {1}) &",
                                     span.count(), pids[last]);
    REQUIRE(std::system(command.c_str()) == 0);
  }
  living.run(span);
  pass(kStopped);
  living.run(span);
  pass(kContinued);
  living.run(kTimeout + span);
  pass(kPhases);
  on_stopped.join();
  for (const Seen* seen : {&living.seen(), &stopped.seen()}) {
    INFO(seen->wrong);
    CHECK(seen->wrong.empty());
  }
  if (store.process() == last) return;
  const auto ms = [](std::uint64_t ns) { return ns / 1'000'000; };
  const Seen& other = living.seen();
  const Seen& silent = stopped.seen();
  fmt::print(
      "rank {}: keys of living ranks {} -> {} -> {} ({} late in {} ms), longest {}, {}, {} ms; "
      "of the stopped one {} -> {} -> {} ({} late), longest {}, {}, {} ms\n",
      store.process(), other.served[kRuns], other.served[kStopped], other.served[kContinued],
      other.late[kStopped], ms(other.held_up_ns[kStopped]), ms(other.longest_ns[kRuns]),
      ms(other.longest_ns[kStopped]), ms(other.longest_ns[kContinued]), silent.served[kRuns],
      silent.served[kStopped], silent.served[kContinued], silent.late[kStopped],
      ms(silent.longest_ns[kRuns]), ms(silent.longest_ns[kStopped]),
      ms(silent.longest_ns[kContinued]));
  CHECK(silent.served[kContinued] > 0);
  // A tenth more than the deadline, and as much as this machine makes any operation wait.
  const std::uint64_t limit =
      kTimeoutNs * 11 / 10 + std::max(other.longest_ns[kRuns], silent.longest_ns[kRuns]);
  for (const Seen* seen : {&other, &silent}) {
    const std::uint64_t longest =
        *std::max_element(seen->longest_ns.begin(), seen->longest_ns.end());
    outcome.beyond += longest > limit ? 1 : 0;
  }
  const auto span_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(span).count());
  outcome.before += other.served[kRuns];
  outcome.before_ns += span_ns;
  outcome.during += other.served[kStopped];
  outcome.during_ns += span_ns - std::min(span_ns, other.held_up_ns[kStopped]);
  outcome.late += other.late[kStopped];
}

void stop_last_rank_often(Store& store, int rounds, seconds span, Outcome& outcome) {
  for (int round = 0; round < rounds; ++round) {
    stop_last_rank(store, span, outcome);
    store.barrier();
    // No lock is held.
    if (store.process() == 0) {
      Session alone = session_of(store);
      const Status status = alone.exclusively([] {});
      INFO(status.message());
      CHECK(status.ok());
    }
    check_job_heap(store);
  }
}

}  // namespace

TEST_CASE("store over mpi: a rank is stopped again and again", "[.stopped]") {
  Store store = open_job_store("memory=16MiB&stripes=256&sessions=4&timeout=500ms");
  REQUIRE(store.processes() >= 3);
  Outcome outcome;
  stop_last_rank_often(store, 19, seconds(3), outcome);
  stop_last_rank_often(store, 1, seconds(60), outcome);
  if (store.process() + 1 == store.processes()) return;
  fmt::print(
      "rank {}: {} operations waited beyond their deadline; {:.2f} of the rate was kept, {} "
      "operations beside it were late\n",
      store.process(), outcome.beyond, outcome.kept(), outcome.late);
  // Operations that took locks of the rank in the moment of its stop wait until it is back: of the
  // 40 that were under way on this rank, few did.
  CHECK(outcome.beyond <= 8);
  // The processors are divided among fewer ranks during a stop, so it is usually more than 1.
  CHECK(outcome.kept() >= 0.9);
}
