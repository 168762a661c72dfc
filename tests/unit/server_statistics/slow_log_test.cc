#include "keyway/server/statistics/slow_log.h"

#include <catch2/catch.hpp>

namespace keyway::server {
namespace {

void add(SlowLog& log, std::vector<std::string_view> words) {
  log.add({.queue = 1000, .lock_wait = 2000, .network = 500, .all = 3000}, words, "127.0.0.1:1",
          "me");
}

TEST_CASE("slow log: the threshold is in microseconds, 0 takes all, below 0 nothing") {
  SlowLog log;
  CHECK_FALSE(log.takes(9'999'999));
  CHECK(log.takes(10'000'000));
  log.set_threshold_us(0);
  CHECK(log.takes(0));
  log.set_threshold_us(-1);
  CHECK_FALSE(log.takes(~0ULL));
}

TEST_CASE("slow log: the newest come first, the oldest leave, ids go on") {
  SlowLog log;
  log.set_most_entries(3);
  for (const char* key : {"a", "b", "c", "d"}) add(log, {"GET", key});
  CHECK(log.size() == 3);
  auto entries = log.newest(2);
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].id == 3);
  CHECK(entries[0].words == std::vector<std::string>{"GET", "d"});
  CHECK(entries[1].id == 2);
  CHECK(entries[0].times.lock_wait == 2000);
  CHECK(entries[0].times.execution() == 500);
  CHECK(entries[0].address == "127.0.0.1:1");
  CHECK(entries[0].name == "me");
  log.clear();
  CHECK(log.size() == 0);
  add(log, {"PING"});
  CHECK(log.newest(10)[0].id == 4);
  log.set_most_entries(0);
  add(log, {"PING"});
  CHECK(log.size() == 0);
}

// L2
TEST_CASE("slow log: words and their number are cut as Redis does") {
  SlowLog log;
  const std::string longest(128, 'v');
  const std::string longer(200, 'v');
  add(log, {"SET", longest, longer});
  CHECK(log.newest(1)[0].words[1] == longest);
  CHECK(log.newest(1)[0].words[2] == longest + "... (72 more bytes)");
  add(log, std::vector<std::string_view>(32, "w"));
  CHECK(log.newest(1)[0].words.size() == 32);
  CHECK(log.newest(1)[0].words[31] == "w");
  add(log, std::vector<std::string_view>(33, "w"));
  CHECK(log.newest(1)[0].words.size() == 32);
  CHECK(log.newest(1)[0].words[31] == "... (2 more arguments)");
}

// L2
TEST_CASE("slow log: a client's name is cut as a word is") {
  SlowLog log;
  const std::string longer(1024, 'n');
  log.add({}, std::vector<std::string_view>{"PING"}, "127.0.0.1:1", longer);
  CHECK(log.newest(1)[0].name == longer.substr(0, 128) + "... (896 more bytes)");
}

}  // namespace
}  // namespace keyway::server
