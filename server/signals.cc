#include "signals.h"

#include <fmt/core.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "keyway/locks/base/check.h"
#include "keyway/locks/base/clock.h"

namespace keyway::server {
namespace {

constexpr std::string_view kTwice =
    "keywayd: second signal to stop: stopped at once, with unanswered requests\n";

// State of the handlers: a process has one of each signal.
std::atomic<std::uint64_t> first_ns{0};  // when the first SIGTERM or SIGINT came; 0: none has
std::atomic<int> wakes{-1};              // the event loop's descriptor; -1: none
std::array<char, 256> last_words{};
std::atomic<std::size_t> last_words_bytes{0};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);  // S1

[[noreturn]] void end_at_once(std::string_view sentence) {
  static_cast<void>(!write(STDERR_FILENO, sentence.data(), sentence.size()));
  _exit(kExitForced);
}

void when_told(int /*signal*/) {
  const int before = errno;
  constexpr auto kTogetherNs =
      static_cast<std::uint64_t>(std::chrono::nanoseconds(EndSignals::kTogether).count());
  const std::uint64_t now = steady_ns();
  std::uint64_t first = 0;
  // relaxed: a time by itself, and a descriptor that is open for as long as it is here.
  if (first_ns.compare_exchange_strong(first, now, std::memory_order_relaxed)) {
    const std::uint64_t one = 1;
    const int to = wakes.load(std::memory_order_relaxed);
    if (to >= 0) static_cast<void>(!write(to, &one, sizeof one));
  } else if (now - first >= kTogetherNs) {  // S2
    end_at_once(kTwice);
  }
  errno = before;
}

void when_time_is_over(int /*signal*/) {
  // acquire: the bytes are there.
  end_at_once({last_words.data(), last_words_bytes.load(std::memory_order_acquire)});
}

/// Interrupted system calls begin again: a library may not know that they can be.
void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  KW_CHECK(sigaction(signal, &action, nullptr) == 0);
}

void ignore_others() {
  handle(SIGHUP, SIG_IGN);
  handle(SIGPIPE, SIG_IGN);
}

/// Blocked, not caught: calls of libraries that wait while the process starts are not interrupted.
void mask_signals(int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  pthread_sigmask(how, &set, nullptr);
}

}  // namespace

void hold_signals() {
  ignore_others();
  mask_signals(SIG_BLOCK);
}

void end_within(std::chrono::seconds limit, std::string_view sentence) {
  alarm(0);
  const auto written = fmt::format_to_n(last_words.data(), last_words.size() - 1,
                                        fmt::runtime(sentence), limit.count());
  *written.out = '\n';
  const std::size_t bytes = std::min(written.size, last_words.size() - 1);
  // release: with the bytes.
  last_words_bytes.store(bytes + 1, std::memory_order_release);
  handle(SIGALRM, when_time_is_over);
  // A kernel takes as many seconds as an int has; nobody waits that long.
  constexpr std::int64_t kLongest = 1'000'000'000;
  alarm(static_cast<unsigned>(std::clamp<std::int64_t>(limit.count(), 1, kLongest)));
}

EndSignals::EndSignals(asio::io_context& events, std::function<void()> on_signal)
    : wakes_(events, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  wakes.store(wakes_.native_handle(), std::memory_order_relaxed);  // handlers come next
  ignore_others();  // a library that the process has entered since may have caught them
  handle(SIGTERM, when_told);
  handle(SIGINT, when_told);
  wakes_.async_wait(asio::posix::stream_descriptor::wait_read,
                    [on_signal = std::move(on_signal)](std::error_code cancelled) {
                      if (!cancelled) on_signal();
                    });
  mask_signals(SIG_UNBLOCK);
}

/// The descriptor stays open: a handler may be about to write to it.
EndSignals::~EndSignals() {
  wakes.store(-1, std::memory_order_relaxed);
  static_cast<void>(wakes_.release());
}

void EndSignals::stop() { wakes_.cancel(); }

}  // namespace keyway::server
