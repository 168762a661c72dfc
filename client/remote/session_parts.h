// Declarations that the parts of Session share. Internal to client/remote.
#pragma once

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string_view>

#include "keyway/client/remote/session.h"
#include "keyway/kvstore/layout/element.h"
#include "keyway/kvstore/types/decisions.h"

namespace keyway::remote {

/// A number as a word of a request; lives as long as it.
class Digits {
 public:
  template <class T>
  explicit Digits(T number) {
    const char* const end = std::to_chars(text_.data(), text_.data() + text_.size(), number).ptr;
    size_ = static_cast<std::size_t>(end - text_.data());
  }
  operator std::string_view() const { return {text_.data(), size_}; }

 private:
  std::array<char, 24> text_;
  std::size_t size_;
};

using store::check_key;
using store::check_value;

inline Status unsupported_over_socket(std::string_view what) {
  return {Code::kUnsupported,
          fmt::format(
              "{} needs access to the store's memory (local:, mpi:); clients over a socket do not "
              "have it",
              what)};
}

inline bool is_text(const resp::Reply& reply) {
  return reply.kind == resp::Kind::kBulk || reply.kind == resp::Kind::kSimple ||
         reply.kind == resp::Kind::kVerbatim;
}

/// Times beyond what Redis reads are as good as the last that it does.
inline Digits time_word(std::uint64_t unix_ms) {
  constexpr std::uint64_t kLast = std::numeric_limits<std::int64_t>::max();
  return Digits(unix_ms < kLast ? unix_ms : kLast);
}

/// The meaning of PEXPIRETIME's reply: an expiry, none, or no key (-2).
inline std::uint64_t expiry_of(std::int64_t reply) {
  return reply > 0 ? static_cast<std::uint64_t>(reply) : store::kNoExpiry;
}

/// The reply to EXEC, as it is shown to a caller: an array, unless a watched key has changed.
inline bool is_array(const resp::Reply& reply, std::int64_t elements) {
  return reply.kind == resp::Kind::kArray && reply.integer == elements;
}

template <class... More>
Result<wire::ReplyView> Session::ask(Effect effect, std::string_view command, std::string_view key,
                                     More... more) {
  if (Status status = check_key(key); !status.ok()) return status;
  const std::array<std::string_view, 2 + sizeof...(more)> words{command, key, more...};
  return exchange_.ask(key, words, effect);
}

template <class... More>
Result<std::int64_t> Session::ask_integer(Effect effect, std::string_view command,
                                          std::string_view key, More... more) {
  const auto reply = ask(effect, command, key, more...);
  if (!reply.ok()) return reply.status();
  if (reply->front().kind != resp::Kind::kInteger) return exchange_.unexpected(command);
  return reply->front().integer;
}

}  // namespace keyway::remote
