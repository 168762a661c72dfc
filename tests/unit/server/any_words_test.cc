// E1: for any words there is one reply, and it is well formed.
#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "keyway/kvstore/resp/reply_parser.h"
#include "keyway/locks/base/rng.h"
#include "keyway/server/commands/engine/table.h"
#include "tests/unit/server/peer.h"

namespace keyway::server {
namespace {

const std::vector<std::string> kWords = {"",
                                         "a",
                                         "b",
                                         "c",
                                         "10",
                                         "-1",
                                         "0",
                                         "2",
                                         "7",
                                         "4e2",
                                         "0x1p-3",
                                         "1000000000",
                                         "-10",
                                         "nx",
                                         "XX",
                                         "get",
                                         "ex",
                                         "px",
                                         "exat",
                                         "pxat",
                                         "keepttl",
                                         "ifeq",
                                         "gt",
                                         "lt",
                                         "idx",
                                         "len",
                                         "bit",
                                         "byte",
                                         "not",
                                         "and",
                                         "*",
                                         "[a-",
                                         "match",
                                         "count",
                                         "type",
                                         "string",
                                         "3",
                                         "id",
                                         "info",
                                         "getname",
                                         "list",
                                         "help",
                                         "filterby",
                                         "pattern",
                                         "aclcat",
                                         "auth",
                                         "docs",
                                         "getkeys",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         std::string("\0\r\n\xff", 4)};

std::string request_text(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text += fmt::format("'{}' ", word);
  return text;
}

TEST_CASE("any words: one reply, well formed") {
  Store store = small_store();
  Peer peer(store);
  const auto commands = all_commands();
  const std::uint64_t seed = GENERATE(1, 2, 3, 4);
  Rng rng(seed);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::string_view> words = {commands[rng.below(commands.size())].name};
    if (rng.below(50) == 0) words[0] = kWords[rng.below(kWords.size())];
    const std::uint64_t more = rng.below(7);
    while (words.size() <= more) words.push_back(kWords[rng.below(kWords.size())]);
    const std::string reply = peer.ask(words);
    resp::ReplyParser parser;
    const bool whole =
        parser.parse(reply) == resp::ReplyParser::Step::kReply && parser.consumed() == reply.size();
    if (whole) continue;
    FAIL("seed " << seed << ", request " << i << ": " << request_text(words) << "got " << reply);
  }
}

}  // namespace
}  // namespace keyway::server
