#include "modes/scanner.h"

#include <fmt/core.h>

#include "modes/tree.h"
#include "tools/kvctl/interrupts.h"

namespace keyway::kvctl {
namespace {

constexpr std::uint64_t kStepsBetweenRests = 100;  // as redis-cli's, with -i

}  // namespace

Scanner::Scanner(Link& link, const Options& options)
    : link_(link), interval_s_(options.interval_s), words_({"SCAN", "0"}) {
  if (!options.pattern.empty()) words_.insert(words_.end(), {"MATCH", options.pattern});
  if (options.count != 0) words_.insert(words_.end(), {"COUNT", std::to_string(options.count)});
  if (!options.type.empty()) words_.insert(words_.end(), {"TYPE", options.type});
}

Result<std::vector<std::string>> Scanner::next() {
  if (interval_s_ > 0 && steps_ != 0 && steps_ % kStepsBetweenRests == 0) wait_for(-1, interval_s_);
  ++steps_;
  const auto reply = link_.ask(words_);
  if (!reply.ok()) return reply.status();
  const Tree tree(*reply);
  const auto parts = tree.elements();
  if (parts.size() != 2) {
    return Status(Code::kUnsupported,
                  fmt::format("{} does not scan: {}", link_.server(), tree.text()));
  }
  words_[1] = parts[0].text();
  at_end_ = words_[1] == "0";
  std::vector<std::string> keys;
  for (const Tree& key : parts[1].elements()) keys.emplace_back(key.text());
  return keys;
}

}  // namespace keyway::kvctl
