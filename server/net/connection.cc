#include "keyway/server/net/connection.h"

#include <algorithm>
#include <asio/post.hpp>
#include <system_error>
#include <utility>

#include "keyway/locks/base/clock.h"
#include "keyway/server/net/address.h"
#include "keyway/server/net/tls.h"
#include "keyway/server/net/worker.h"

namespace keyway::server {

using Phase = ConnectionState::Phase;

Connection::Connection(Worker& worker, Socket socket, std::uint64_t id, const Entrance& entrance)
    : worker_(worker),
      socket_(std::move(socket)),
      tls_(entrance.tls != nullptr ? std::make_unique<TlsLayer>(socket_, *entrance.tls) : nullptr),
      born_s_(worker.now_s()),
      stranger_s_(born_s_) {
  client_.id = id;
  std::error_code gone;  // before it was taken: then there is nothing to read either
  client_.address = text_of(socket_.remote_endpoint(gone));
  client_.descriptor = socket_.native_handle();
  client_.tls = tls_ != nullptr;
  client_.by_cluster_port = client_.of_cluster = entrance.of_cluster;
  client_.since_ms = wall_ms();
  client_.local_address = text_of(socket_.local_endpoint(gone));
  client_.statistics = &worker.statistics();
  client_.authenticated = !worker.service().password.is_asked_for();
  socket_.non_blocking(true, gone);
  client_.locks.waker = &worker;
  worker_.joined(*this);
}

Connection::~Connection() {
  worker_.service().clients.remove(client_.id);
  worker_.output().report(reported_, 0);
  if (client_.paused_until_ns != 0) end_pause(client_, worker_.service());
  if (state_.phase() == Phase::kParked) client_.statistics->connections_parked.subtract(1);
  worker_.left(*this);
}

/// To CLIENT LIST and CLIENT KILL.
void Connection::register_client() {
  auto info = std::make_shared<ClientInfo>();
  info->id = client_.id;
  info->address = client_.address;
  info->local_address = client_.local_address;
  info->descriptor = client_.descriptor;
  info->since_ms = client_.since_ms;
  info->waker = &worker_;
  info->seen_ns = steady_ns();
  info->close = [&events = worker_.events(), self = weak_from_this()] {
    asio::post(events, [self] {
      if (const auto here = self.lock()) here->close();
    });
  };
  client_.info = info;
  worker_.service().clients.add(std::move(info));
}

void Connection::start() {
  register_client();
  if (!tls_) return go_on();
  state_.shake_hands();
  tls_->stream.async_handshake(asio::ssl::stream_base::server,
                               [self = shared_from_this()](std::error_code error) {
                                 if (error) return self->close();
                                 self->take(self->state_.shook_hands());
                               });
}

void Connection::drain() { take(state_.drain()); }

void Connection::look_at_time() {
  const Settings& limits = worker_.service().settings;
  // By a clock of whole seconds: more than the limit, so that it is never less.
  const auto is_over = [&](std::uint32_t since_s, std::uint32_t limit_s) {
    return limit_s != 0 && worker_.now_s() - since_s > limit_s;
  };
  bool late = state_.writing() && is_over(taken_s_, limits.output_s);
  late |= is_over(stranger_s_, limits.login_s) && is_stranger();
  // A request that executes or waits has a separate time limit.
  if (state_.phase() == Phase::kShakingHands) late |= is_over(born_s_, limits.login_s);
  if (state_.phase() == Phase::kReading) {
    late |= is_over(std::max(since_s_, taken_s_), limits.idle_s);
  }
  if (late) close();
}

void Connection::take(Step step) {
  switch (step) {
    case Step::kNone: return;
    case Step::kRead: return read();
    case Step::kReadAhead: return read_ahead();
    case Step::kReadRest: return read_the_rest();
    case Step::kCancelRead: return cancel_read();
    case Step::kExecute: return schedule();
    case Step::kExecuteMore: return schedule_more();
    case Step::kSend:
      if (!send()) return;
      return go_on();
    case Step::kGoOn: return go_on();
    case Step::kPark: return park();
    case Step::kLeave: return schedule();
    case Step::kClose: return close();
  }
}

/// Has a fiber execute what has come, or release what the client of a closed connection held.
void Connection::schedule() {
  if (state_.phase() == Phase::kParked) {
    client_.statistics->connections_parked.subtract(1);
    if (alarm_) alarm_->cancel();  // a read in progress may end meanwhile (C1)
  }
  if (state_.is_open()) state_.schedule();
  if (!is_stranger()) stranger_s_ = worker_.now_s();  // it may become one again: RESET
  client_.came_ns = client_.statistics->look_at_clock();
  client_.info->seen_ns.store(client_.came_ns, std::memory_order_relaxed);  // a figure by itself
  worker_.schedule(shared_from_this());
}

void Connection::on_fiber_done() { take(state_.fiber_done(holds_something(client_))); }

/// After a step, with replies that are sent or wait.
void Connection::go_on() {
  const Step step = state_.next({.closing = client_.closing,
                                 .waits = client_.locks.wait || client_.paused_until_ns != 0,
                                 .room = may_make_more()});
  if (state_.phase() == Phase::kParked) client_.statistics->connections_parked.add(1);
  if (state_.phase() == Phase::kReading) since_s_ = worker_.now_s();
  take(step);
}

void Connection::close() {
  if (socket_.is_open()) {
    std::error_code ignored;  // the other side may have gone first
    // Sends TLS' goodbye if the kernel accepts it at once: the socket does not block.
    if (tls_ && !state_.writing() && state_.phase() != Phase::kShakingHands) {
      tls_->stream.shutdown(ignored);
    }
    socket_.shutdown(Socket::shutdown_both, ignored);
    socket_.close(ignored);
    if (alarm_) alarm_->cancel();
  }
  if (state_.phase() == Phase::kParked) client_.statistics->connections_parked.subtract(1);
  take(state_.close(holds_something(client_)));
}

}  // namespace keyway::server
