// The words that are a view instead of a command of the server.
#include "keyway/kvstore/resp/numbers.h"
#include "keyway/locks/base/words.h"
#include "modes/modes.h"

namespace keyway::kvctl {
namespace {

constexpr std::uint64_t kDefaultRows = 20;

/// The number of rows for `locks`; nothing if these words are another command.
std::optional<std::uint64_t> rows_of(const std::vector<std::string>& words) {
  if (words.size() == 1) return kDefaultRows;
  const auto rows = words.size() == 2 ? resp::parse_integer(words[1]) : std::nullopt;
  if (!rows || *rows < 1) return std::nullopt;
  return static_cast<std::uint64_t>(*rows);
}

}  // namespace

std::optional<View> view_of(const std::vector<std::string>& words) {
  if (words.size() == 1 && same_word(words[0], "cluster")) return View::kCluster;
  if (!words.empty() && same_word(words[0], "locks") && rows_of(words)) return View::kLocks;
  return std::nullopt;
}

int show_view(View view, const std::vector<std::string>& words, Link& link, const Options& options,
              Style style) {
  if (view == View::kCluster) return show_cluster(link, style);
  const std::uint64_t rows =
      options.count != 0 ? options.count : rows_of(words).value_or(kDefaultRows);
  return show_locks(link, rows, style);
}

}  // namespace keyway::kvctl
