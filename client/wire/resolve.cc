#include "keyway/client/wire/resolve.h"

#include <fmt/core.h>

#include <asio/io_context.hpp>
#include <chrono>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include "keyway/locks/base/clock.h"

namespace keyway::wire {
namespace {

using Endpoints = std::vector<asio::ip::tcp::endpoint>;
using Found = std::pair<std::error_code, Endpoints>;

Found look_up(const std::string& host, std::uint16_t port) {
  asio::io_context context;
  asio::ip::tcp::resolver resolver(context);
  Found found;
  for (const auto& entry : resolver.resolve(host, std::to_string(port), found.first)) {
    found.second.push_back(entry.endpoint());
  }
  return found;
}

}  // namespace

Result<Endpoints> resolve(const std::string& host, std::uint16_t port, std::uint64_t by_ns) {
  std::error_code no_address;
  const auto address = asio::ip::make_address(host, no_address);
  if (!no_address) return Endpoints{{address, port}};
  // The C library's resolver knows no deadline: it gets a thread, which is left behind when it
  // takes too long, with all that it uses.
  std::promise<Found> promise;
  std::future<Found> future = promise.get_future();
  std::thread([promise = std::move(promise), host, port]() mutable {
    promise.set_value(look_up(host, port));
  }).detach();
  const std::uint64_t now = steady_ns();
  const std::chrono::nanoseconds left(by_ns > now ? by_ns - now : 0);
  if (future.wait_for(left) != std::future_status::ready) {
    return Status(Code::kTimeout, fmt::format("'{}' was not resolved in time", host));
  }
  Found found = future.get();
  if (!found.second.empty()) return std::move(found.second);
  return Status(Code::kUnavailable,
                fmt::format("cannot resolve '{}' ({})", host, found.first.message()));
}

}  // namespace keyway::wire
