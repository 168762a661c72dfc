// Requests as they come over a socket, executed on a small store: each has one reply, well-formed.
#include <string>

#include "keyway/client/client.h"
#include "keyway/kvstore/resp/reply_parser.h"
#include "keyway/kvstore/resp/request_parser.h"
#include "keyway/locks/base/check.h"
#include "keyway/server/commands/engine/execute.h"
#include "target.h"

namespace keyway::fuzz {
namespace {

struct Fixture {
  Store store = Store::open("local:?memory=2MiB&stripes=4&buckets=64&sessions=1").value();
  server::Executor executor{store.session().value(), {}};
  server::Service service;
};

/// E1: one reply, and nothing behind it.
void check_reply(const std::string& reply) {
  resp::ReplyParser parser;
  KW_CHECK_MSG(parser.parse(reply) == resp::ReplyParser::Step::kReply, "E1", reply);
  KW_CHECK_MSG(parser.consumed() == reply.size(), "E1", reply);
}

}  // namespace

void run_one(std::string_view input) {
  static Fixture fixture;
  KW_CHECK(fixture.executor.session.clear().ok());
  server::Client client;
  resp::RequestParser parser;
  resp::RequestLimits limits;
  while (!client.closing) {
    if (parser.parse(input, limits) != resp::RequestParser::Step::kRequest) return;
    std::string reply;
    resp::ReplyWriter out(reply, client.version);
    server::execute(client, fixture.executor, fixture.service, parser.words(), out);
    if (!client.closing || !reply.empty()) check_reply(reply);
    input.remove_prefix(parser.consumed());
  }
}

}  // namespace keyway::fuzz
