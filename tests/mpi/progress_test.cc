// A rank with a program that is busy elsewhere still answers. Guards against the trap that without
// RDMA hardware a target must enter MPI for any progress.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "keyway/locks/fabric/fiber.h"
#include "keyway/locks/fabric/mpi/mpi_library.h"
#include "keyway/locks/fabric/wait.h"
#include "tests/support/mpi_job.h"

using namespace keyway;
using namespace keyway::fabric;
using test::make_mpi_fabric;

namespace {

constexpr std::uint64_t kAsleep = kReservedBytes;
constexpr std::uint64_t kCount = kReservedBytes + 64;
constexpr std::uint64_t kSegment = kReservedBytes + 4096;
constexpr std::uint64_t kLargest = 512 * 1024;

/// In this fabric nobody answers for a rank that is asleep.
MpiFabric fabric_without_helper(std::uint64_t segment_bytes) {
  auto options = test::mpi_options(segment_bytes);
  options.progress_us = 3'600'000'000;
  options.gathers = true;
  auto made = MpiFabric::create(options);
  REQUIRE(made.ok());
  return std::move(*made);
}

// A named pipe, made by rank 0, on which ranks wait without entering MPI. All ranks make and end it
// together.
class Gate {
 public:
  explicit Gate(MpiFabric& fabric, const std::string& name = "gate") : fabric_(fabric) {
    std::vector<std::byte> bytes;
    if (fabric.rank() == 0) {
      const auto path = std::filesystem::temp_directory_path() /
                        ("keyway-" + name + "-" + std::to_string(getpid()));
      REQUIRE(mkfifo(path.c_str(), 0600) == 0);
      for (const char c : path.string()) bytes.push_back(static_cast<std::byte>(c));
    }
    fabric.broadcast(bytes, 0);
    for (const std::byte b : bytes) path_.push_back(static_cast<char>(b));
    pipe_ = open(path_.c_str(), O_RDWR);
    REQUIRE(pipe_ >= 0);
  }
  ~Gate() {
    close(pipe_);
    fabric_.barrier();
    if (fabric_.rank() == 0) std::filesystem::remove(path_);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// Until one more may pass.
  void pass() {
    char key = 0;
    CHECK(read(pipe_, &key, 1) == 1);
  }
  void let_pass(std::size_t waiters = 1) {
    const std::string keys(waiters, 'x');
    CHECK(write(pipe_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
  }

 private:
  MpiFabric& fabric_;
  std::string path_;
  int pipe_ = -1;
};

// Opens the gate when the test has not done so for a while, or when it leaves early: a missing
// answer then fails the test instead of hanging it. No outcome depends on how long anything takes.
class Watchdog {
 public:
  explicit Watchdog(Gate& gate, std::size_t waiters = 1)
      : thread_([this, &gate, waiters] {
          std::unique_lock guard(mutex_);
          done_.wait_for(guard, std::chrono::seconds(60), [this] { return over_ || left_; });
          if (over_) return;
          barked_ = true;
          gate.let_pass(waiters);
        }) {}
  ~Watchdog() {
    {
      const std::lock_guard guard(mutex_);
      left_ = true;
      done_.notify_one();
    }
    thread_.join();
  }
  /// Whether the ranks were still asleep when this was called.
  bool in_time() {
    const std::lock_guard guard(mutex_);
    over_ = true;
    done_.notify_one();
    return !barked_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  bool over_ = false;
  bool left_ = false;
  bool barked_ = false;
  std::thread thread_;
};

/// Calls body(fabric, gate, watchdog) on rank 0 while rank 1 is asleep, outside MPI.
template <class Body>
void beside_sleeper(const Body& body) {
  MpiFabric fabric = fabric_without_helper(kSegment);
  if (fabric.ranks() == 1) return;
  Gate gate(fabric);
  Gate asleep(fabric, "asleep");
  fabric.barrier();
  if (fabric.rank() == 1) {
    asleep.let_pass();
    gate.pass();
  } else if (fabric.rank() == 0) {
    asleep.pass();  // with more ranks it may be in the barrier for longer than this one
    Watchdog watchdog(gate);
    body(fabric, gate, watchdog);
  }
}

/// Rank 0 reaches the others while they are asleep, outside MPI.
void reach_sleepers(MpiFabric& fabric) {
  if (fabric.ranks() == 1) return;
  MpiEndpoint ep = *fabric.endpoint();
  Gate gate(fabric);
  if (fabric.rank() != 0) {
    ep.store(rma, {fabric.rank(), kAsleep}, 1);
    gate.pass();                                          // asleep, outside MPI
    CHECK(ep.load(cpu, {fabric.rank(), kCount}) == 300);  // all had arrived before we woke
  } else {
    Watchdog watchdog(gate, fabric.ranks() - 1);
    for (std::uint32_t rank = 1; rank < fabric.ranks(); ++rank) {
      ep.wait_until_remote(
          {rank, kAsleep}, [](std::uint64_t v) { return v == 1; }, Backoff::none(),
          Deadline::never());
      for (int i = 0; i < 300; ++i) ep.fetch_add(rma, {rank, kCount}, 1);
    }
    REQUIRE(watchdog.in_time());
    gate.let_pass(fabric.ranks() - 1);
  }
}

}  // namespace

TEST_CASE("a rank that makes no calls is reached all the same") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  reach_sleepers(fabric);
}

// One thread answers for all fabrics of a process: as often as the most impatient wants, from its
// opening on.
TEST_CASE("a rank that makes no calls is reached by the second of its fabrics") {
  const MpiFabric unserved = fabric_without_helper(kSegment);
  {
    MpiFabric fabric = make_mpi_fabric(kSegment);
    reach_sleepers(fabric);
  }
  MpiFabric again = make_mpi_fabric(kSegment);
  reach_sleepers(again);
}

TEST_CASE("what is pushed is complete without a flush, with all agents outside MPI") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  MpiEndpoint ep = *fabric.endpoint();
  fabric.barrier();
  const std::uint32_t next = (fabric.rank() + 1) % fabric.ranks();
  for (int i = 0; i < 3; ++i) ep.post_fetch_add(rma, {next, kCount}, 1);
  ep.push(next);
  const Address own(fabric.rank(), kCount);
  // Without progress: the agent stays outside MPI.
  CHECK(wait_loop([&] { return ep.load(cpu, own) == 3; }, [] {},
                  Deadline::within(std::chrono::minutes(1))));
  fabric.barrier();
}

TEST_CASE("a fiber whose operation waits for a rank lets its siblings run") {
  if constexpr (kOpenMpi) return;  // only its flush completes an operation, and it keeps the thread
  beside_sleeper([](MpiFabric& fabric, Gate& gate, Watchdog& watchdog) {
    MpiEndpoint ep = *fabric.endpoint();
    const std::array<std::byte, 64> bytes{};
    run_fibers(2, [&](std::size_t fiber) {
      if (fiber == 0) {
        ep.write(rma, {1, kAsleep + 512}, bytes);
        CHECK(ep.fetch_add(rma, {1, kCount}, 1) == 0);
        return;
      }
      // Longer than a thread polls before it leaves the wait to MPI (mpi_interface.h).
      const std::uint64_t until = steady_ns() + 100'000'000;
      while (steady_ns() < until) this_fiber::yield();
      CHECK(watchdog.in_time());
      gate.let_pass();
    });
  });
}

TEST_CASE("a thread that waits for a rank that does not answer keeps no other from MPI") {
  if constexpr (kOpenMpi) return;  // only its flush completes an operation, and it keeps the mutex
  beside_sleeper([](MpiFabric& fabric, Gate& gate, Watchdog& watchdog) {
    MpiEndpoint own = *fabric.endpoint();
    MpiEndpoint large = *fabric.endpoint();
    MpiEndpoint word = *fabric.endpoint();
    const std::array<std::byte, 2048> bytes{};
    std::thread writes([&] { large.write(rma, {1, kAsleep + 512}, bytes); });
    std::thread adds([&] { word.fetch_add(rma, {1, kCount}, 1); });
    // Longer than a wait takes a missing result for one that it cannot tell (mpi_interface.h).
    const std::uint64_t until = steady_ns() + 100'000'000;
    while (steady_ns() < until) own.fetch_add(rma, {0, kCount}, 1);
    CHECK(watchdog.in_time());
    gate.let_pass();
    writes.join();
    adds.join();
  });
}

TEST_CASE("operations to a rank that does not answer are given up") {
  if constexpr (kOpenMpi) return;  // its flush knows no deadline
  beside_sleeper([](MpiFabric& fabric, Gate& gate, Watchdog& watchdog) {
    if (fabric.one_class()) {  // then nobody's answer is needed
      CHECK(watchdog.in_time());
      return gate.let_pass();
    }
    MpiEndpoint ep = *fabric.endpoint();
    MpiEndpoint other = *fabric.endpoint();
    const auto soon = Deadline::within(std::chrono::milliseconds(30));
    auto buffer = std::make_shared<std::vector<std::byte>>(64);
    const std::weak_ptr<std::vector<std::byte>> kept = buffer;
    ep.post_read(rma, {1, kAsleep + 512}, *buffer);
    const Pending added = ep.post_fetch_add(rma, {1, kCount}, 1);
    REQUIRE_FALSE(ep.flush_idle(1, soon));
    ep.keep(1, buffer);
    buffer.reset();
    CHECK_FALSE(kept.expired());
    // Others find out by themselves, and what has no part in it does not wait.
    CHECK_FALSE(ep.answers(1, soon));
    CHECK_FALSE(other.answers(1, soon));
    CHECK_FALSE(other.answers(1, soon));
    CHECK(ep.fetch_add(rma, {0, kCount}, 1) == 0);
    ep.flush_all();
    ep.fence();
    other.flush_all();
    CHECK(watchdog.in_time());
    gate.let_pass();
    CHECK(ep.answers(1, Deadline::within(std::chrono::minutes(1))));
    CHECK(kept.expired());
    CHECK(added.value(ep.flush(1)) == 0);
    CHECK(other.answers(1, Deadline::within(std::chrono::minutes(1))));
    CHECK(other.load(rma, {1, kCount}) == 1);
  });
}

TEST_CASE("a message of several operations to a rank that does not answer is given up") {
  if constexpr (kOpenMpi) return;  // its flush knows no deadline
  beside_sleeper([](MpiFabric& fabric, Gate& gate, Watchdog& watchdog) {
    MpiEndpoint ep = *fabric.endpoint();
    if (ep.is_local(1)) return;  // MPI may read its memory by itself
    const std::vector<Part> parts = {
        {kAsleep + 512, 8}, {kAsleep + 544, 24}, {kAsleep + 600, 64}, {kAsleep + 700, 3}};
    auto buffer = std::make_shared<std::vector<std::byte>>(8 + 24 + 64 + 3, std::byte{7});
    const auto too = buffer;
    const std::weak_ptr<std::vector<std::byte>> kept = buffer;
    post_gather(ep, 1, parts, std::span(*buffer));
    std::array<Pending, 4> added;
    post_together(ep, [&] {
      for (std::uint64_t i = 0; i < 4; ++i)
        added[i] = ep.post_fetch_add(rma, {1, kCount + 8 * i}, i);
    });
    REQUIRE_FALSE(ep.flush_idle(1, Deadline::within(std::chrono::milliseconds(30))));
    ep.keep(1, buffer);
    buffer.reset();
    ep.flush_all();
    CHECK(watchdog.in_time());
    CHECK(kept.use_count() == 2);
    gate.let_pass();
    CHECK(ep.answers(1, Deadline::within(std::chrono::minutes(1))));
    CHECK(kept.use_count() == 1);
    CHECK(std::count(too->begin(), too->end(), std::byte{0}) == std::ssize(*too));  // it has come
    const Flushed flushed = ep.flush(1);
    for (std::uint64_t i = 0; i < 4; ++i) {
      CHECK(added[i].value(flushed) == 0);
      CHECK(ep.load(rma, {1, kCount + 8 * i}) == i);
    }
  });
}

TEST_CASE("a write is not complete before its target has carried it out") {
  if constexpr (kOpenMpi) return;  // that is its flush
  MpiFabric fabric = fabric_without_helper(kSegment + kLargest);
  if (fabric.ranks() == 1) return;
  Gate gate(fabric);
  Gate asleep(fabric, "asleep");
  const std::uint32_t last = fabric.ranks() - 1;
  MpiEndpoint ep = *fabric.endpoint();
  for (std::uint64_t bytes = 8; bytes <= kLargest; bytes *= 4) {
    fabric.barrier();
    if (fabric.rank() == last) {
      asleep.let_pass();
      gate.pass();  // outside MPI
    } else if (fabric.rank() == 0) {
      Watchdog watchdog(gate);
      const std::vector<std::byte> data(bytes, std::byte{7});
      asleep.pass();
      ep.post_write(rma, {last, kSegment}, data);
      if (ep.flush_idle(last, Deadline::within(std::chrono::milliseconds(20)))) {
        // MPI has written to memory that the ranks share.
        REQUIRE(ep.is_local(last));
        CHECK(std::memcmp(ep.view({last, kSegment}), data.data(), bytes) == 0);
      }
      CHECK(watchdog.in_time());
      gate.let_pass();
      ep.flush(last);
      std::vector<std::byte> there(bytes);
      ep.read(rma, {last, kSegment}, there);
      CHECK(there == data);
    }
  }
}

TEST_CASE("a word that equals the value for no answer is read all the same") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  MpiEndpoint ep = *fabric.endpoint();
  const std::uint32_t last = fabric.ranks() - 1;
  const Address word(last, kCount);
  const std::uint64_t unset = fabric.mpi().unset();
  fabric.barrier();
  if (fabric.rank() == 0) {
    ep.store(rma, word, unset);
    CHECK(ep.load(rma, word) == unset);
    // It has not come at the deadline, but the question that was asked meanwhile is answered then.
    const auto early = Deadline::within(std::chrono::milliseconds(30));
    for (int i = 0; i < 3; ++i) {
      const Pending pending = ep.post_load(rma, word);
      static_cast<void>(ep.flush_idle(last, early));
      const Pending other = ep.post_fetch_add(rma, {last, kAsleep}, 1);
      const Flushed flushed = ep.flush(last);
      CHECK(pending.value(flushed) == unset);
      CHECK(other.value(flushed) == static_cast<std::uint64_t>(i));
    }
  }
  fabric.barrier();
}

TEST_CASE("ranks that wait for their own words answer the others") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  MpiEndpoint ep = *fabric.endpoint();
  // A ring: each waits for a word that its neighbour sets after having been reached itself.
  const std::uint32_t next = (fabric.rank() + 1) % fabric.ranks();
  const Address own(fabric.rank(), kCount);
  for (std::uint64_t round = 1; round <= 100; ++round) {
    if (fabric.rank() == 0) ep.store(rma, {next, kCount}, round);
    const WaitResult seen = ep.wait_until(
        own, [&](std::uint64_t v) { return v == round; },
        Deadline::within(std::chrono::minutes(1)));
    REQUIRE_FALSE(seen.expired);
    if (fabric.rank() != 0) ep.store(rma, {next, kCount}, round);
  }
}

TEST_CASE("a wait whose deadline passes says so and gives the last value") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  MpiEndpoint ep = *fabric.endpoint();
  ep.store(rma, {fabric.rank(), kCount}, 5);
  const auto never = [](std::uint64_t v) { return v == 6; };
  const WaitResult own = ep.wait_until({fabric.rank(), kCount}, never, Deadline::now());
  CHECK(own.expired);
  CHECK(own.value == 5);
  const WaitResult remote =
      ep.wait_until_remote({fabric.rank(), kCount}, never, Backoff{100, 1000}, Deadline::now());
  CHECK(remote.expired);
  CHECK(remote.value == 5);
  CHECK_FALSE(ep.retry_until([] { return false; }, Backoff::none(), Deadline::now()));
}
