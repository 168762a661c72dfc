// Every process of the job works on every rank at the same time, one-sided if the fabric is:
// linearizable histories, atomic transfers, and a heap that adds up when they have gone.
#include <atomic>
#include <map>
#include <thread>

#include "job_store.h"
#include "keyway/locks/base/clock.h"
#include "tests/store/every_lock.h"
#include "tests/store/record.h"
#include "tests/store/transfers.h"
#include "tests/support/linearizability.h"

using namespace keyway;
using namespace keyway::test;

namespace {

std::string shape(std::string_view lock) {
  return fmt::format("memory=4MiB&sessions=6&locks_per_session=32&buckets=8&stripes=4&lock={}",
                     lock);
}

/// Process 0 speaks for all: the first thing that any process found broken.
void require_all_well(Store& store, const std::string& mine) {
  for (const std::string& failure : store.gather(mine)) REQUIRE(failure == "");
  REQUIRE(mine == "");
}

}  // namespace

namespace {

/// Collective: the sum of a figure of all processes.
std::uint64_t sum_of(Store& store, std::uint64_t mine) {
  std::uint64_t sum = 0;
  for (const auto& part : store.gather_everywhere(std::to_string(mine))) sum += std::stoull(part);
  return sum;
}

/// Collective: the edits that owners have made for each process must fit the path.
void check_path(Store& store, std::string_view path, std::uint64_t made) {
  const std::uint64_t all = sum_of(store, made);
  const bool alone = mpi_variant().ranks_per_node == 1;  // each rank has another node
  if (path == "&path=onesided") {
    CHECK(all == 0);
  } else if (alone && store.processes() > 1) {
    CHECK(all > 0);
  }
}

struct Recording {
  std::string wrong;  // the first thing that this process found broken
  History history;
  std::uint64_t by_owners = 0;  // edits
};

/// This process's part of a history.
Recording record(Store& store, const RecordPlan& plan) {
  Recording made;
  Session session = session_of(store);
  Recorder<Session> recorder(session, store.process(), plan);
  for (std::uint32_t round = 0; round < plan.rounds; ++round) {
    store.barrier();
    // One clock for all: the processes are on one host, namespaces or not.
    const auto now = [] { return steady_ns(); };
    if (made.wrong.empty()) made.wrong = recorder.round(round, now).value_or("");
  }
  made.history = recorder.history();
  made.by_owners = session.inspector().remote_work().edits_by_owners;
  return made;
}

/// Collective. Returns how many values somebody found gone because of their expiry.
std::uint64_t check_linearizable(Store& store, const History& mine) {
  // A reader on another rank may trust a time that the owner has left long ago.
  constexpr Clocks kFarClocks{.late_ms = 600'000};
  History all;
  for (const std::string& part : store.gather(bytes_of(mine))) append_bytes(all, part);
  const auto verdict = LinearizabilityChecker::check(all, kFarClocks);  // of nothing elsewhere
  CHECK(verdict.violation.value_or("") == "");
  return sum_of(store, verdict.expired);
}

/// Returns how many values somebody found gone because of their expiry.
std::uint64_t check_histories(const std::string& lock, std::uint64_t i, const std::string& more) {
  CAPTURE(lock, more);
  Store store = open_job_store(shape(lock) + more);
  const bool clears = i % 3 == 0;
  const DayClock day;
  const RecordPlan plan{.rounds = 6,
                        .keys = 2,
                        .operations = 6,
                        .seed = 3 + i,
                        .ranks = store.ranks(),
                        .sizes = true,
                        .expiries = true,
                        .neighbours = !clears,
                        .clears = clears,
                        .day = &day};
  const Recording made = record(store, plan);
  require_all_well(store, made.wrong);
  check_path(store, more, made.by_owners);
  const std::size_t operations = std::size_t{store.processes()} * plan.rounds * plan.operations;
  REQUIRE(sum_of(store, made.history.size()) >= operations);
  const std::uint64_t expired = check_linearizable(store, made.history);
  check_job_heap(store);
  return expired;
}

struct GaveUp {
  std::uint64_t operations = 0;
  std::uint32_t processes = 0;
};

void check_haste(const std::string& lock, std::uint64_t i, const std::string& more, GaveUp& sum) {
  CAPTURE(lock, more);
  Store store = open_job_store(shape(lock) + "&timeout=20ms" + more);
  Haste haste{.timeout = std::chrono::milliseconds(20)};
  const RecordPlan plan{.rounds = 2,
                        .keys = 2,
                        .operations = 6,
                        .seed = 3 + i,
                        .ranks = store.ranks(),
                        .expiries = true,
                        .neighbours = true,
                        .haste = &haste};
  const Recording made = record(store, plan);
  require_all_well(store, made.wrong);
  check_linearizable(store, made.history);
  sum.operations += sum_of(store, haste.gave_up);
  sum.processes = store.processes();
  // No account of the heap: its walk could give up as well.
}

void check_transfers(const std::string& lock, const std::string& more) {
  CAPTURE(lock, more);
  Store store = open_job_store(shape(lock) + more);
  std::string wrong;
  {
    Session session = session_of(store);
    Teller<Session> teller(session, store.process(), 5);
    if (store.process() == 0 && !teller.open_accounts().ok()) wrong = "opening the accounts";
    store.barrier();
    for (int i = 0; i < 25 && wrong.empty(); ++i) wrong = teller.act().value_or("");
    store.barrier();
    if (wrong.empty()) wrong = teller.count().value_or("");
  }
  require_all_well(store, wrong);
  check_job_heap(store);
}

/// The defaults, one with both classes of access, and one with words on every rank.
constexpr const char* kLocksOfOwners[] = {"gbh:lockall=off,versions=on", "auto", "alock-rw",
                                          "rma-rw"};

}  // namespace

TEST_CASE("store over mpi: histories are linearizable, for every lock") {
  const std::vector<std::string> locks = every_lock();
  std::uint64_t expired = 0;
  for (std::size_t i = 0; i < locks.size(); ++i) {
    expired += check_histories(locks[i], i, "&path=onesided");
  }
  CHECK(expired > 0);
}

TEST_CASE("store over mpi: histories are linearizable where owners make edits") {
  for (std::uint64_t i = 0; const char* lock : kLocksOfOwners) {
    check_histories(lock, ++i, "&path=owner");
  }
}

TEST_CASE("store over mpi: an operation that gave up has done nothing, for every lock") {
  GaveUp sum;
  const std::vector<std::string> locks = every_lock();
  for (std::size_t i = 0; i < locks.size(); ++i) check_haste(locks[i], i, "&path=onesided", sum);
  for (std::uint64_t i = 0; const char* lock : kLocksOfOwners) {
    check_haste(lock, ++i, "&path=owner", sum);
  }
  if (sum.processes > 1) CHECK(sum.operations > 0);
}

TEST_CASE("store over mpi: transfers across ranks keep the sum, and flags stay equal") {
  for (const std::string& lock : every_lock()) check_transfers(lock, "&path=onesided");
  for (const char* lock : kLocksOfOwners) check_transfers(lock, "&path=owner");
}

namespace {

void check_small_heaps(const std::string& more) {
  // Small heaps: writers meet kOutOfSpace, runs, and blocks that others have freed.
  Store store =
      open_job_store("memory=1MiB&sessions=2&locks_per_session=16&buckets=32&stripes=8" + more);
  std::string wrong;
  std::uint64_t refused = 0;
  {
    Session s = session_of(store);
    Rng rng(store.process());
    std::map<std::string, std::string> model;
    store.barrier();
    for (int i = 0; i < 300 && wrong.empty(); ++i) {
      const std::string key = fmt::format("process {} key {}", store.process(), rng.below(80));
      constexpr std::size_t kSizes[] = {3, 100, 700, 5000, 20'000, 100'000};
      if (rng.below(4) == 0) {
        if (s.erase(key).ok() != (model.erase(key) == 1)) wrong = "erase of " + key;
        continue;
      }
      const std::string value =
          pattern(kSizes[rng.below(std::size(kSizes))], static_cast<std::uint64_t>(i));
      const Status status = s.put(key, value);
      if (status.ok()) model[key] = value;
      if (!status.ok() && status.code() != Code::kOutOfSpace) wrong = status.message();
      refused += !status.ok();
    }
    for (const auto& [key, value] : model) {
      const auto found = s.get(key);
      if (!found.ok() || *found != value) wrong = "lost or changed: " + key;
    }
  }
  require_all_well(store, wrong);
  check_job_heap(store);
  const auto all = store.gather(std::to_string(refused));
  if (store.process() == 0) {
    CHECK(std::any_of(all.begin(), all.end(), [](const auto& n) { return n != "0"; }));
  }
}

}  // namespace

TEST_CASE("store over mpi: remote writers lease, free and fill heaps, and nothing leaks") {
  check_small_heaps("&path=onesided");
  check_small_heaps("&path=owner");
}

namespace {

/// `more` parameters of the store.
void check_counters(const std::string& more) {
  Store store = open_job_store(shape("gbh:lockall=off,versions=on") + more);
  constexpr std::uint64_t kThreads = 6;
  constexpr std::uint64_t kTimes = 20;
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> by_owners{0};
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        Session s = std::move(*store.session());
        for (std::uint64_t i = 0; i < kTimes; ++i) {
          // relaxed: all are read after the threads have ended
          done.fetch_add(s.increment(named("counter ", (i + t) % 4)).ok(),
                         std::memory_order_relaxed);
        }
        by_owners.fetch_add(s.inspector().remote_work().edits_by_owners, std::memory_order_relaxed);
      });
    }
  }
  CHECK(done.load(std::memory_order_relaxed) == kThreads * kTimes);
  check_path(store, more, by_owners.load(std::memory_order_relaxed));
  store.barrier();
  if (store.process() == 0) {
    Session s = session_of(store);
    std::uint64_t sum = 0;
    for (int i = 0; i < 4; ++i) sum += std::stoull(*s.get(named("counter ", i)));
    CHECK(sum == kThreads * kTimes * store.processes());
  }
  store.barrier();
  check_job_heap(store);
}

}  // namespace

TEST_CASE("store over mpi: threads of every process share the store") {
  check_counters("&path=onesided");
  // More threads than slots: some edits are one-sided.
  check_counters("&path=owner");
}
