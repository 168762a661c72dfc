// Messages that announce themselves, so that the progress thread of an idle rank need not look for
// them.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/mpi/arrival_watch.h"
#include "keyway/locks/fabric/mpi/mpi_library.h"
#include "tests/support/mpi_job.h"

using namespace keyway;
using namespace keyway::fabric;
using test::make_mpi_fabric;

namespace {

constexpr std::chrono::seconds kPatience{30};

/// Whether every rank of the job is alone on its host, and whether messages are announced.
struct Placement {
  bool alone = false;
  bool announced = false;
};
Placement placement(MpiInterface& mpi, const std::vector<int>& sets) {
  return mpi.call([&] {
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    int most = 0;
    MPI_Comm_size(host, &most);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    const bool announced = announces_messages(MPI_COMM_WORLD, host, sets, kPatience);
    MPI_Comm_free(&host);
    return Placement{most == 1, announced};
  });
}

/// How often threads of this process have gone to sleep.
std::uint64_t sleeps_so_far() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_nvcsw);
}

}  // namespace

TEST_CASE("messages are announced if each rank is alone on its host") {
  MpiFabric fabric = make_mpi_fabric(kReservedBytes);
  MpiInterface& mpi = fabric.mpi();
  const Placement found = placement(mpi, mpi.event_sets());
  CHECK(found.announced == (!kOpenMpi && fabric.ranks() > 1 && found.alone));
  CHECK_FALSE(placement(mpi, {}).announced);
}

TEST_CASE("an event set that no message makes readable announces none") {
  MpiFabric fabric = make_mpi_fabric(kReservedBytes);
  const int set = epoll_create1(0);
  REQUIRE(set >= 0);
  const std::vector<int> before = event_sets();
  CHECK(std::count(before.begin(), before.end(), set) == 1);
  const bool announced = fabric.mpi().call([&] {
    return announces_messages(MPI_COMM_WORLD, MPI_COMM_SELF, {set}, std::chrono::milliseconds(1));
  });
  CHECK_FALSE(announced);
  close(set);
  const std::vector<int> after = event_sets();
  CHECK(std::count(after.begin(), after.end(), set) == 0);
}

TEST_CASE("an idle rank with announced messages wakes up once in a millisecond") {
  MpiFabric fabric = make_mpi_fabric(kReservedBytes);
  if (!fabric.announced() || fabric.one_class()) return;
  fabric.barrier();
  // By time, once in 50 us, there would be twenty times as many. Other work on the machine may look
  // like messages, now and then.
  bool seldom = false;
  for (int i = 0; i < 100 && !seldom; ++i) {
    const std::uint64_t begun = steady_ns();
    const std::uint64_t before = sleeps_so_far();
    ArrivalWatch({}).wait(std::chrono::milliseconds(200), false);
    const std::uint64_t sleeps = sleeps_so_far() - before;
    seldom = sleeps <= 50 + 2 * (steady_ns() - begun) / 1'000'000;
    CHECK(sleeps > 1);  // one of this thread
  }
  CHECK(seldom);
  fabric.barrier();
}

TEST_CASE("a watch of arrivals ends when a set becomes readable, or when it is woken") {
  const std::uint64_t begun = steady_ns();
  const int set = epoll_create1(0);
  const int word = eventfd(0, 0);
  REQUIRE(set >= 0);
  REQUIRE(word >= 0);
  epoll_event event{.events = EPOLLIN, .data = {}};
  REQUIRE(epoll_ctl(set, EPOLL_CTL_ADD, word, &event) == 0);
  using End = ArrivalWatch::End;
  ArrivalWatch watch({set});
  watch.wake();
  CHECK(watch.wait(kPatience, false) == End::kWoken);  // before
  CHECK(watch.wait(std::chrono::microseconds(1), true) == End::kTime);
  CHECK_FALSE(watch.arrived());
  std::thread other([&] { eventfd_write(word, 1); });
  CHECK(watch.wait(kPatience, true) == End::kMessage);
  other.join();
  CHECK(watch.wait(kPatience, true) == End::kMessage);  // readable still
  watch.wake();
  CHECK(watch.arrived());
  CHECK(watch.wait(kPatience, true) == End::kWoken);
  eventfd_t value = 0;
  REQUIRE(eventfd_read(word, &value) == 0);
  watch.wake();
  CHECK_FALSE(watch.arrived());
  CHECK(watch.wait(kPatience, false) == End::kWoken);
  CHECK(watch.wait(std::chrono::microseconds(1), true) == End::kTime);
  CHECK(watch.wait(std::chrono::microseconds(1), false) == End::kTime);
  std::thread waker([&] { watch.wake(); });
  CHECK(watch.wait(kPatience, false) == End::kWoken);
  waker.join();
  CHECK(steady_ns() - begun <
        static_cast<std::uint64_t>(std::chrono::nanoseconds(kPatience).count()));
  close(word);
  close(set);
}
