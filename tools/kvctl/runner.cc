#include "runner.h"

#include <fmt/core.h>

#include <charconv>
#include <cstdio>

#include "keyway/locks/base/words.h"

namespace keyway::kvctl {

void complain(std::string_view sentence) {
  std::fflush(stdout);
  fmt::print(stderr, "kvctl: {}\n", sentence);
}

Outcome Runner::run(std::span<const std::string> words) {
  const auto again = link_.ensure();
  if (!again.ok()) {
    complain(again.status().message());
    return Outcome::kLost;
  }
  if (*again && in_transaction_) {
    in_transaction_ = false;
    complain("the connection was lost, and the transaction with it: connected again");
    return Outcome::kLost;
  }
  const auto reply = link_.ask(words);
  if (!reply.ok()) {
    in_transaction_ = false;
    complain(reply.status().message());
    return Outcome::kLost;
  }
  const resp::Reply& root = reply->front();
  const bool error = root.kind == resp::Kind::kError;
  follow(words, root);
  if (error && stop_at_error_) {
    std::fflush(stdout);
    fmt::print(stderr, "{}\n", root.text);
    return Outcome::kError;
  }
  text_.clear();
  if (is_answered_in_lines(words) && !(error && style_ == Style::kJson)) {
    append_text(*reply, text_);
  } else {
    append_reply(*reply, style_, text_);
  }
  std::fwrite(text_.data(), 1, text_.size(), stdout);
  std::fflush(stdout);
  return error ? Outcome::kError : Outcome::kAnswered;
}

/// So that a new connection may enter as well.
void Runner::enter_as(const std::string& user, const std::string& password) {
  link_.options().user = user;
  link_.options().password = password;
}

void Runner::follow(std::span<const std::string> words, const resp::Reply& reply) {
  const bool error = reply.kind == resp::Kind::kError;
  const std::string& name = words[0];
  if (same_word(name, "multi")) {
    in_transaction_ = in_transaction_ || !error;
  } else if (same_word(name, "exec") || same_word(name, "discard")) {
    in_transaction_ = false;
  } else if (error) {
    return;
  } else if (same_word(name, "select") && words.size() == 2) {
    const std::string& number = words[1];
    std::uint32_t database = 0;
    std::from_chars(number.data(), number.data() + number.size(), database);
    if (!in_transaction_) link_.options().database = database;
  } else if (same_word(name, "auth") && words.size() <= 3 && words.size() > 1) {
    enter_as(words.size() == 3 ? words[1] : std::string(), words.back());
  } else if (same_word(name, "hello") && words.size() > 1) {
    link_.options().version = words[1] == "3" ? resp::Version::kResp3 : resp::Version::kResp2;
    for (std::size_t i = 2; i + 2 < words.size(); ++i) {
      if (same_word(words[i], "auth")) enter_as(words[i + 1], words[i + 2]);
    }
  } else if (same_word(name, "reset")) {
    in_transaction_ = false;
    link_.options().database = 0;
    link_.options().version = resp::Version::kResp2;
  }
}

int exit_code_of(Outcome outcome, bool stop_at_error) {
  switch (outcome) {
    case Outcome::kAnswered: return kExitOk;
    case Outcome::kError: return stop_at_error ? kExitError : kExitOk;
    case Outcome::kLost: return kExitUnavailable;
  }
  return kExitOk;
}

}  // namespace keyway::kvctl
