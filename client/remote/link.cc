#include "keyway/client/remote/link.h"

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>

#include "keyway/locks/base/clock.h"

namespace keyway::remote {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::uint64_t kFirstPauseNs = 10 * kNsPerMs;
constexpr std::uint64_t kLongestPauseNs = 1000 * kNsPerMs;
constexpr std::uint64_t kIdleNs = 1000 * kNsPerMs;  // after which a connection is looked at first

/// A failure that may be temporary.
bool may_pass(const Status& status) {
  return status == Code::kUnavailable || status == Code::kTimeout;
}

}  // namespace

bool BackOff::wait(std::uint64_t by_ns) {
  const std::uint64_t span_ns = next_ns_ / 2 + random_.below(next_ns_ / 2 + 1);
  if (steady_ns() + span_ns >= by_ns) return false;
  asio::io_context context;
  asio::steady_timer(context, std::chrono::nanoseconds(span_ns)).wait();
  next_ns_ = std::min(next_ns_ * 2, longest_ns_);
  return true;
}

bool Link::is_usable() {
  if (!connection_ || connection_->broken()) return false;
  const std::uint64_t now = steady_ns();
  const bool idle = now - used_ns_ > kIdleNs;
  used_ns_ = now;
  return !idle || !connection_->has_news();  // K2: nothing was asked, so news is the end
}

Result<wire::Connection*> Link::ready() {
  if (is_usable()) return &*connection_;
  connection_.reset();
  return connect();
}

Result<wire::Connection*> Link::connect() {
  const std::uint64_t begun_ns = steady_ns();
  const auto budget_ns = static_cast<std::uint64_t>(options_.request_timeout.count()) * kNsPerMs;
  BackOff back_off(kFirstPauseNs, kLongestPauseNs, begun_ns);
  for (;;) {
    auto opened = wire::Connection::open(options_);
    if (opened.ok()) {
      connection_.emplace(std::move(*opened));
      patient_ = true;
      used_ns_ = steady_ns();
      return &*connection_;
    }
    const bool again = patient_ && may_pass(opened.status());
    if (again && back_off.wait(begun_ns + budget_ns)) continue;  // K1
    patient_ = false;
    return opened.status();
  }
}

}  // namespace keyway::remote
