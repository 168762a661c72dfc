// Runner: commands as words, sent one after the other, their replies printed.
//
// *Thread safety.* One thread's.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "format/format.h"
#include "link.h"
#include "options.h"

namespace keyway::kvctl {

enum class Outcome : std::uint8_t { kAnswered, kError, kLost };

class Runner {
 public:
  Runner(Link& link, Style style, bool stop_at_error)
      : link_(link), style_(style), stop_at_error_(stop_at_error) {}

  /// Sends a command and prints what comes back: on stdout, but what fails, and with
  /// `stop_at_error` what is an error, on stderr.
  Outcome run(std::span<const std::string> words);

  Link& link() { return link_; }
  Style style() const { return style_; }
  bool stops_at_error() const { return stop_at_error_; }
  std::uint32_t database() const { return link_.options().database; }
  bool in_transaction() const { return in_transaction_; }
  /// A connection has been lost, or another one is there.
  void forget_transaction() { in_transaction_ = false; }

 private:
  void enter_as(const std::string& user, const std::string& password);
  /// Updates the connection's state from a reply.
  void follow(std::span<const std::string> words, const resp::Reply& reply);

  Link& link_;
  Style style_;
  bool stop_at_error_;
  bool in_transaction_ = false;
  std::string text_;
};

/// An outcome as the exit code of a program.
int exit_code_of(Outcome outcome, bool stop_at_error);

/// A sentence on stderr.
void complain(std::string_view sentence);

}  // namespace keyway::kvctl
