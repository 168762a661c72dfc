#include "keyway/client/remote/exchange.h"

#include <fmt/core.h>

#include <string>
#include <utility>

#include "keyway/client/wire/uri.h"
#include "keyway/locks/base/clock.h"

namespace keyway::remote {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::uint64_t kFirstPauseNs = 1 * kNsPerMs;
constexpr std::uint64_t kLongestPauseNs = 100 * kNsPerMs;
constexpr std::uint64_t kRefreshPauseNs = 1000 * kNsPerMs;

bool is_error(wire::ReplyView reply) { return reply.front().kind == resp::Kind::kError; }

/// Once a slot's keys have all been moved, or the server is up to date, it will do.
bool asks_for_patience(std::string_view error) {
  return error.starts_with("TRYAGAIN") || error.starts_with("CLUSTERDOWN") ||
         error.starts_with("LOADING");
}

}  // namespace

Exchange::Exchange(const Servers& servers) : servers_(servers), slots_(servers.slots) {}

Link& Exchange::link(std::uint32_t index) {
  if (links_.size() <= index) links_.resize(index + 1);
  auto& link = links_[index];
  if (!link) link = std::make_unique<Link>(servers_.options_of(slots_.server(index)));
  return *link;
}

Result<wire::ReplyView> Exchange::ask(std::string_view key, Words words, Effect effect) {
  return ask_with_redirects({.server = slots_.owner_of(key)}, words, effect);
}

Result<wire::ReplyView> Exchange::ask_server(std::uint32_t index, Words words, Effect effect) {
  return ask_with_redirects({.server = index}, words, effect);
}

Result<wire::ReplyView> Exchange::ask_with_redirects(Course course, Words words, Effect effect) {
  for (;;) {
    const auto ready = link(course.server).ready();
    if (!ready.ok()) return not_sent(ready.status());
    wire::Connection& connection = **ready;
    Status status;
    if (course.asking) {
      const auto reply = connection.ask({"ASKING"});
      if (!reply.ok()) status = reply.status();
    }
    if (status.ok()) {
      const auto reply = connection.ask(words);
      if (reply.ok() && !is_error(*reply)) return reply;
      if (reply.ok()) {
        const std::string error(reply->front().text);
        if (follow(course, error)) continue;
        return status_of_error(error, connection.server());
      }
      status = reply.status();
    }
    if (may_repeat(course, effect)) continue;
    return in_doubt(status, effect, connection.in_doubt(), connection.unsent());
  }
}

Result<wire::Connection*> Exchange::converse(std::string_view key, Effect effect, Adder add,
                                             Taker take) {
  Course course{.server = slots_.owner_of(key)};
  for (;;) {
    const auto ready = link(course.server).ready();
    if (!ready.ok()) return not_sent(ready.status());
    wire::Connection& connection = **ready;
    add(connection);
    const std::size_t requests = connection.unsent();
    Status status = connection.send();
    std::string error;
    for (std::size_t i = 0; i < requests && status.ok(); ++i) {
      const auto reply = connection.receive();
      if (!reply.ok()) {
        status = reply.status();
      } else {
        if (is_error(*reply) && error.empty()) error = reply->front().text;
        take(i, *reply);
      }
    }
    if (!status.ok()) {
      if (may_repeat(course, effect)) continue;
      return in_doubt(status, effect, connection.in_doubt(), connection.unsent());
    }
    if (error.empty()) return &connection;
    if (follow(course, error) && !course.asking) continue;  // ASK is for one request
    return status_of_error(error, connection.server());
  }
}

Status Exchange::unexpected(std::string_view command) const {
  return {Code::kCorruption,
          fmt::format("{} answered {} with a reply of another kind: is it a Redis server?",
                      wire::text_of(servers_.options), command)};
}

bool Exchange::may_repeat(Course& course, Effect effect) const {
  return effect == Effect::kReads && !std::exchange(course.repeated, true);
}

/// Whether the error says where else, or when, the same request will do. It has done nothing (X1).
bool Exchange::follow(Course& course, std::string_view error) {
  course.asking = false;
  if (++course.turns > kMaxTurns) return false;
  if (asks_for_patience(error)) {
    const std::uint64_t now = steady_ns();
    if (!course.patience) {
      course.patience.emplace(kFirstPauseNs, kLongestPauseNs, now);
      course.until_ns = now + static_cast<std::uint64_t>(timeout().count()) * kNsPerMs;
    }
    course.turns = 0;  // time is the limit
    return course.patience->wait(course.until_ns);
  }
  const Server asked = slots_.server(course.server);
  const auto redirection = redirection_of(error, asked);
  if (!redirection) return false;
  const auto index = slots_.index_of(redirection->server);
  if (!index) return false;
  course.server = *index;
  course.asking = !redirection->for_good;
  if (redirection->for_good) {
    slots_.move(redirection->slot, *index);
    refresh(*index);
  }
  return true;
}

/// One slot has moved, so others may have: asks a server that knows, now and then.
void Exchange::refresh(std::uint32_t index) {
  const std::uint64_t now = steady_ns();
  if (refreshed_ns_ != 0 && now - refreshed_ns_ < kRefreshPauseNs) return;
  refreshed_ns_ = now;
  const auto ready = link(index).ready();
  if (!ready.ok()) return;
  const Server asked = slots_.server(index);
  const auto reply = (*ready)->ask({"CLUSTER", "SLOTS"});
  const auto fresh = reply.ok() ? SlotMap::parse(*reply, asked) : std::nullopt;
  if (!fresh || fresh->has_one()) return;
  for (std::uint32_t slot = 0; slot < store::kSlots; ++slot) {
    const auto owner = slots_.index_of(fresh->server(fresh->owner_of_slot(slot)));
    if (owner) slots_.move(slot, *owner);
  }
}

}  // namespace keyway::remote
