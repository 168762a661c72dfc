// Owners that do not answer.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

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

/// A session of each rank, and a key of the last one; nothing if edits of it do not travel.
struct Silence {
  Silence(const std::string& options, const std::string& name)
      : store(open_job_store("memory=4MiB&sessions=2&path=owner&" + options)),
        last(store.processes() - 1),
        asleep(store, name + "-asleep"),
        gate(store, name + "-gate"),
        session(session_of(store)),
        key(key_of_owner(session, last)) {
    bool made = false;
    if (store.process() == 0) {
      REQUIRE(session.put(key, kBefore).ok());
      made = session.inspector().remote_work().edits_by_owners == 1;
    }
    travels = !store.gather_everywhere(made ? "travels" : "")[0].empty();
  }
  /// The last rank stays in a call of MPI from now on until rank 0 has run `meanwhile`.
  void run(const std::function<void()>& owner, const std::function<void()>& meanwhile) {
    if (store.process() == last) {
      const auto mpi = fabric::MpiInterface::acquire();
      REQUIRE(mpi.ok());
      (*mpi)->call([&] {
        asleep.put();
        owner();
      });
    } else if (store.process() == 0) {
      asleep.take();
      meanwhile();
    }
  }
  /// The slots of calls that had no answer come back, and nothing is made late.
  void check_settled() {
    if (store.process() == 0) {
      const std::uint64_t before = session.inspector().remote_work().edits_by_owners;
      const std::uint64_t until = steady_ns() + 60'000'000'000;
      std::uint64_t made = 0;
      while (made < 2 * kSlots && steady_ns() < until) {
        REQUIRE(session.put(key, kAgain).ok());
        CHECK(*session.get(key) == kAgain);
        made = session.inspector().remote_work().edits_by_owners - before;
      }
      CHECK(made >= 2 * kSlots);
    }
    store.barrier();
  }

  static constexpr std::uint64_t kSlots = 4;

  Store store;
  std::uint32_t last;
  SharedPipe asleep;
  SharedPipe gate;
  Session session;
  std::string key;
  bool travels = false;
};

}  // namespace

TEST_CASE("store over mpi: an edit that its owner cannot see is in doubt") {
  Silence silence("timeout=300ms", "unseen");
  if (!silence.travels) return;
  // It is outside MPI, and keeps its threads out as well.
  silence.run([&] { silence.gate.take(); },
              [&] {
                const std::uint64_t begun = steady_ns();
                const Status silent = silence.session.put(silence.key, kAfter);
                const std::uint64_t took = steady_ns() - begun;
                CHECK(silent == Code::kInDoubt);
                CHECK_THAT(std::string(silent.message()),
                           Catch::Contains(fmt::format("rank {} ", silence.last)));
                CHECK(took >= 300'000'000);
                silence.gate.put();
                const std::string now = *silence.session.get(silence.key);
                CHECK((now == kBefore || now == kAfter));
              });
  silence.check_settled();
}

TEST_CASE("store over mpi: operations on keys of a silent rank end at their deadline") {
  Silence silence("timeout=300ms", "late");
  if (!silence.travels) return;
  silence.run(
      [&] { silence.gate.take(); },
      [&] {
        Session& session = silence.session;
        const std::string near = key_of_owner(session, 0);
        const std::string absent = silence.key + " is absent";
        const std::vector<std::string_view> keys{near, silence.key, absent, silence.key};
        // On one host MPI may read the memory of another rank by itself: then reads are answered.
        const auto in_time = [&](const std::function<Status()>& operation) {
          const std::uint64_t begun = steady_ns();
          const Status status = operation();
          const std::uint64_t took = steady_ns() - begun;
          CHECK((status.ok() || status == Code::kNotFound || status == Code::kTimeout ||
                 status == Code::kInDoubt));
          CHECK((took >= 300'000'000 || status.ok() || status == Code::kNotFound));
          CHECK(took < 1'000'000'000);
          if (!status.ok() && status != Code::kNotFound) {
            CHECK_THAT(std::string(status.message()),
                       Catch::Contains(fmt::format("rank {} ", silence.last)));
          }
        };
        std::string value;
        in_time([&] { return session.get(silence.key, value); });
        in_time([&] { return session.get(silence.key, value); });
        in_time([&] { return session.put(silence.key, kAfter); });
        in_time([&] { return session.put(silence.key, kAfter); });
        in_time([&] { return session.erase(absent); });
        in_time([&] { return session.read_all(keys, [](std::size_t, const ElementState*) {}); });
        in_time([&] { return session.put_all(std::vector<KeyValue>{{near, "1"}, {absent, "2"}}); });
        in_time([&] { return session.scan_from(absent, 1, [](auto, auto) {}).status(); });
        // One wait for all of a batch.
        in_time([&] {
          std::vector<std::string> out(keys.size());
          std::vector<Code> codes(keys.size());
          session.get_many(keys, out, codes);
          CHECK((codes[0] == Code::kOk || codes[0] == Code::kNotFound));
          CHECK(codes[3] == codes[1]);
          return Status(codes[1], fmt::format("rank {} ", silence.last));
        });
        // Others are served all the while.
        const std::uint64_t begun = steady_ns();
        for (int i = 0; i < 1000; ++i) {
          CHECK(session.put(near, kBefore).ok());
          CHECK(*session.get(near) == kBefore);
        }
        CHECK(steady_ns() - begun < 1'000'000'000);
        silence.gate.put();
        CHECK(session.put(near, kAfter).ok());
      });
  silence.check_settled();
}

TEST_CASE("store over mpi: an edit of a rank in a blocking call is taken back") {
  Silence silence("timeout=60s", "blocking");
  if (!silence.travels) return;
  // It takes part in one-sided operations, but answers nobody.
  constexpr int kTag = 17;
  silence.run(
      [] { MPI_Recv(nullptr, 0, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); },
      [&] {
        const std::uint64_t before = silence.session.inspector().remote_work().edits_by_owners;
        for (std::uint64_t i = 0; i < Silence::kSlots + 1; ++i) {
          CHECK(silence.session.put(silence.key, kAfter).ok());
          CHECK(*silence.session.get(silence.key) == kAfter);
        }
        CHECK(silence.session.inspector().remote_work().edits_by_owners == before);
        const auto mpi = fabric::MpiInterface::acquire();
        REQUIRE(mpi.ok());
        (*mpi)->call([&] {
          MPI_Send(nullptr, 0, MPI_BYTE, static_cast<int>(silence.last), kTag, MPI_COMM_WORLD);
        });
      });
  silence.check_settled();
}
