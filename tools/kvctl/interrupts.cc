#include "interrupts.h"

#include <poll.h>
#include <signal.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <utility>

namespace keyway::kvctl {
namespace {

constexpr std::array<int, 3> kNoted = {SIGINT, SIGWINCH, SIGTSTP};

// Set by handlers, which run only inside wait_for(), on the thread that waits.
volatile sig_atomic_t stop = 0;
volatile sig_atomic_t resize = 0;
volatile sig_atomic_t suspend = 0;
bool notes = false;

void take_note(int signal) {
  if (signal == SIGINT) stop = 1;
  if (signal == SIGWINCH) resize = 1;
  if (signal == SIGTSTP) suspend = 1;
}

bool take(volatile sig_atomic_t& flag) {
  const bool set = flag != 0;
  flag = 0;
  return set;
}

sigset_t noted() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kNoted) sigaddset(&signals, signal);
  return signals;
}

}  // namespace

void Interrupts::note() {
  struct sigaction action = {};
  action.sa_handler = take_note;
  for (const int signal : kNoted) sigaction(signal, &action, nullptr);
  const sigset_t signals = noted();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  notes = true;
}

void Interrupts::let_go() {
  for (const int signal : kNoted) ::signal(signal, SIG_DFL);
  const sigset_t signals = noted();
  sigprocmask(SIG_UNBLOCK, &signals, nullptr);
  notes = false;
}

bool Interrupts::noting() { return notes; }
bool Interrupts::take_stop() { return take(stop); }
bool Interrupts::take_resize() { return take(resize); }
bool Interrupts::take_suspend() { return take(suspend); }

Waited wait_for(int file, std::optional<double> seconds) {
  pollfd wanted{file, POLLIN, 0};
  timespec span{};
  if (seconds) {
    span.tv_sec = static_cast<time_t>(*seconds);
    span.tv_nsec = static_cast<long>((*seconds - std::floor(*seconds)) * 1e9);
  }
  sigset_t open;
  sigprocmask(SIG_BLOCK, nullptr, &open);
  for (const int signal : kNoted) sigdelset(&open, signal);
  const int ready =
      ::ppoll(&wanted, file < 0 ? 0 : 1, seconds ? &span : nullptr, notes ? &open : nullptr);
  if (ready > 0) return Waited::kReady;
  return ready < 0 && errno == EINTR ? Waited::kSignal : Waited::kTimeout;
}

}  // namespace keyway::kvctl
