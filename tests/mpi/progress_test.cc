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

// A named pipe, made by rank 0, on which ranks wait without entering MPI.
std::string shared_pipe(MpiFabric& fabric, const std::string& name = "gate") {
  std::vector<std::byte> bytes;
  if (fabric.rank() == 0) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("keyway-" + name + "-" + std::to_string(getpid()));
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    for (const char c : path.string()) bytes.push_back(static_cast<std::byte>(c));
  }
  fabric.broadcast(bytes, 0);
  std::string path;
  for (const std::byte b : bytes) path.push_back(static_cast<char>(b));
  return path;
}

// Opens the gate when the test has not done so for a while: a missing answer then fails the test
// instead of hanging it. No outcome depends on how long anything takes.
class Watchdog {
 public:
  Watchdog(int gate, std::size_t waiters)
      : thread_([this, gate, waiters] {
          std::unique_lock guard(mutex_);
          if (!done_.wait_for(guard, std::chrono::seconds(60), [this] { return over_; })) {
            barked_ = true;
            const std::string keys(waiters, 'x');
            CHECK(write(gate, keys.data(), keys.size()) > 0);
          }
        }) {}
  ~Watchdog() { thread_.join(); }
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
  bool barked_ = false;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a rank that makes no calls is reached all the same") {
  MpiFabric fabric = make_mpi_fabric(kSegment);
  if (fabric.ranks() == 1) return;
  MpiEndpoint ep = *fabric.endpoint();
  const std::string path = shared_pipe(fabric);
  const int gate = open(path.c_str(), O_RDWR);
  REQUIRE(gate >= 0);
  if (fabric.rank() != 0) {
    ep.store(rma, {fabric.rank(), kAsleep}, 1);
    char key = 0;
    CHECK(read(gate, &key, 1) == 1);                      // asleep, outside MPI
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
    const std::string keys(fabric.ranks() - 1, 'x');
    CHECK(write(gate, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
  }
  close(gate);
  fabric.barrier();
  if (fabric.rank() == 0) std::filesystem::remove(path);
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
  auto options = test::mpi_options(kSegment);
  options.progress_us = 3'600'000'000;  // no thread answers for a sleeping rank
  auto made = MpiFabric::create(options);
  REQUIRE(made.ok());
  MpiFabric fabric = std::move(*made);
  if (fabric.ranks() == 1) return;
  const std::string path = shared_pipe(fabric);
  const int gate = open(path.c_str(), O_RDWR);
  REQUIRE(gate >= 0);
  fabric.barrier();
  char key = 0;
  if (fabric.rank() == 1) {
    CHECK(read(gate, &key, 1) == 1);  // asleep, outside MPI
  } else if (fabric.rank() == 0) {
    Watchdog watchdog(gate, 1);
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
      CHECK(write(gate, "x", 1) == 1);
    });
  }
  close(gate);
  fabric.barrier();
  if (fabric.rank() == 0) std::filesystem::remove(path);
}

TEST_CASE("a thread that waits for a rank that does not answer keeps no other from MPI") {
  if constexpr (kOpenMpi) return;  // only its flush completes an operation, and it keeps the mutex
  auto options = test::mpi_options(kSegment);
  options.progress_us = 3'600'000'000;  // no thread answers for a sleeping rank
  auto made = MpiFabric::create(options);
  REQUIRE(made.ok());
  MpiFabric fabric = std::move(*made);
  if (fabric.ranks() == 1) return;
  const std::string path = shared_pipe(fabric);
  const int gate = open(path.c_str(), O_RDWR);
  REQUIRE(gate >= 0);
  fabric.barrier();
  char key = 0;
  if (fabric.rank() == 1) {
    CHECK(read(gate, &key, 1) == 1);  // asleep, outside MPI
  } else if (fabric.rank() == 0) {
    Watchdog watchdog(gate, 1);
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
    CHECK(write(gate, "x", 1) == 1);
    writes.join();
    adds.join();
  }
  close(gate);
  fabric.barrier();
  if (fabric.rank() == 0) std::filesystem::remove(path);
}

TEST_CASE("a write is not complete before its target has carried it out") {
  if constexpr (kOpenMpi) return;  // that is its flush
  auto options = test::mpi_options(kSegment + kLargest);
  options.progress_us = 3'600'000'000;  // no thread answers for a sleeping rank
  auto made = MpiFabric::create(options);
  REQUIRE(made.ok());
  MpiFabric fabric = std::move(*made);
  if (fabric.ranks() == 1) return;
  const std::string paths[] = {shared_pipe(fabric), shared_pipe(fabric, "asleep")};
  const int gate = open(paths[0].c_str(), O_RDWR);
  const int asleep = open(paths[1].c_str(), O_RDWR);
  REQUIRE((gate >= 0 && asleep >= 0));
  const std::uint32_t last = fabric.ranks() - 1;
  MpiEndpoint ep = *fabric.endpoint();
  for (std::uint64_t bytes = 8; bytes <= kLargest; bytes *= 4) {
    fabric.barrier();
    char key = 0;
    if (fabric.rank() == last) {
      CHECK(write(asleep, "x", 1) == 1);
      CHECK(read(gate, &key, 1) == 1);  // outside MPI
    } else if (fabric.rank() == 0) {
      Watchdog watchdog(gate, 1);
      const std::vector<std::byte> data(bytes, std::byte{7});
      CHECK(read(asleep, &key, 1) == 1);
      ep.post_write(rma, {last, kSegment}, data);
      if (ep.flush_idle(last, Deadline::within(std::chrono::milliseconds(20)))) {
        // MPI has written to memory that the ranks share.
        REQUIRE(ep.is_local(last));
        CHECK(std::memcmp(ep.view({last, kSegment}), data.data(), bytes) == 0);
      }
      CHECK(watchdog.in_time());
      CHECK(write(gate, "x", 1) == 1);
      ep.flush(last);
      std::vector<std::byte> there(bytes);
      ep.read(rma, {last, kSegment}, there);
      CHECK(there == data);
    }
  }
  close(gate);
  close(asleep);
  fabric.barrier();
  if (fabric.rank() == 0) {
    for (const std::string& path : paths) std::filesystem::remove(path);
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
