// Signals: which of them end the server, and how soon.
//
// *What.* SIGTERM and SIGINT request an orderly end: received requests are answered. The process
// ends at once, with a message, when a second one comes, or when the time for its end is over, even
// if its threads compute or wait for a rank that has stopped. SIGHUP and SIGPIPE are ignored: the
// server reads no file again, and its output may be closed.
// *Thread safety.* For the main thread.
// *Invariants.*
//   S1  The handlers call async-signal-safe functions alone, and touch lock-free words alone.
//   S2  A terminal and a launcher may both signal the process, so signals that come within
//   kTogether of the first are the same request.
#pragma once

#include <asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

namespace keyway::server {

/// Exit code of a process that has ended with unanswered requests.
inline constexpr int kExitForced = 4;

/// From here on SIGTERM and SIGINT wait for an EndSignals to be made, and SIGHUP and SIGPIPE are
/// ignored. For before other threads are.
void hold_signals();

/// Ends the process at once, after this sentence, in which {} is replaced by the limit in s, unless
/// it ends by itself within it, or is given another limit. Allocates nothing.
void end_within(std::chrono::seconds limit, std::string_view sentence);

/// Calls `on_signal` once, on the event loop, when the first SIGTERM or SIGINT comes.
class EndSignals {
 public:
  EndSignals(asio::io_context& events, std::function<void()> on_signal);
  /// From here on the first signal does nothing: the process is about to end.
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  /// The event loop waits for no signal any more.
  void stop();

  static constexpr std::chrono::milliseconds kTogether{500};

 private:
  asio::posix::stream_descriptor wakes_;
};

}  // namespace keyway::server
