#include "interrupt.h"

#include <signal.h>

#include <atomic>

namespace keyway::kvload {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

// A signal handler may only use atomics that are lock-free.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void set_handler(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // calls inside libraries continue
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

bool is_ignored(int number) {
  struct sigaction action {};
  sigaction(number, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

void on_signal(int) {
  // Relaxed: the flag publishes nothing else.
  interrupted.store(true, std::memory_order_relaxed);
  for (const int number : kSignals) {
    if (!is_ignored(number)) set_handler(number, SIG_DFL);
  }
}

}  // namespace

void take_interrupts() {
  for (const int number : kSignals) {
    if (!is_ignored(number)) set_handler(number, on_signal);
  }
}

bool was_interrupted() { return interrupted.load(std::memory_order_relaxed); }

}  // namespace keyway::kvload
