// Periodic: calls a function periodically on an event loop.
//
// *Thread safety.* Belongs to the thread that runs the events.
#pragma once

#include <asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <system_error>
#include <utility>

namespace keyway::server {

class Periodic {
 public:
  /// Says after how long it is to be called again.
  using Look = std::function<std::chrono::milliseconds()>;

  Periodic(asio::io_context& events, Look look) : timer_(events), look_(std::move(look)) {}

  /// Calls it as soon as the events run, and then until stop(), which the function may call.
  void start() { look_after(std::chrono::milliseconds(0)); }
  void stop() {
    stopped_ = true;
    timer_.cancel();
  }

 private:
  void look_after(std::chrono::milliseconds pause) {
    if (stopped_) return;
    timer_.expires_after(pause);
    timer_.async_wait([this](std::error_code cancelled) {
      if (!cancelled && !stopped_) look_after(look_());
    });
  }

  asio::steady_timer timer_;
  Look look_;
  bool stopped_ = false;
};

}  // namespace keyway::server
