// Ctrl-C, and waits that it ends.
//
// *What.* Ctrl-C ends the running command, and the shell continues. SIGINT, SIGWINCH and SIGTSTP
// are noted while a caller waits here, and blocked at all other times.
// *Thread safety.* One thread's.
#pragma once

#include <cstdint>
#include <optional>

namespace keyway::kvctl {

class Interrupts {
 public:
  /// From here on signals are noted; before, they do what they do to any program.
  static void note();
  /// Back to that.
  static void let_go();
  static bool noting();
  /// Whether there was a Ctrl-C since the last call.
  static bool take_stop();
  static bool take_resize();
  static bool take_suspend();
};

enum class Waited : std::uint8_t { kReady, kTimeout, kSignal };

/// Until `file` (-1: none) has something to read, not longer than that; nothing: as long as it
/// takes.
Waited wait_for(int file, std::optional<double> seconds);

}  // namespace keyway::kvctl
