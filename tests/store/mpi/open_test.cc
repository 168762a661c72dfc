// Opening over MPI is collective: every process gets the same answer, also when one of them has
// invalid or different options.
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "job_store.h"
#include "keyway/locks/fabric/mpi/mpi_library.h"

using namespace keyway;
using namespace keyway::test;

namespace {
std::optional<Store> held_to_the_end;
}

TEST_CASE("store over mpi: options that make no sense are refused on every process") {
  for (const char* uri : {"mpi:?memory=64KiB", "mpi:?lock=none", "mpi:?memory=9MB", "mpi:?ranks=2",
                          "mpi:?color=red", "mpi:?stripes=0"}) {
    CAPTURE(uri);
    const auto store = Store::open(uri);
    REQUIRE_FALSE(store.ok());
    CHECK(store.code() == Code::kInvalidArgument);
    CHECK(store.status().message().size() > 20);
  }
}

TEST_CASE("store over mpi: processes that disagree are all told so, and none hangs") {
  Store good = open_job_store("memory=4MiB");
  const std::uint32_t last = good.processes() - 1;
  if (last == 0) return;  // a single rank cannot disagree
  for (const char* odd :
       {"mpi:?memory=8MiB", "mpi:?memory=4MiB&lock=d-mcs", "mpi:?memory=4MiB&stripes=9",
        "mpi:?memory=4MiB&buckets=77", "mpi:?memory=nonsense",
        "mpi:?memory=4MiB&hash_secret=00000000000000000000000000000001"}) {
    CAPTURE(odd);
    const auto store = Store::open(good.process() == last ? odd : "mpi:?memory=4MiB");
    REQUIRE_FALSE(store.ok());
    CHECK(store.code() == Code::kInvalidArgument);
  }
  Session s = session_of(good);  // which is none the worse for it
  CHECK(s.put("k", "v").ok());
}

TEST_CASE("store over mpi: the default lock is auto where edits go to owners on other nodes") {
  Store store = open_job_store("memory=4MiB");
  CAPTURE(store.describe());
  const bool one_node = store.describe().find("node:1,") != std::string::npos;
  const bool travels = fabric::kOpenMpi ? false : !one_node || mpi_variant().force_rma;
  const bool is_auto = store.ranks() > 1 && travels;
  CHECK(store.options().lock == (is_auto ? "auto" : "gbh:lockall=off,versions=on"));
  Session s = session_of(store);
  CHECK((s.inspector().lock_kinds(0).size() > 1) == is_auto);
  if (is_auto) CHECK(store.describe().find("lock auto, first alock-rw") != std::string::npos);
}

TEST_CASE("store over mpi: all processes hash by one secret, which no other store has") {
  const auto places = [](Store& store) {
    Session s = session_of(store);
    std::string text;
    for (int i = 0; i < 20; ++i) {
      text += std::to_string(s.inspector().stripe_of("key " + std::to_string(i)).stripe) + " ";
    }
    return text;
  };
  const std::string given = "memory=4MiB&hash_secret=0123456789abcdef0123456789abcdef";
  std::set<std::string> seen;
  for (const std::string& options :
       {std::string("memory=4MiB"), std::string("memory=4MiB"), given}) {
    CAPTURE(options);
    Store store = open_job_store(options);
    const std::string mine = places(store);
    for (const std::string& others : store.gather_everywhere(mine)) CHECK(others == mine);
    CHECK(seen.insert(mine).second);
  }
  Store again = open_job_store(given);
  CHECK(seen.contains(places(again)));
}

TEST_CASE("store over mpi: a process that declines is heard by all") {
  Store good = open_job_store("memory=4MiB");
  const std::uint32_t last = good.processes() - 1;
  const Status heard = good.process() == last
                           ? Store::decline("mpi:", Status(Code::kInvalidArgument, "not with me"))
                           : Store::open("mpi:?memory=4MiB").status();
  CHECK(heard == Code::kInvalidArgument);
  CHECK(heard.message() ==
        (last == 0 ? "not with me" : "rank " + std::to_string(last) + ": not with me"));
}

TEST_CASE("store over mpi: a process is a rank, and sessions are at home there") {
  Store store = open_job_store("memory=4MiB&sessions=1");
  CHECK(store.ranks() == store.processes());
  {
    auto session = store.session();
    REQUIRE(session.ok());
    CHECK(store.session().code() == Code::kUnavailable);
  }
  CHECK(store.session().ok());
  CHECK(store.session_at((store.process() + 1) % store.ranks()).ok() == (store.ranks() == 1));
  const auto all = store.gather(std::to_string(store.process()));
  if (store.process() == 0) {
    REQUIRE(all.size() == store.processes());
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == std::to_string(i));
  } else {
    CHECK(all.empty());
  }
}

TEST_CASE("store over mpi: what each process says reaches all") {
  Store store = open_job_store("memory=4MiB");
  const auto said_by = [](std::uint32_t process) { return std::string(process * 1000, 'x'); };
  const auto all = store.gather_everywhere(said_by(store.process()));  // process 0: nothing
  REQUIRE(all.size() == store.processes());
  for (std::uint32_t i = 0; i < all.size(); ++i) CHECK(all[i] == said_by(i));
}

TEST_CASE("store over mpi: one process asks all to end") {
  Store store = open_job_store("memory=4MiB");
  CHECK_FALSE(store.asked_to_end());
  store.barrier();
  if (store.process() + 1 == store.processes()) store.ask_all_to_end();
  while (!store.asked_to_end()) std::this_thread::yield();  // it comes by itself
  store.barrier();  // no rank closes the store before the others know
}

TEST_CASE("store over mpi: a global variable may hold a store until the process ends") {
  held_to_the_end.emplace(open_job_store("memory=4MiB"));
  Session s = session_of(*held_to_the_end);
  CHECK(s.put("k", "v").ok());
}
