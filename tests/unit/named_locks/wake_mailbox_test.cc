// U1-U3: wakes from rank to rank.
#include <catch2/catch.hpp>
#include <vector>

#include "keyway/server/named_locks/wake_mailbox.h"

namespace keyway::server {
namespace {

struct Mail {
  Store store = Store::open("local:?memory=16MiB&ranks=3").value();
  Session session = store.session().value();
  WakeMailbox mailbox{store};

  WakeMailbox::Wakes taken(std::uint32_t rank) { return mailbox.collect(session, rank).value(); }
};

TEST_CASE("wake mailbox: a rank takes out what was put in for it, once") {
  Mail it;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    CHECK(it.taken(rank).clients.empty());
    for (std::uint64_t client = 1; client <= rank; ++client) {
      CHECK(it.mailbox.send(it.session, rank, 100 * rank + client).ok());
    }
  }
  CHECK(it.taken(0).clients.empty());
  CHECK(it.taken(2).clients == std::vector<std::uint64_t>{201, 202});
  CHECK(it.taken(1).clients == std::vector<std::uint64_t>{101});
  CHECK(it.taken(2).clients.empty());
  CHECK_FALSE(it.taken(1).all_clients);
}

TEST_CASE("U2: where there is no room for more, everybody is to look") {
  Mail it;
  for (std::uint64_t client = 1; client <= 63; ++client) {
    REQUIRE(it.mailbox.send(it.session, 1, client).ok());
  }
  const auto all = it.taken(1);
  CHECK(all.clients.size() == 63);
  CHECK_FALSE(all.all_clients);
  for (std::uint64_t client = 1; client <= 200; ++client) {
    REQUIRE(it.mailbox.send(it.session, 1, client).ok());
  }
  CHECK(it.taken(1).all_clients);
  CHECK_FALSE(it.taken(1).all_clients);
}

TEST_CASE("U1: a full store does not stop a wake") {
  Mail it;
  it.taken(1);
  const std::string value(1000, 'x');
  std::uint64_t number = 0;
  while (it.session.put("filling " + std::to_string(number), value).ok()) ++number;
  for (std::uint64_t client = 1; client <= 3; ++client) {
    CHECK(it.mailbox.send(it.session, 1, client).ok());
  }
  CHECK(it.taken(1).clients == std::vector<std::uint64_t>{1, 2, 3});
}

}  // namespace
}  // namespace keyway::server
