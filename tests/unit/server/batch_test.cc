// Batches of requests: their words and commands, and where they end.
#include "keyway/server/commands/engine/batch.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "keyway/server/commands/engine/table.h"
#include "tests/unit/server/peer.h"

namespace keyway::server {
namespace {

using Words = std::vector<std::string_view>;

TEST_CASE("batch: keeps requests in their order, with their commands") {
  Batch batch;
  CHECK(batch.add(Words{"GET", "a"}, 20));
  CHECK(batch.add(Words{"mset", "a", "1", "b", "2"}, 50));
  CHECK_FALSE(batch.add(Words{"nothing"}, 60));
  REQUIRE(batch.size() == 3);
  CHECK(batch[0].command == find_command("get"));
  CHECK(batch[0].words.size() == 2);
  CHECK(batch[1].words[4] == "2");
  CHECK(batch[1].end == 50);
  CHECK(batch[2].command == nullptr);
  batch.clear();
  CHECK(batch.size() == 0);
}

TEST_CASE("batch: T1: ends where the next request may mean something else") {
  for (const char* name : {"auth", "hello", "quit", "reset", "no-such-command", "post"}) {
    CAPTURE(name);
    Batch batch;
    CHECK_FALSE(batch.add(Words{name}, 1));
  }
}

TEST_CASE("batch: T2: takes a bounded number of requests, and of words") {
  Batch batch;
  std::size_t taken = 1;
  while (batch.add(Words{"ping"}, taken)) REQUIRE(++taken < 1000);
  CHECK(batch.size() == taken);
  batch.clear();
  const Words many(100'000, "del");
  CHECK_FALSE(batch.add(many, 1));
  CHECK(batch[0].words.size() == many.size());
}

TEST_CASE("batch: asks for the memory of any keys, wherever a command has them") {
  Store store = small_store();
  Session session = store.session().value();
  const std::string too_long(70'000, 'k');
  Batch batch;
  batch.prefetch(session);
  for (const Command& command : all_commands()) {
    for (const std::size_t more : {0, 1, 2, 7, 90}) {
      Words words(1 + more, "k");
      words[0] = command.name;
      if (more == 7) words[3] = "";
      if (more == 2) words[1] = too_long;
      batch.add(words, 1);
      batch.add(words, 2);
      batch.prefetch(session);
      batch.clear();
    }
  }
  CHECK(*session.size() == 0);
}

}  // namespace
}  // namespace keyway::server
