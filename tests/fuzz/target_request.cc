// The parser of requests: the same words and the same error for any division into pieces.
#include "keyway/kvstore/resp/request_parser.h"
#include "keyway/locks/base/check.h"
#include "pieces.h"
#include "target.h"

namespace keyway::fuzz {
namespace {

using resp::RequestParser;

Outcome parse(std::string_view input, std::size_t piece, const resp::RequestLimits& limits) {
  Outcome outcome;
  RequestParser parser;
  feed(input, piece, [&](std::string_view seen) {
    const auto step = parser.parse(seen, limits);
    const std::size_t consumed = parser.consumed();
    KW_CHECK(consumed <= seen.size());
    if (step == RequestParser::Step::kError) {
      outcome.error = parser.error();
      KW_CHECK(outcome.error.starts_with("Protocol error: "));
      return std::pair(false, consumed);
    }
    if (step == RequestParser::Step::kRequest) {
      KW_CHECK(!parser.words().empty() && consumed > 0);
      std::string words;
      for (const std::string_view word : parser.words()) {
        words += std::to_string(word.size()) + ':';
        words += word;
      }
      outcome.results.push_back(std::move(words));
    }
    return std::pair(true, consumed);
  });
  return outcome;
}

}  // namespace

void run_one(std::string_view input) {
  for (const bool trusted : {true, false}) {
    // Far less than what may come, so that the limits are met.
    const resp::RequestLimits limits{.word_bytes = 4096, .line_bytes = 200, .trusted = trusted};
    const Outcome whole = parse(input, std::max<std::size_t>(input.size(), 1), limits);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{64}}) {
      const Outcome pieces = parse(input, piece, limits);
      // As in Redis, a long line is taken where its end is there at once, and else is too long.
      if (pieces.error.find("too big") != std::string::npos) {
        KW_CHECK(pieces.results.size() <= whole.results.size());
        KW_CHECK(std::equal(pieces.results.begin(), pieces.results.end(), whole.results.begin()));
        continue;
      }
      KW_CHECK_MSG(pieces == whole, "Q2", "pieces make a difference");
    }
  }
}

}  // namespace keyway::fuzz
