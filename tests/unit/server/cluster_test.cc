// CLUSTER: whose slots are whose, and that a slot's keys are looked for where they are.
#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>

#include "keyway/server/commands/cluster_view.h"
#include "tests/unit/server/peer.h"

namespace keyway::server {
namespace {

ClusterView view_of(std::uint32_t nodes, std::uint32_t self) {
  ClusterView view{.enabled = true, .nodes = {}, .self = self, .ranks = nodes};
  for (std::uint32_t i = 0; i < nodes; ++i) {
    view.nodes.push_back({std::string(40, static_cast<char>('a' + i)), "127.0.0.1",
                          static_cast<std::uint16_t>(7400 + i)});
  }
  return view;
}

TEST_CASE("cluster: the slots of the ranks are those that their owners have") {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 5U, 7U, 64U, 1000U, 16383U, 16384U}) {
    std::uint32_t next = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const SlotRange range = slots_of_rank(rank, ranks);
      REQUIRE(range.first == next);
      REQUIRE(range.last >= range.first);
      for (std::uint32_t slot = range.first; slot <= range.last; ++slot) {
        REQUIRE(store::owner_of_slot(slot, ranks) == rank);
      }
      next = range.last + 1;
    }
    CHECK(next == store::kSlots);
  }
}

TEST_CASE("cluster: who is alone says that there is none") {
  Store store = small_store();
  Peer peer(store);
  for (const char* line : {"CLUSTER SLOTS", "CLUSTER INFO", "CLUSTER KEYSLOT a", "CLUSTER HELP",
                           "CLUSTER RESET", "CLUSTER MEET a 1", "READONLY", "ASKING"}) {
    CHECK(peer.ask(line) == "-ERR This instance has cluster support disabled\r\n");
  }
}

TEST_CASE("cluster: a slot's keys are counted and named, whichever rank has them") {
  auto store = Store::open("local:?memory=16MiB&ranks=3");
  REQUIRE(store.ok());
  Peer peer(*store);
  peer.service.cluster = view_of(3, 1);
  std::map<std::uint32_t, std::set<std::string>> by_slot;
  for (int i = 0; i < 3000; ++i) {
    const std::string key = fmt::format("{{{}}}:{}", i % 100, i);
    by_slot[store::slot_of(key)].insert(key);
    REQUIRE(peer.ask("SET " + key + " v") == "+OK\r\n");
  }
  for (const auto& [slot, keys] : by_slot) {
    const std::string name = std::to_string(slot);
    CHECK(peer.ask("CLUSTER COUNTKEYSINSLOT " + name) ==
          ":" + std::to_string(keys.size()) + "\r\n");
    std::string all = "*" + std::to_string(keys.size()) + "\r\n";
    const std::string reply = peer.ask("CLUSTER GETKEYSINSLOT " + name + " 1000");
    CHECK(reply.starts_with(all));
    for (const std::string& key : keys) CHECK(reply.find(key + "\r\n") != std::string::npos);
    CHECK(peer.ask("CLUSTER GETKEYSINSLOT " + name + " 2").starts_with("*2\r\n"));
    CHECK(peer.ask("CLUSTER GETKEYSINSLOT " + name + " 0") == "*0\r\n");
  }
  const std::uint32_t empty = by_slot.contains(77) ? 78 : 77;
  CHECK(peer.ask("CLUSTER COUNTKEYSINSLOT " + std::to_string(empty)) == ":0\r\n");
}

TEST_CASE("cluster: nodes are named in the order of ranks, and each knows itself") {
  Store store = small_store();
  Peer peer(store);
  peer.service.cluster = view_of(2, 1);
  const std::string first(40, 'a'), second(40, 'b');
  const std::string nodes = first + " 127.0.0.1:7400@17400 master - 0 0 0 connected 0-8191\n" +
                            second +
                            " 127.0.0.1:7401@17401 myself,master - 0 0 1 connected 8192-16383\n";
  CHECK(peer.ask("CLUSTER NODES") == "$" + std::to_string(nodes.size()) + "\r\n" + nodes + "\r\n");
  CHECK(peer.ask("CLUSTER MYID") == "$40\r\n" + second + "\r\n");
  CHECK(peer.ask("CLUSTER REPLICAS " + first) == "*0\r\n");
  CHECK(peer.ask("CLUSTER REPLICAS x") == "-ERR Unknown node x\r\n");
  CHECK(peer.ask("HELLO").find("$7\r\ncluster\r\n") != std::string::npos);
}

}  // namespace
}  // namespace keyway::server
