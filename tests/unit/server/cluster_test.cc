// CLUSTER: the owners of slots, and that a slot's keys are read from their owner.
#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>

#include "keyway/server/commands/cluster/cluster_view.h"
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

TEST_CASE("cluster: a client of the cluster gets of each rank what is that rank's") {
  auto store = Store::open("local:?memory=16MiB&ranks=3");
  REQUIRE(store.ok());
  constexpr int kKeys = 300;
  Peer plain(*store);
  plain.service.cluster = view_of(3, 0);
  for (int i = 0; i < kKeys; ++i) plain.ask(fmt::format("set key:{} v", i));
  CHECK(plain.ask("dbsize") == fmt::format(":{}\r\n", kKeys));
  CHECK(plain.ask("keys *").starts_with(fmt::format("*{}\r\n", kKeys)));
  for (const char* word : {"cluster slots", "cluster shards"}) {
    plain.ask(word);
    CHECK(plain.ask("dbsize") == fmt::format(":{}\r\n", kKeys));
  }
  for (const char* word : {"cluster nodes", "readonly", "readwrite", "asking"}) {
    std::int64_t sum = 0;
    std::set<std::string> keys;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      Peer peer(*store);
      peer.service.cluster = view_of(3, rank);
      peer.ask(word);
      const std::string dbsize = peer.ask("dbsize");
      sum += std::stoll(dbsize.substr(1));
      CHECK(peer.ask("keys *").starts_with("*" + dbsize.substr(1)));
      const std::string scanned = peer.ask("scan 0 count 1000");
      for (int i = 0; i < kKeys; ++i) {
        const std::string key = fmt::format("\r\nkey:{}\r\n", i);
        if (scanned.find(key) == std::string::npos) continue;
        INFO(word << ", rank " << rank << key);
        CHECK(keys.insert(key).second);
      }
      CHECK(peer.ask("reset") == "+RESET\r\n");
      CHECK(peer.ask("dbsize") == fmt::format(":{}\r\n", kKeys));
    }
    CHECK(sum == kKeys);
    CHECK(keys.size() == kKeys);
  }
  Peer last(*store);
  last.service.cluster = view_of(3, 2);
  last.client.of_cluster = last.client.by_cluster_port = true;
  CHECK(last.ask("reset") == "+RESET\r\n");
  const std::int64_t theirs = std::stoll(last.ask("dbsize").substr(1));
  CHECK(last.ask("flushall") == "+OK\r\n");
  CHECK(last.ask("dbsize") == ":0\r\n");
  CHECK(plain.ask("dbsize") == fmt::format(":{}\r\n", kKeys - theirs));
}

TEST_CASE("cluster: a client is told the address that it came to, where a node listens on it") {
  const auto host = [](const ClusterNode& node, std::string_view local) {
    const ClusterNode here{.id = "", .host = "10.0.0.1", .machine = "a", .binds = {}};
    return std::string(node.host_for(here, local));
  };
  ClusterNode near{
      .id = "", .host = "10.0.0.1", .machine = "a", .binds = {"127.0.0.1", "10.0.0.1"}};
  CHECK(host(near, "127.0.0.1:7400") == "127.0.0.1");
  CHECK(host(near, "10.0.0.1:7400") == "10.0.0.1");
  CHECK(host(near, "/run/keyway.sock:0") == "10.0.0.1");
  CHECK(host(near, "127.0.0.2:7400") == "10.0.0.1");
  ClusterNode far = near;
  far.machine = "b";
  far.host = "10.0.0.2";
  CHECK(host(far, "127.0.0.1:7400") == "10.0.0.2");
  CHECK(host(far, "10.0.0.1:7400") == "10.0.0.2");
  ClusterNode any{.id = "", .host = "a", .machine = "a", .binds = {"0.0.0.0", "::"}};
  CHECK(host(any, "10.0.0.7:7400") == "10.0.0.7");
  CHECK(host(any, "[fe80::1]:7400") == "fe80::1");
  CHECK(host(any, "[::ffff:10.0.0.7]:7400") == "a");
  CHECK(host(any, "/run/keyway.sock:0") == "a");
  CHECK(host(any, "relative.sock:0") == "a");
  ClusterNode prescribed{.id = "", .host = "name", .machine = "a", .binds = {}};
  CHECK(host(prescribed, "127.0.0.1:7400") == "name");
}

}  // namespace
}  // namespace keyway::server
