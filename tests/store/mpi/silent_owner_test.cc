// An owner that does not answer: its process is outside MPI, and keeps its threads out as well.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "job_store.h"
#include "keyway/locks/fabric/mpi/mpi_interface.h"

using namespace keyway;
using namespace keyway::test;

namespace {

// Too long for a bucket's line, so that reads of them take no lock: the owner declines an edit of a
// stripe that others lock all the time.
const std::string kBefore(100, 'b');
const std::string kAfter(100, 'a');
const std::string kAgain(100, 'g');

/// A named pipe of process 0 that all have open.
class SharedPipe {
 public:
  SharedPipe(Store& store, const std::string& name) {
    if (store.process() == 0) {
      path_ = (std::filesystem::temp_directory_path() / fmt::format("keyway-{}-{}", name, getpid()))
                  .string();
      REQUIRE(mkfifo(path_.c_str(), 0600) == 0);
    }
    file_ = open(store.gather_everywhere(path_)[0].c_str(), O_RDWR);
    REQUIRE(file_ >= 0);
    store.barrier();
    if (store.process() == 0) std::filesystem::remove(path_);
  }
  ~SharedPipe() { close(file_); }
  SharedPipe(const SharedPipe&) = delete;
  SharedPipe& operator=(const SharedPipe&) = delete;
  void put() { CHECK(write(file_, "x", 1) == 1); }
  void take() {
    char byte = 0;
    CHECK(read(file_, &byte, 1) == 1);
  }

 private:
  std::string path_;
  int file_ = -1;
};

std::string key_of_owner(Session& session, std::uint32_t rank) {
  for (int i = 0;; ++i) {
    const std::string key = fmt::format("key {}", i);
    if (session.inspector().stripe_of(key).rank == rank) return key;
  }
}

}  // namespace

TEST_CASE("store over mpi: an edit without an answer is in doubt, and may be made later") {
  Store store = open_job_store("memory=4MiB&sessions=2&path=owner&timeout=300ms");
  const std::uint32_t last = store.processes() - 1;
  SharedPipe asleep(store, "asleep");
  SharedPipe gate(store, "gate");
  Session session = session_of(store);
  const std::string key = key_of_owner(session, last);
  bool travels = false;
  if (store.process() == 0) {
    REQUIRE(session.put(key, kBefore).ok());
    travels = session.inspector().edits_by_owners() == 1;
  }
  // Not where all ranks are one node.
  if (store.gather_everywhere(travels ? "travels" : "")[0].empty()) return;
  if (store.process() == last) {
    const auto mpi = fabric::MpiInterface::acquire();
    REQUIRE(mpi.ok());
    (*mpi)->call([&] {
      asleep.put();
      gate.take();
    });
  } else if (store.process() == 0) {
    asleep.take();
    const std::uint64_t begun = steady_ns();
    const Status silent = session.put(key, kAfter);
    CHECK(silent == Code::kInDoubt);
    CHECK_THAT(std::string(silent.message()), Catch::Contains(fmt::format("rank {} ", last)));
    CHECK(steady_ns() - begun >= 300'000'000);
    gate.put();
    // It has been under way since then.
    const std::uint64_t until = steady_ns() + 60'000'000'000;
    while (*session.get(key) != kAfter && steady_ns() < until) {
    }
    CHECK(*session.get(key) == kAfter);
    CHECK(session.put(key, kAgain).ok());
    CHECK(*session.get(key) == kAgain);
  }
  store.barrier();
}
