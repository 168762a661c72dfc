#include "keyway/server/net/connection.h"

#include <algorithm>
#include <asio/buffer.hpp>
#include <asio/post.hpp>
#include <new>
#include <utility>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/give_back.h"
#include "keyway/server/net/address.h"
#include "keyway/server/net/tls.h"
#include "keyway/server/net/worker.h"

namespace keyway::server {

Connection::Connection(Worker& worker, Socket socket, std::uint64_t id, asio::ssl::context* tls)
    : worker_(worker),
      socket_(std::move(socket)),
      tls_(tls != nullptr ? std::make_unique<TlsLayer>(socket_, *tls) : nullptr),
      born_s_(worker.now_s()) {
  client_.id = id;
  std::error_code gone;  // before it was taken: then there is nothing to read either
  client_.address = text_of(socket_.remote_endpoint(gone));
  client_.descriptor = socket_.native_handle();
  client_.since_ms = wall_ms();
  client_.local_address = text_of(socket_.local_endpoint(gone));
  client_.statistics = &worker.statistics();
  client_.authenticated = worker.service().password.empty();
  socket_.non_blocking(true, gone);
  client_.locks.waker = &worker;
  worker_.joined(*this);
}

Connection::~Connection() {
  worker_.service().clients.remove(client_.id);
  worker_.left(*this);
}

/// To CLIENT LIST and CLIENT KILL.
void Connection::show() {
  auto card = std::make_shared<ClientCard>();
  card->id = client_.id;
  card->address = client_.address;
  card->local_address = client_.local_address;
  card->descriptor = client_.descriptor;
  card->since_ms = client_.since_ms;
  card->seen_ns = steady_ns();
  card->close = [&events = worker_.events(), self = weak_from_this()] {
    asio::post(events, [self] {
      if (const auto here = self.lock()) here->close();
    });
  };
  client_.card = card;
  worker_.service().clients.add(std::move(card));
}

void Connection::enter(State state) {
  state_ = state;
  since_s_ = worker_.now_s();
}

void Connection::start() {
  show();
  if (!tls_) return executed();
  enter(State::kShakingHands);
  tls_->stream.async_handshake(asio::ssl::stream_base::server,
                               [self = shared_from_this()](std::error_code error) {
                                 if (error) return self->close();
                                 self->executed();
                               });
}

void Connection::drain() {
  draining_ = true;
  if (state_ == State::kParked) return wake();
  // What has come is read once more: it is complete by the cancelled read.
  std::error_code gone;  // it may have been closed a moment ago
  if (state_ == State::kReading || state_ == State::kShakingHands) socket_.cancel(gone);
}

void Connection::look_at_time() {
  const ConnectionLimits& limits = worker_.limits();
  // By a clock of whole seconds: more than the limit, so that it is never less.
  const auto is_over = [&](std::uint32_t since_s, std::uint32_t limit_s) {
    return limit_s != 0 && worker_.now_s() - since_s > limit_s;
  };
  bool late = false;
  switch (state_) {
    case State::kShakingHands: late = is_over(born_s_, limits.login_s); break;
    case State::kReading:
      late = is_over(since_s_, limits.idle_s) ||
             (!client_.authenticated && is_over(born_s_, limits.login_s));
      break;
    case State::kWriting: late = is_over(since_s_, limits.output_s); break;
    case State::kExecuting:
    case State::kParked: break;  // its request has a time of its own
  }
  if (late) close();
}

resp::RequestLimits Connection::request_limits() const {
  resp::RequestLimits limits = worker_.limits().request;
  limits.trusted = client_.authenticated;
  return limits;
}

/// Room for what the request that is under way needs, but never for more than has already come:
/// memory grows with what is sent, not with what is announced.
std::size_t Connection::make_room() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    if (in_.capacity() > kKept) give_back(in_, 0);
  }
  const std::size_t held = end_ - begin_;
  const std::size_t room = std::clamp<std::size_t>(
      std::max<std::size_t>(parser_.missing(), wanted_), wanted_, std::max(kMostWanted, held));
  if (begin_ != 0 && in_.size() - end_ < room) {
    in_.erase(0, begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (in_.size() - end_ < room) in_.resize(end_ + room);
  return in_.size() - end_;
}

void Connection::read() {
  if (end_ - begin_ >= worker_.limits().query_bytes) return close();
  std::size_t room = 0;
  try {
    room = make_room();
  } catch (const std::bad_alloc&) {  // C5
    return close();
  }
  if (state_ == State::kParked) {
    ahead_ = true;
  } else {
    enter(State::kReading);
  }
  const auto buffer = asio::buffer(in_.data() + end_, room);
  auto come = [self = shared_from_this()](std::error_code error, std::size_t bytes) {
    self->read_some(error, bytes);
  };
  if (tls_) {
    tls_->stream.async_read_some(buffer, std::move(come));
  } else {
    socket_.async_read_some(buffer, std::move(come));
  }
}

void Connection::read_some(std::error_code error, std::size_t bytes) {
  end_ += bytes;
  client_.statistics->bytes_in.add(bytes);
  // A client that fills the buffer will do so again; most of those that are idle never do.
  if (end_ == in_.size()) wanted_ = std::min(2 * wanted_, kMostWanted);
  ahead_ = false;
  if (left_) return;
  if (state_ == State::kParked) return read_ahead(error);
  // Cancelled: what the kernel still has is the last that is read.
  if (error == asio::error::operation_aborted && draining_ && more_has_come()) return read();
  if (error) return close();
  step();
}

void Connection::step() {
  state_ = State::kExecuting;
  executing_ = true;
  client_.came_ns = client_.statistics->look_at_clock();
  client_.card->seen_ns.store(client_.came_ns, std::memory_order_relaxed);  // a figure by itself
  worker_.execute(shared_from_this());
}

bool Connection::more_has_come() const {
  std::error_code none;
  const std::size_t waiting = socket_.available(none);
  return !none && waiting != 0;
}

/// What has come and has not been read, without waiting for more.
void Connection::read_the_rest() {
  if (!tls_) return more_has_come() ? read() : close();
  read();  // of what the layer keeps nobody knows the length
  std::error_code gone;
  socket_.cancel(gone);
}

void Connection::execute(Session& session, Batch& batch) {
  if (left_) return leave(client_, worker_.service());
  woken_ = false;
  more_to_execute_ = false;
  try {
    if (client_.locks.wait) {
      resp::ReplyWriter writer(out_, client_.version);
      if (server::resume(client_, worker_.service(), writer) == Outcome::kParked) return;
    }
    execute_complete(session, batch);
  } catch (const std::bad_alloc&) {  // not even the refusal of a request has room (C5)
    more_to_execute_ = false;
    client_.closing = true;
  }
}

void Connection::execute_complete(Session& session, Batch& batch) {
  while (!client_.closing && !more_to_execute_ && !client_.locks.wait) {
    const auto step = parse(batch);
    batch.prefetch(session);
    const bool all = execute_batch(session, batch);
    if (!all || step == resp::RequestParser::Step::kRequest) continue;
    if (step == resp::RequestParser::Step::kError) {
      resp::ReplyWriter(out_, client_.version).error("ERR " + parser_.error());
      client_.closing = true;
    }
    return;
  }
}

/// Fills the batch with requests that are complete. kRequest: there may be more.
resp::RequestParser::Step Connection::parse(Batch& batch) {
  batch.clear();
  std::size_t at = begin_;
  while (true) {
    const auto step = parser_.parse(std::string_view(in_).substr(at, end_ - at), request_limits());
    at += parser_.consumed();
    parsed_ = at;
    if (step != resp::RequestParser::Step::kRequest) return step;
    const bool room = batch.add(parser_.words(), at);
    if (!room || !parser_.in_place() || !client_.authenticated) return step;
  }
}

/// False when it has stopped before the end: then what it has not come to is parsed again, later.
bool Connection::execute_batch(Session& session, const Batch& batch) {
  resp::ReplyWriter writer(out_, client_.version);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Batch::Request request = batch[i];
    const Outcome outcome = server::execute(client_, session, worker_.service(), request.command,
                                            request.words, writer);
    const bool parked = outcome == Outcome::kParked;
    more_to_execute_ = !parked && out_.size() >= kMuchToWrite;
    if (out_.size() > worker_.limits().output_bytes) {  // as Redis does: no word about it
      give_back(out_, 0);
      client_.closing = true;
    }
    if (!more_to_execute_ && !parked && !client_.closing) continue;
    begin_ = request.end;
    parser_.rewind();
    return false;
  }
  begin_ = parsed_;
  return true;
}

void Connection::executed() {
  executing_ = false;
  if (left_) return;
  if (!out_.empty()) return write();
  if (client_.closing) return close();
  if (client_.locks.wait) return park();
  if (draining_) return read_the_rest();
  read();
}

/// Nearly always the kernel takes all at once, and no event loop is needed for that.
void Connection::write() {
  client_.statistics->bytes_out.add(out_.size());
  if (!tls_) {
    std::error_code error;
    sent_ = socket_.send(asio::buffer(out_), 0, error);
    if (error && error != asio::error::would_block) return written(error);
    if (sent_ == out_.size()) return written({});
  }
  write_rest();
}

void Connection::write_rest() {
  enter(State::kWriting);
  const auto rest = asio::buffer(out_) + sent_;
  auto taken = [self = shared_from_this()](std::error_code error, std::size_t bytes) {
    self->sent_ += bytes;
    if (error || self->sent_ == self->out_.size()) return self->written(error);
    self->write_rest();
  };
  if (tls_) {
    tls_->stream.async_write_some(rest, std::move(taken));
  } else {
    socket_.async_write_some(rest, std::move(taken));
  }
}

void Connection::written(std::error_code error) {
  give_back(out_, kKept);
  sent_ = 0;
  if (left_) return;
  if (error) return close();
  state_ = State::kExecuting;
  if (!more_to_execute_) return executed();
  // Others first: this client may have sent a million requests.
  executing_ = true;
  asio::post(worker_.events(), [self = shared_from_this()] {
    self->client_.statistics->look_at_clock();  // what was written had to be taken first
    self->worker_.execute(self);
  });
}

void Connection::close() {
  if (socket_.is_open()) {
    std::error_code ignored;  // the other side may have gone first
    // Says goodbye, where the kernel takes that at once: the socket does not block.
    if (tls_ && state_ != State::kShakingHands) tls_->stream.shutdown(ignored);
    socket_.shutdown(Socket::shutdown_both, ignored);
    socket_.close(ignored);
    if (alarm_) alarm_->cancel();
  }
  // While it executes nothing else may: it comes here again.
  if (executing_ || left_ || !holds_something(client_)) return;
  left_ = true;
  step();
}

}  // namespace keyway::server
