// The parser of replies: the same trees and the same error for any division into pieces.
#include "keyway/kvstore/resp/reply_parser.h"
#include "keyway/locks/base/check.h"
#include "pieces.h"
#include "target.h"

namespace keyway::fuzz {
namespace {

using resp::ReplyParser;

Outcome parse(std::string_view input, std::size_t piece) {
  Outcome outcome;
  ReplyParser parser;
  feed(input, piece, [&](std::string_view seen) {
    const auto step = parser.parse(seen);
    const std::size_t consumed = parser.consumed();
    KW_CHECK(consumed <= seen.size());
    if (step == ReplyParser::Step::kError) {
      outcome.error = parser.error();
      return std::pair(false, consumed);
    }
    if (step == ReplyParser::Step::kReply) {
      KW_CHECK(consumed > 0);
      KW_CHECK(resp::extent(parser.nodes()) == parser.nodes().size());
      std::string tree;
      for (const resp::Reply& node : parser.nodes()) {
        tree += std::to_string(static_cast<int>(node.kind)) + ' ' + std::to_string(node.integer);
        tree += ' ' + std::to_string(node.text.size()) + ':';
        tree += node.text;
        tree += node.format;
      }
      outcome.results.push_back(std::move(tree));
    }
    return std::pair(true, consumed);
  });
  return outcome;
}

}  // namespace

void run_one(std::string_view input) {
  const Outcome whole = parse(input, std::max<std::size_t>(input.size(), 1));
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{64}}) {
    KW_CHECK_MSG(parse(input, piece) == whole, "reply", "pieces make a difference");
  }
}

}  // namespace keyway::fuzz
