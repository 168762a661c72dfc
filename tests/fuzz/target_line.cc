// The words of a line as a person types it, and the store's addresses: sentences, never a crash.
#include <string>
#include <vector>

#include "keyway/kvstore/resp/line_words.h"
#include "keyway/locks/base/check.h"
#include "target.h"

namespace keyway::fuzz {

void run_one(std::string_view input) {
  std::vector<std::string> words = {"before"};
  const bool right = resp::split_line(input, words);
  KW_CHECK(words[0] == "before");
  KW_CHECK(right || words.size() == 1);
  std::size_t bytes = 0;
  for (const std::string& word : words) bytes += word.size();
  KW_CHECK(bytes <= input.size() + words[0].size());
}

}  // namespace keyway::fuzz
