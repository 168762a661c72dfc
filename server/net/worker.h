// Worker: an event loop and the fibers on which its connections' requests are executed.
//
// *What.* One thread. What comes on a connection is executed on a fiber that is not busy; where a
// request waits for a lock, or for the network, its fiber gives way, and the loop goes on with
// others. A connection that finds every fiber busy waits its turn.
// *Thread safety.* take() and drain() may be called by any thread; the rest by its own.
// *Invariants.*
//   W1  A session and a batch are used by one fiber only, that of their number.
//   W2  run() returns when the worker drains and its last connection has gone.
// *Source.* Design section 7.
#pragma once

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_set>
#include <vector>

#include "keyway/client/client.h"
#include "keyway/locks/fabric/fiber.h"
#include "keyway/server/net/connection.h"

namespace keyway::server {

class Worker {
 public:
  /// One session for each fiber. The service outlives the worker.
  Worker(std::vector<Session> sessions, Service& service, const resp::RequestLimits& limits,
         std::atomic<std::uint32_t>& clients);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void run();
  /// Ends every connection as soon as what has come is answered, and then run(). Who does not read
  /// his answers for so long does not get them.
  void drain(std::chrono::milliseconds patience);
  /// To make a socket on, for take().
  asio::io_context& events() { return events_; }
  /// A client that has come, on a socket of events().
  void take(Connection::Socket socket, std::uint64_t id);

  // For connections.
  void joined(Connection& connection) { connections_.insert(&connection); }
  void left(Connection& connection);
  /// connection->execute() on a fiber, now or when one is free; then connection->executed().
  void execute(std::shared_ptr<Connection> connection);
  Service& service() { return service_; }
  const resp::RequestLimits& limits() const { return limits_; }

 private:
  void begin(std::shared_ptr<Connection> connection);
  void end_executed();

  asio::io_context events_;
  asio::executor_work_guard<asio::io_context::executor_type> open_;
  asio::steady_timer patience_;
  std::vector<Session> sessions_;
  std::vector<Batch> batches_;
  Service& service_;
  resp::RequestLimits limits_;
  std::atomic<std::uint32_t>& clients_;
  std::vector<std::shared_ptr<Connection>> on_fiber_;  // which each of them executes
  fabric::FiberPool fibers_;
  std::unordered_set<Connection*> connections_;
  std::deque<std::shared_ptr<Connection>> waiting_;    // for a fiber
  std::vector<std::shared_ptr<Connection>> executed_;  // by a fiber, since the loop last looked
  bool draining_ = false;
};

}  // namespace keyway::server
