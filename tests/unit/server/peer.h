// Peer: a client of a small store, without a socket: requests as a person types them, replies as
// bytes.
//
// *Thread safety.* One thread's. Several may share a Store.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/client/client.h"
#include "keyway/kvstore/resp/line_words.h"
#include "keyway/server/commands/engine/execute.h"

namespace keyway::server {

inline Store small_store() {
  auto store = Store::open("local:?memory=16MiB");
  REQUIRE(store.ok());
  return std::move(*store);
}

class Peer {
 public:
  explicit Peer(Store& store) : executor_{store.session().value(), {}} {
    client.id = 7;
    client.address = "127.0.0.1:1234";
    client.local_address = "127.0.0.1:6379";
  }

  /// The reply to a line, with quotes as redis-cli takes them.
  std::string ask(std::string_view line) {
    std::vector<std::string> words;
    if (!resp::split_line(line, words) || words.empty()) return "no request: " + std::string(line);
    return ask(std::vector<std::string_view>(words.begin(), words.end()));
  }

  std::string ask(const std::vector<std::string_view>& words) {
    std::string reply;
    resp::ReplyWriter out(reply, client.version);
    execute(client, executor_, service, words, out);
    return reply;
  }

  Executor& executor() { return executor_; }
  Session& session() { return executor_.session; }

  Client client;
  Service service;

 private:
  Executor executor_;
};

}  // namespace keyway::server
