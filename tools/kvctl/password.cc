#include "password.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <string_view>

#include "interrupts.h"

namespace keyway::kvctl {
namespace {

/// The terminal, its echo off as long as this lives.
class SilentTerminal {
 public:
  SilentTerminal() : file_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {
    if (file_ < 0 || ::tcgetattr(file_, &before_) != 0) return;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    silent_ = ::tcsetattr(file_, TCSAFLUSH, &silent) == 0;
  }
  SilentTerminal(const SilentTerminal&) = delete;
  SilentTerminal& operator=(const SilentTerminal&) = delete;
  ~SilentTerminal() {
    if (silent_) ::tcsetattr(file_, TCSAFLUSH, &before_);
    if (file_ >= 0) ::close(file_);
  }

  bool is_silent() const { return silent_; }
  void say(std::string_view text) const {
    if (::write(file_, text.data(), text.size()) < 0) return;  // then there is no reader
  }
  bool read_line(std::string& line) const {
    for (;;) {
      if (wait_for(file_, std::nullopt) == Waited::kSignal) {
        if (Interrupts::take_stop()) return false;
        continue;
      }
      char c = 0;
      if (::read(file_, &c, 1) != 1) return false;
      if (c == '\n') return true;
      line += c;
    }
  }

 private:
  int file_;
  termios before_{};
  bool silent_ = false;
};

std::optional<std::string> ask_silently() {
  const SilentTerminal terminal;
  if (!terminal.is_silent()) return std::nullopt;
  terminal.say("Password: ");
  std::string line;
  const bool whole = terminal.read_line(line);
  terminal.say("\n");
  return whole ? std::optional(line) : std::nullopt;
}

}  // namespace

std::optional<std::string> ask_for_password() {
  // Or Ctrl-C would leave the terminal silent.
  const bool was_noting = Interrupts::noting();
  Interrupts::note();
  std::optional<std::string> answer = ask_silently();
  if (!was_noting) Interrupts::let_go();
  return answer;
}

bool wants_password(const Status& status) {
  return status.message().find("wants a password") != std::string_view::npos;
}

}  // namespace keyway::kvctl
