// --scan: all keys, a line each.
#include <cstdio>

#include "modes/modes.h"
#include "modes/scanner.h"
#include "tools/kvctl/runner.h"

namespace keyway::kvctl {

int run_scan(Link& link, const Options& options, Style style) {
  Scanner scanner(link, options);
  std::string text;
  while (!scanner.at_end()) {
    const auto keys = scanner.next();
    if (!keys.ok()) {
      complain(keys.status().message());
      return keys.status() == Code::kUnsupported ? kExitError : kExitUnavailable;
    }
    text.clear();
    for (const std::string& key : *keys) {
      if (style == Style::kRaw) {
        text += key;
      } else if (style == Style::kJson) {
        append_json_string(key, text);
      } else {
        append_quoted(key, text);
      }
      text += '\n';
    }
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) return kExitError;
  }
  return std::fflush(stdout) == 0 ? kExitOk : kExitError;
}

}  // namespace keyway::kvctl
