// Store URIs: options, or one sentence.
#include "keyway/client/client.h"
#include "keyway/locks/base/check.h"
#include "target.h"

namespace keyway::fuzz {

void run_one(std::string_view input) {
  const auto parsed = parse_store_uri(input);
  if (parsed.ok()) {
    KW_CHECK(!parsed->scheme.empty() && input.starts_with(parsed->scheme));
  } else {
    KW_CHECK(parsed.code() == Code::kInvalidArgument && !parsed.status().message().empty());
  }
}

}  // namespace keyway::fuzz
