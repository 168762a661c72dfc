// --hotkeys: the keys that are used most, as keywayd has sampled them.
#include <fmt/core.h>

#include "modes/modes.h"
#include "modes/tree.h"
#include "tools/kvctl/runner.h"

namespace keyway::kvctl {
namespace {

constexpr std::uint64_t kDefaultRows = 20;

void print_table(const Tree& keys) {
  if (keys.elements().empty()) {
    fmt::print("No key has been sampled yet.\n");
    return;
  }
  fmt::print("{:>7} {:>9} {:<6} {}\n", "share", "samples", "access", "key");
  for (const Tree& key : keys.elements()) {
    std::string name;
    append_quoted(key.field("key").text(), name);
    const std::uint64_t length = key.field("length").count();
    const bool cut = length > key.field("key").text().size();
    fmt::print("{:>6.2f}% {:>9} {:<6} {}{}\n", key.field("share").number() * 100,
               key.field("samples").count(), key.field("access").text(), name,
               cut ? fmt::format("... ({} bytes)", length) : "");
  }
}

}  // namespace

int run_hot_keys(Link& link, const Options& options, Style style) {
  const std::string count = std::to_string(options.count != 0 ? options.count : kDefaultRows);
  const auto reply = link.ask({"KW.HOTKEYS", "COUNT", count});
  if (!reply.ok()) {
    complain(reply.status().message());
    return kExitUnavailable;
  }
  const Tree keys(*reply);
  if (keys.is_error()) {
    complain(fmt::format("{} does not sample keys: {}", link.server(), keys.text()));
    return kExitError;
  }
  if (style == Style::kJson || style == Style::kCsv) {
    std::string text;
    append_reply(*reply, style, text);
    fmt::print("{}", text);
  } else {
    print_table(keys);
  }
  return kExitOk;
}

}  // namespace keyway::kvctl
