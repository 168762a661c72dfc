// Session: several keys in one call.

#include <algorithm>
#include <vector>

#include "keyway/client/remote/session_parts.h"
#include "keyway/locks/base/check.h"

namespace keyway::remote {
namespace {

using resp::Kind;
using store::Element;
using store::kNoExpiry;
using store::PutIf;

// Requests in flight at a time in a batch of gets.
constexpr std::size_t kWindow = 256;

Status check_pairs(std::span<const std::pair<std::string_view, std::string_view>> pairs) {
  for (const auto& [key, value] : pairs) {
    if (Status status = check_key(key); !status.ok()) return status;
    if (Status status = check_value(value.size()); !status.ok()) return status;
  }
  return {};
}

Status check_keys(std::span<const std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (Status status = check_key(key); !status.ok()) return status;
  }
  return {};
}

}  // namespace

void Session::get_many(std::span<const std::string_view> keys, std::span<std::string> out,
                       std::span<Code> codes) {
  KW_CHECK(out.size() >= keys.size() && codes.size() >= keys.size());
  for (std::size_t at = 0; at < keys.size(); at += kWindow) {
    const std::size_t n = std::min(kWindow, keys.size() - at);
    get_window(keys.subspan(at, n), out.subspan(at, n), codes.subspan(at, n));
  }
}

/// Sends the requests to the servers of their keys, all before the first reply is awaited.
void Session::get_window(std::span<const std::string_view> keys, std::span<std::string> out,
                         std::span<Code> codes) {
  std::vector<wire::Connection*> asked(keys.size(), nullptr);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    codes[i] = check_key(keys[i]).code();
    if (codes[i] != Code::kOk) continue;
    const auto connection = exchange_.connection_for(keys[i]);
    codes[i] = connection.code();
    if (!connection.ok()) continue;
    asked[i] = *connection;
    asked[i]->add({"GET", keys[i]});
  }
  for (wire::Connection* connection : asked) {
    // A failure shows itself as the replies are awaited.
    if (connection != nullptr && connection->unsent() != 0) (void)connection->send().ok();
  }
  bool complete = true;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (asked[i] == nullptr) continue;
    const auto reply = asked[i]->receive();
    const Kind kind = reply.ok() ? reply->front().kind : Kind::kError;
    if (kind == Kind::kNull) {
      codes[i] = Code::kNotFound;
    } else if (kind == Kind::kBulk) {
      out[i].assign(reply->front().text);
    } else {
      codes[i] = Code::kBusy;  // asked for again
      complete = false;
    }
  }
  if (!complete) get_again(keys, out, codes);
}

/// One by one, what a batch did not get: a slot has moved, or a connection broke.
void Session::get_again(std::span<const std::string_view> keys, std::span<std::string> out,
                        std::span<Code> codes) {
  Code gone = Code::kOk;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (codes[i] != Code::kBusy) continue;
    codes[i] = gone != Code::kOk ? gone : get(keys[i], out[i]).code();
    if (codes[i] == Code::kUnavailable || codes[i] == Code::kTimeout) gone = codes[i];
  }
}

Status Session::read_all(std::span<const std::string_view> keys, store::ElementsReader reader) {
  if (Status status = check_keys(keys); !status.ok() || keys.empty()) return status;
  return in_one_step(
      keys.front(), Effect::kReads, 2 * keys.size(),
      [&](wire::Connection& connection) {
        for (const std::string_view key : keys) {
          connection.add({"GET", key});
          connection.add({"PEXPIRETIME", key});
        }
      },
      [&](wire::ReplyView replies) {
        for (std::size_t i = 0; i < keys.size(); ++i) {
          const resp::Reply& value = replies[2 * i];
          const store::ElementState element{value.text, expiry_of(replies[2 * i + 1].integer)};
          reader(i, is_text(value) ? &element : nullptr);
        }
      });
}

Status Session::get_all(std::span<const std::string_view> keys,
                        std::vector<std::optional<std::string>>& out) {
  out.clear();
  if (Status status = check_keys(keys); !status.ok() || keys.empty()) return status;
  words_.assign({"MGET"});
  words_.insert(words_.end(), keys.begin(), keys.end());
  const auto reply = exchange_.ask(keys.front(), words_, Effect::kReads);
  if (!reply.ok()) return reply.status();
  const auto elements = static_cast<std::int64_t>(keys.size());
  if (reply->front().kind != Kind::kArray || reply->front().integer != elements) {
    return exchange_.unexpected("MGET");
  }
  for (const resp::Reply& value : reply->subspan(1)) {
    out.push_back(is_text(value) ? std::optional(std::string(value.text)) : std::nullopt);
  }
  return {};
}

Status Session::put_all(std::span<const KeyValueView> pairs, const store::PutOptions& options) {
  if (Status status = check_pairs(pairs); !status.ok() || pairs.empty()) return status;
  const bool expires = options.expires_at_ms != kNoExpiry;
  const bool always = options.when == PutIf::kAlways;
  const bool one_request =
      !expires && (options.when == PutIf::kAbsent || (always && !options.keep_expiry));
  if (!one_request) {
    const bool blind = always && !(options.keep_expiry && expires);
    return blind ? put_in_one_step(pairs, options) : put_watched(pairs, options);
  }
  words_.assign({always ? "MSET" : "MSETNX"});
  for (const auto& [key, value] : pairs) words_.insert(words_.end(), {key, value});
  const auto reply = exchange_.ask(pairs.front().first, words_, Effect::kWrites);
  if (!reply.ok()) return reply.status();
  return always || reply->front().integer == 1 ? Status() : Status(Code::kExists);
}

Status Session::put_in_one_step(std::span<const KeyValueView> pairs,
                                const store::PutOptions& options) {
  return in_one_step(
      pairs.front().first, Effect::kWrites, pairs.size(),
      [&](wire::Connection& connection) {
        for (const auto& [key, value] : pairs) {
          if (options.keep_expiry) {
            connection.add({"SET", key, value, "KEEPTTL"});
          } else {
            connection.add({"SET", key, value, "PXAT", time_word(options.expires_at_ms)});
          }
        }
      },
      [](wire::ReplyView) {});
}

/// Writes that depend on which keys exist, or on their expiries.
Status Session::put_watched(std::span<const KeyValueView> pairs, const store::PutOptions& options) {
  std::vector<std::string_view> keys;
  for (const auto& pair : pairs) keys.push_back(pair.first);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return watched(keys, [&](std::span<std::optional<Element>> elements) -> Outcome {
    const auto has = [](const auto& element) { return element.has_value(); };
    if (options.when == PutIf::kAbsent && std::any_of(elements.begin(), elements.end(), has)) {
      return {false, Code::kExists};
    }
    if (options.when == PutIf::kPresent && !std::all_of(elements.begin(), elements.end(), has)) {
      return {false, Code::kNotFound};
    }
    for (const auto& [key, value] : pairs) {
      const auto at = std::lower_bound(keys.begin(), keys.end(), key) - keys.begin();
      auto& element = elements[static_cast<std::size_t>(at)];
      const bool keeps = options.keep_expiry && element;
      element = Element{std::string(value), keeps ? element->expires_at_ms : options.expires_at_ms};
    }
    return {true};
  });
}

Result<std::uint64_t> Session::erase_all(std::span<const std::string_view> keys) {
  if (Status status = check_keys(keys); !status.ok()) return status;
  if (keys.empty()) return std::uint64_t{0};
  words_.assign({"DEL"});
  words_.insert(words_.end(), keys.begin(), keys.end());
  const auto reply = exchange_.ask(keys.front(), words_, Effect::kWrites);
  if (!reply.ok()) return reply.status();
  if (reply->front().kind != Kind::kInteger) return exchange_.unexpected("DEL");
  return static_cast<std::uint64_t>(reply->front().integer);
}

}  // namespace keyway::remote
