// The text of INFO.
#include <catch2/catch.hpp>

#include "keyway/server/commands/admin/info_writer.h"
#include "keyway/server/commands/diagnostics/latency_graph.h"
#include "tests/unit/server/peer.h"

namespace keyway::server {
namespace {

TEST_CASE("info: bytes for people, as Redis writes them") {
  CHECK(human_bytes(0) == "0B");
  CHECK(human_bytes(1023) == "1023B");
  CHECK(human_bytes(1024) == "1.00K");
  CHECK(human_bytes(959'152) == "936.67K");
  CHECK(human_bytes(25'276'510'208) == "23.54G");
  CHECK(human_bytes(~0ULL) == "16384.00P");
}

TEST_CASE("info: sections are parted by an empty line") {
  InfoWriter out;
  out.section("One");
  out.field("a", 1);
  out.section("Two");
  out.bytes("b", 2048);
  CHECK(out.text() == "# One\r\na:1\r\n\r\n# Two\r\nb:2048\r\nb_human:2.00K\r\n");
}

TEST_CASE("info: text for people is told as such to RESP3") {
  Store store = small_store();
  Peer peer(store);
  CHECK(peer.ask("info cluster") == "$30\r\n# Cluster\r\ncluster_enabled:0\r\n\r\n");
  peer.client.version = resp::Version::kResp3;
  CHECK(peer.ask("info CLUSTER") == "=34\r\ntxt:# Cluster\r\ncluster_enabled:0\r\n\r\n");
  CHECK(peer.ask("info nosuch") == "=4\r\ntxt:\r\n");
}

TEST_CASE("info: what cannot be saved is not thrown away, and what is no server does not end") {
  Store store = small_store();
  Peer peer(store);
  CHECK(peer.ask("shutdown") == "-ERR Errors trying to SHUTDOWN. Check logs.\r\n");
  int ended = 0;
  peer.service.shut_down = [&] { ++ended; };
  CHECK(peer.ask("shutdown save") == "-ERR Errors trying to SHUTDOWN. Check logs.\r\n");
  CHECK(ended == 0);
  CHECK(peer.ask("shutdown nosave") == "");
  CHECK(ended == 1);
  CHECK(peer.client.closing);
}

TEST_CASE("config: nothing is changed before all has been looked at") {
  Store store = small_store();
  Peer peer(store);
  peer.service.settings.clients_limit = 500;
  peer.service.server_info.parameters = {{"port", "1"}};
  CHECK(peer.ask("config set slowlog-max-len 5 maxclients 501") ==
        "-ERR CONFIG SET failed (possibly related to argument 'maxclients') - The operating system "
        "is not able to handle the specified number of clients, try with 500\r\n");
  CHECK(peer.ask("config set slowlog-max-len 5 port 2") ==
        "-ERR CONFIG SET failed (possibly related to argument 'port') - can't set immutable "
        "config\r\n");
  CHECK(peer.service.slow_log.most_entries() == SlowLog::kDefaultMaxEntries);
  CHECK(peer.ask("config set slowlog-max-len 5 maxclients 500") == "+OK\r\n");
  CHECK(peer.service.slow_log.most_entries() == 5);
  CHECK(peer.service.settings.most_clients == 500);
  CHECK(peer.ask("config get Por*") == "*2\r\n$4\r\nport\r\n$1\r\n1\r\n");
}

// As redis-server has drawn it.
TEST_CASE("latency: the graph of some events") {
  LatencyEvents::History history;
  history.samples = {{1196, 50},  {1197, 300}, {1198, 120}, {1199, 410}, {1201, 2},
                     {1202, 200}, {1203, 330}, {1204, 70},  {1206, 500}, {1207, 150}};
  history.worst_ms = 500;
  const std::string head = "command - high 500 ms, low 2 ms (all time high 500 ms)\n" +
                           std::string(80, '-') + "\n" +
                           "   _    # \n o |  o | \n | | o| |_\no|#|_||o||\n          \n";
  CHECK(latency_graph("command", history, 1208) == head + "1119765421\n210sssssss\nsss       \n");
  CHECK(latency_graph("command", history, 1269) == head + "1111111111\nmmmmmmmmmm\n");
}

TEST_CASE("latency: one event is one mark, many are several pictures") {
  LatencyEvents::History history;
  history.samples = {{100, 7}};
  history.worst_ms = 9;
  const std::string line(80, '-');
  CHECK(latency_graph("command", history, 100 + 3 * 86'400) ==
        "command - high 7 ms, low 7 ms (all time high 9 ms)\n" + line + "\n \n \n \n_\n \n3\nd\n");
  history.samples.assign(81, {100, 7});
  const std::string graph = latency_graph("command", history, 100);
  CHECK(graph.ends_with("\n\n \n \n \n_\n \n0\ns\n"));
}

}  // namespace
}  // namespace keyway::server
