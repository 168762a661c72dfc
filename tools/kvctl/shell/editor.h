// Editor: a line typed at a terminal, with history, search (Ctrl-R), completion (Tab) and hints.
//
// *What.* libedit edits. It knows no hints, so they are drawn here, dim and behind the cursor,
// while it waits for a key, and taken away before it sees that key. Bindings of ~/.editrc win over
// ours. *Thread safety.* One thread's; one editor at a time has the terminal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shell/complete.h"

namespace keyway::kvctl {

enum class Read : std::uint8_t { kLine, kEnd, kStopped };

class Editor {
 public:
  Editor();
  ~Editor();

  /// A line without its end. kStopped: Ctrl-C; `line` is what had been typed until then.
  Read read(const std::string& prompt, std::string& line);
  /// Lets the arrow keys and Ctrl-R find this line.
  void remember(const std::string& line);
  void show_hints(bool on) { hints_ = on; }

 private:
  struct Terminal;

  std::unique_ptr<Terminal> terminal_;
  bool hints_ = true;
};

}  // namespace keyway::kvctl
