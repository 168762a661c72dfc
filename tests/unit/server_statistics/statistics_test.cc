#include "keyway/server/statistics/statistics.h"

#include <catch2/catch.hpp>
#include <string>

namespace keyway::server {
namespace {

void call(WorkerStatistics& worker, std::size_t command, std::uint64_t ns) {
  CommandCounters& counters = worker.of(command);
  counters.calls.add(1);
  counters.ns.add(ns);
  counters.latencies.record(ns);
  worker.calls.add(1);
}

// S3
TEST_CASE("statistics: the sum of the workers, since the last reset") {
  Statistics statistics(4);
  WorkerStatistics& one = statistics.add_worker(2);
  WorkerStatistics& two = statistics.add_worker(2);
  call(one, 3, 1000);
  call(two, 3, 3000);
  two.of(3).failed.add(1);
  two.of(1).rejected.add(1);
  two.error_replies.add(2);
  two.errors.add("ERR");
  two.errors.add("ERR");
  one.errors.add("OOM");
  statistics.reject_connection();
  one.connections.set(5);
  two.connections.set(6);
  CHECK(statistics.command(3).calls == 2);
  CHECK(statistics.command(3).ns == 4000);
  CHECK(statistics.command(3).failed == 1);
  CHECK(statistics.command(3).latencies.count() == 2);
  CHECK(statistics.command(1).rejected == 1);
  CHECK(statistics.command(0).calls == 0);
  CHECK(statistics.totals().calls == 2);
  CHECK(statistics.totals().error_replies == 2);
  CHECK(statistics.totals().connections_rejected == 1);
  CHECK(statistics.errors() == std::map<std::string, std::uint64_t>{{"ERR", 2}, {"OOM", 1}});
  statistics.reset();
  CHECK(statistics.command(3).calls == 0);
  CHECK(statistics.command(3).latencies.count() == 0);
  CHECK(statistics.totals().calls == 0);
  CHECK(statistics.totals().connections_rejected == 0);
  CHECK(statistics.errors().empty());
  CHECK(statistics.connections() == 11);
  call(one, 3, 2000);
  one.errors.add("OOM");
  CHECK(statistics.command(3).calls == 1);
  CHECK(statistics.command(3).ns == 2000);
  CHECK(statistics.errors() == std::map<std::string, std::uint64_t>{{"OOM", 1}});
}

TEST_CASE("statistics: kinds of errors are bounded, in number and length") {
  ErrorCounters errors;
  for (int i = 0; i < 100; ++i) errors.add("KIND" + std::to_string(i));
  errors.add(std::string(200, 'L'));
  std::size_t kinds = 0;
  errors.each([&](std::string_view kind, std::uint64_t count) {
    ++kinds;
    CHECK(kind.size() <= ErrorCounters::kLongestKind);
    CHECK(count == 1);
  });
  CHECK(kinds == ErrorCounters::kMaxKinds);
}

TEST_CASE("statistics: locks of all sessions add up") {
  Statistics statistics(1);
  WorkerStatistics& worker = statistics.add_worker(2);
  worker.locks[0].shared.set(3);
  worker.locks[1].shared.set(4);
  worker.locks[1].contended.set(1);
  worker.locks[0].shared.set(5);
  CHECK(statistics.locks().shared == 9);
  CHECK(statistics.locks().contended == 1);
}

}  // namespace
}  // namespace keyway::server
