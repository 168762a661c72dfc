// Session: writes of one key.

#include <algorithm>
#include <limits>
#include <vector>

#include "keyway/client/remote/session_parts.h"

namespace keyway::remote {

using resp::Kind;
using store::Element;
using store::kNoExpiry;
using store::PutIf;

Status Session::put(std::string_view key, std::string_view value,
                    const store::PutOptions& options) {
  if (Status status = check_key(key); !status.ok()) return status;
  if (Status status = check_value(value.size()); !status.ok()) return status;
  const bool keeps = options.keep_expiry && options.when != PutIf::kAbsent;
  const bool expires = options.expires_at_ms != kNoExpiry && options.when != PutIf::kPresent;
  if (keeps && expires) {  // one for a key that is there, the other for a new one: no such option
    const KeyValueView pair(key, value);
    return put_watched({&pair, 1}, options);
  }
  const Digits at = time_word(options.expires_at_ms);
  words_.assign({"SET", key, value});
  if (options.when == PutIf::kAbsent) words_.push_back("NX");
  if (options.when == PutIf::kPresent) words_.push_back("XX");
  if (keeps) {
    words_.push_back("KEEPTTL");
  } else if (options.expires_at_ms != kNoExpiry) {
    words_.insert(words_.end(), {"PXAT", at});
  }
  const auto reply = exchange_.ask(key, words_, Effect::kWrites);
  if (!reply.ok()) return reply.status();
  if (reply->front().kind != Kind::kNull) return {};
  return Status(options.when == PutIf::kAbsent ? Code::kExists : Code::kNotFound);
}

/// Whether the server knows the option; if it does, `code` is what came of it.
Result<bool> Session::set_if_equal(std::string_view key, std::string_view expected,
                                   std::string_view value, Code& code) {
  constexpr std::string_view kUnknownOption = "ERR syntax error";
  // With GET the reply is the value as it was: this distinguishes a missing key from another value.
  const auto reply = ask(Effect::kWrites, "SET", key, value, std::string_view("IFEQ"), expected,
                         std::string_view("KEEPTTL"), std::string_view("GET"));
  if (!reply.ok()) {
    if (reply.status().message().ends_with(kUnknownOption)) return false;
    return reply.status();
  }
  const resp::Reply& old = reply->front();
  code = old.kind == Kind::kNull ? Code::kNotFound
         : old.text == expected  ? Code::kOk
                                 : Code::kMismatch;
  return true;
}

Status Session::compare_and_set(std::string_view key, std::string_view expected,
                                std::string_view value) {
  if (Status status = check_value(value.size()); !status.ok()) return status;
  if (knows_ifeq_) {
    Code code = Code::kOk;
    const auto known = set_if_equal(key, expected, value, code);
    if (!known.ok()) return known.status();
    if (*known) return Status(code);
    knows_ifeq_ = false;
  }
  return Operations::compare_and_set(key, expected, value);
}

Status Session::erase(std::string_view key) {
  const auto erased = ask_integer(Effect::kWrites, "DEL", key);
  if (!erased.ok()) return erased.status();
  return *erased == 1 ? Status() : Status(Code::kNotFound);
}

Result<std::int64_t> Session::increment(std::string_view key, std::int64_t delta) {
  return ask_integer(Effect::kWrites, "INCRBY", key, Digits(delta));
}

Result<std::uint64_t> Session::append(std::string_view key, std::string_view suffix) {
  const auto length = ask_integer(Effect::kWrites, "APPEND", key, suffix);
  if (!length.ok()) return length.status();
  return static_cast<std::uint64_t>(*length);
}

Result<std::uint64_t> Session::set_range(std::string_view key, std::uint64_t offset,
                                         std::string_view bytes, PutIf when) {
  if (Status status = check_key(key); !status.ok()) return status;
  if (offset > store::kMaxValueBytes) return check_value(offset);
  if (Status status = check_value(offset + bytes.size()); !status.ok()) return status;
  if (when == PutIf::kAlways && !bytes.empty()) {  // SETRANGE of no bytes fills no gap
    const auto length = ask_integer(Effect::kWrites, "SETRANGE", key, Digits(offset), bytes);
    if (!length.ok()) return length.status();
    return static_cast<std::uint64_t>(*length);
  }
  return Operations::set_range(key, offset, bytes, when);
}

Status Session::set_expiry(std::string_view key, std::uint64_t expires_at_ms) {
  if (expires_at_ms != kNoExpiry) {
    const auto set = ask_integer(Effect::kWrites, "PEXPIREAT", key, time_word(expires_at_ms));
    if (!set.ok()) return set.status();
    return *set == 1 ? Status() : Status(Code::kNotFound);
  }
  bool there = false;
  Status status = check_key(key);
  if (!status.ok()) return status;
  status = in_one_step(
      key, Effect::kWrites, 2,
      [&](wire::Connection& connection) {
        connection.add({"PERSIST", key});  // answers alike where there is no expiry, and no key
        connection.add({"EXISTS", key});
      },
      [&](wire::ReplyView replies) { there = replies[1].integer == 1; });
  if (!status.ok() || there) return status;
  return Status(Code::kNotFound);
}

Status Session::expire_after(std::string_view key, std::chrono::milliseconds span) {
  constexpr std::int64_t kLongestMs = std::numeric_limits<std::int64_t>::max() / 2;
  const Digits ms(std::min<std::int64_t>(span.count(), kLongestMs));
  const auto set = ask_integer(Effect::kWrites, "PEXPIRE", key, ms);
  if (!set.ok()) return set.status();
  return *set == 1 ? Status() : Status(Code::kNotFound);
}

Status Session::mutate_key(std::string_view key, store::ValueRange range,
                           store::PartMutator mutate) {
  using Action = store::Decision::Action;
  if (Status status = check_key(key); !status.ok()) return status;
  return watched({&key, 1}, [&](std::span<std::optional<Element>> elements) -> Outcome {
    auto& element = elements[0];
    store::ElementPart old;
    if (element) {
      const std::string_view value = element->value;
      const store::ValueRange cut = range.cut(value.size());
      old = {value.substr(cut.offset, cut.length), value.size(), element->expires_at_ms};
    }
    const store::Decision decision = mutate(element ? &old : nullptr);
    if (decision.action == Action::kErase) element.reset();
    if (decision.action == Action::kWrite) {
      element = Element{std::string(decision.value), decision.expires_at_ms};
    }
    if (decision.action == Action::kOverwrite) {
      const std::uint64_t before = element ? element->value.size() : 0;
      if (!store::check_overwrite(before, decision).ok()) return {false, Code::kInvalidArgument};
      if (!element) element.emplace();
      store::overwrite(element->value, decision);
      element->expires_at_ms = decision.expires_at_ms;
    }
    return {decision.action != Action::kNothing, decision.code};
  });
}

}  // namespace keyway::remote
