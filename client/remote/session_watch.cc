// Session: atomic steps of several requests: MULTI, and WATCH where the caller decides between the
// requests.

#include <algorithm>
#include <utility>
#include <vector>

#include "keyway/client/remote/session_parts.h"
#include "keyway/locks/base/clock.h"

namespace keyway::remote {
namespace {

using resp::Kind;
using store::Element;

constexpr std::uint64_t kNsPerUs = 1000;
constexpr std::uint64_t kFirstPauseNs = 20 * kNsPerUs;
constexpr std::uint64_t kLongestPauseNs = 10'000 * kNsPerUs;

/// The first reply among them that is an error, as a status.
Status error_in(wire::ReplyView replies, std::string_view server) {
  const auto error = std::find_if(replies.begin(), replies.end(),
                                  [](const auto& reply) { return reply.kind == Kind::kError; });
  return error == replies.end() ? Status() : status_of_error(error->text, server);
}

}  // namespace

/// The added requests run between MULTI and EXEC; their replies are shown unless one is an error.
Status Session::in_one_step(std::string_view key, Effect effect, std::size_t requests,
                            Exchange::Adder add, FunctionRef<void(wire::ReplyView)> take) {
  bool understood = false;
  Status inner;
  const auto asked = exchange_.converse(
      key, effect,
      [&](wire::Connection& connection) {
        connection.add({"MULTI"});
        add(connection);
        connection.add({"EXEC"});
      },
      [&](std::size_t index, wire::ReplyView reply) {
        if (index != requests + 1 || reply[0].kind == Kind::kError) return;
        understood = reply[0].kind == Kind::kArray &&
                     reply[0].integer == static_cast<std::int64_t>(requests);
        if (!understood) return;
        inner = error_in(reply.subspan(1), "the server");
        if (inner.ok()) take(reply.subspan(1));
      });
  if (!asked.ok()) return asked.status();
  return understood ? inner : exchange_.unexpected("EXEC");
}

/// From here to the next EXEC the server detects changes of the keys.
Result<wire::Connection*> Session::watch(std::span<const std::string_view> keys,
                                         Elements& elements) {
  Status status;
  const auto asked = exchange_.converse(
      keys.front(), Effect::kReads,
      [&](wire::Connection& connection) {
        words_.assign({"WATCH"});
        words_.insert(words_.end(), keys.begin(), keys.end());
        connection.add(words_);
        for (const std::string_view key : keys) {
          connection.add({"GET", key});
          connection.add({"PEXPIRETIME", key});
        }
      },
      [&](std::size_t index, wire::ReplyView reply) {
        const resp::Reply& root = reply.front();
        if (index == 0) {
          elements.assign(keys.size(), std::nullopt);
        } else if (index % 2 == 1) {
          if (is_text(root)) elements[index / 2] = Element{std::string(root.text)};
        } else if (auto& element = elements[index / 2 - 1]; element) {
          constexpr std::int64_t kNoKey = -2;  // it has expired since
          if (root.integer == kNoKey) {
            element.reset();
          } else {
            element->expires_at_ms = expiry_of(root.integer);
          }
        }
      });
  return asked;
}

/// Whether all keys are unchanged by others; then, if `writes`, the elements are written.
Result<bool> Session::commit(wire::Connection& connection, std::span<const std::string_view> keys,
                             const Elements& elements, const Outcome& outcome) {
  connection.add({"MULTI"});
  for (std::size_t i = 0; i < keys.size() && outcome.writes; ++i) {
    if (!outcome.leaves.empty() && outcome.leaves[i]) continue;
    if (!elements[i]) {
      connection.add({"DEL", keys[i]});
    } else if (elements[i]->expires_at_ms == store::kNoExpiry) {
      connection.add({"SET", keys[i], elements[i]->value});
    } else {
      connection.add(
          {"SET", keys[i], elements[i]->value, "PXAT", time_word(elements[i]->expires_at_ms)});
    }
  }
  connection.add({"EXEC"});
  const std::size_t requests = connection.unsent();
  Status status = connection.send();
  Status refused;
  bool done = false;
  for (std::size_t i = 0; i < requests && status.ok(); ++i) {
    const auto reply = connection.receive();
    if (!reply.ok()) {
      status = reply.status();
      continue;
    }
    if (refused.ok()) refused = error_in(*reply, connection.server());
    done = reply->front().kind == Kind::kArray;
  }
  if (!status.ok()) {
    // If nothing is written, a lost EXEC does not matter.
    return in_doubt(status, outcome.writes ? Effect::kWrites : Effect::kReads,
                    connection.in_doubt(), connection.unsent());
  }
  if (!refused.ok()) return refused;
  return done;
}

/// S2: until EXEC finds the keys as the step was shown them, nothing has changed.
Status Session::watched(std::span<const std::string_view> keys, Step step) {
  BackOff back_off(kFirstPauseNs, kLongestPauseNs, steady_ns());
  const std::uint64_t by_ns =
      Deadline::within(exchange_.timeout()).started(steady_ns()).absolute_ns();
  Elements elements;
  do {
    const auto connection = watch(keys, elements);
    if (!connection.ok()) return connection.status();
    const Outcome outcome = step(elements);
    if (outcome.writes) {
      for (const auto& element : elements) {
        if (!element) continue;
        if (Status status = check_value(element->value.size()); !status.ok()) {
          static_cast<void>((*connection)->ask({"UNWATCH"}));  // else the next EXEC may fail
          return status;
        }
      }
    }
    const auto committed = commit(**connection, keys, elements, outcome);
    if (!committed.ok()) return committed.status();
    if (*committed) return Status(outcome.code);
  } while (back_off.wait(by_ns));
  return {Code::kTimeout,
          fmt::format("others changed the keys again and again for {} ms; nothing was written",
                      exchange_.timeout().count())};
}

Status Session::modify_all(std::span<const std::string_view> keys, store::ElementsBody body,
                           const store::ModifyAllOptions& options) {
  if (!options.unchanged_since.empty()) return unsupported_over_socket("the version of a key");
  for (const std::string_view key : keys) {
    if (Status status = check_key(key); !status.ok()) return status;
  }
  if (Status status = store::check_named_once(keys); !status.ok()) return status;
  if (keys.empty()) return Status(body({}) ? Code::kOk : Code::kMismatch);
  return watched(keys, [&](std::span<std::optional<Element>> elements) -> Outcome {
    std::vector<store::ElementDraft> drafts(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (elements[i]) drafts[i] = store::ElementDraft(*elements[i]);
    }
    if (!body(drafts)) return {false, Code::kMismatch};
    Outcome outcome{true, Code::kOk};
    for (std::size_t i = 0; i < drafts.size(); ++i) {
      outcome.leaves.push_back(!drafts[i].changed());
      if (!drafts[i].changed()) continue;
      elements[i].reset();
      if (drafts[i].there()) elements[i] = *drafts[i];
    }
    return outcome;
  });
}

}  // namespace keyway::remote
