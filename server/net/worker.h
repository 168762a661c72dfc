// Worker: an event loop and the fibers on which its connections' requests are executed.
//
// *What.* One thread. Requests of a connection are executed on an idle fiber; if a request waits
// for a lock, or for the network, its fiber yields, and the loop continues with others. A
// connection that finds every fiber busy waits its turn.
// *Thread safety.* take(), drain() and wake() may be called by any thread; the rest by its own.
// *Invariants.*
//   W1  An executor and a batch are used by one fiber only, that of their number; its batch is also
//       read by fibers that help it.
//   W2  run() returns when the worker drains and its last connection has gone.
//   W3  While its fibers only wait, a worker does not keep its processor: it rests between polls.
//   W4  Events and fibers take turns of a slice (time_slice.h): neither delays the other for
//       longer.
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
#include <optional>
#include <unordered_map>
#include <vector>

#include "keyway/client/client.h"
#include "keyway/locks/fabric/fiber.h"
#include "keyway/server/net/connection.h"
#include "keyway/server/net/output_memory.h"
#include "keyway/server/net/sweeper.h"

namespace keyway::server {

class PipelineRun;

class Worker final : public Waker {
 public:
  /// One session for each fiber. Service, clients and output outlive the worker.
  Worker(std::vector<Session> sessions, Service& service, std::uint32_t poll_us,
         std::atomic<std::uint32_t>& clients, OutputMemory& output);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void run();
  /// From now on removes this rank's expired keys, on a fiber that is not busy, with at most
  /// `percent` of this worker's core. Before run().
  void sweep(std::uint32_t rank, std::uint32_t percent);
  /// Ends every connection as soon as its received requests are answered, and then run(). A client
  /// that does not read its replies for this long does not get them.
  void drain(std::chrono::milliseconds patience);
  /// To make a socket on, for take().
  asio::io_context& events() { return events_; }
  /// A client that has come, on a socket of events().
  void take(Connection::Socket socket, std::uint64_t id, const Entrance& entrance);
  /// A measure of its load, to compare workers: requests first, then clients. Any thread.
  std::uint64_t load() const {
    // relaxed: figures by themselves.
    return std::uint64_t{requests_.load(std::memory_order_relaxed)} << 32 |
           given_.load(std::memory_order_relaxed);
  }

  /// A client with a parked request checks again.
  void wake(std::uint64_t client) override;

  // For connections.
  void joined(Connection& connection);
  void left(Connection& connection);
  /// connection->run_on_fiber(), now or when a fiber is free; then connection->on_fiber_done().
  void schedule(std::shared_ptr<Connection> connection);
  /// On the fiber of the executor: returns when the run is at rest. Fibers that are idle help, if
  /// no client waits for one; one, and a quarter of all, stay free.
  void work_together(PipelineRun& run, Executor& executor);
  /// After a read that did not fill its buffer, a client is looked at again.
  static constexpr std::uint64_t kLookAgainNs = 5'000'000;
  /// connection->look_again() after kLookAgainNs, if it is still there.
  void look_again_soon(std::weak_ptr<Connection> connection);
  Service& service() { return service_; }
  OutputMemory& output() const { return output_; }
  /// A clock for limits: seconds since the worker was made, as of its last check.
  std::uint32_t now_s() const { return now_s_; }
  WorkerStatistics& statistics() { return statistics_; }

 private:
  void start_fiber(std::shared_ptr<Connection> connection);
  void await_event();
  void step_fibers();
  void finish_done();
  void look_at_clock();
  void look_at_times_later();
  void look_again();
  void tell_locks(std::size_t fiber);
  void tell_load(std::size_t more);
  std::size_t poll_for_a_slice();
  bool begin_waiting();
  void begin_helping();
  void sweep_later();
  void begin_sweep();
  void sweep_turn(Session& session);

  asio::io_context events_;
  asio::executor_work_guard<asio::io_context::executor_type> open_;
  asio::steady_timer patience_;
  asio::steady_timer times_;  // one for all connections: checks each, once a second
  std::chrono::steady_clock::time_point made_ = std::chrono::steady_clock::now();
  std::uint32_t now_s_ = 0;
  std::vector<Executor> executors_;
  std::vector<Batch> batches_;
  Service& service_;
  WorkerStatistics& statistics_;
  const std::uint32_t poll_us_;  // how long it polls for requests before it sleeps, while busy
  std::atomic<std::uint32_t>& clients_;
  std::atomic<std::uint32_t> given_{0};     // clients that it was given and that have not left
  std::atomic<std::uint32_t> requests_{0};  // connections that execute, or wait for a fiber
  OutputMemory& output_;
  // What each of them executes, or helps with; a fiber that is busy without either sweeps.
  std::vector<std::shared_ptr<Connection>> on_fiber_;
  std::vector<PipelineRun*> helps_;
  std::size_t helping_ = 0;  // fibers
  std::deque<PipelineRun*> offered_;
  fabric::FiberPool fibers_;
  std::unordered_map<std::uint64_t, Connection*> connections_;  // by the numbers of their clients
  std::deque<std::shared_ptr<Connection>> waiting_;             // for a fiber
  std::vector<std::shared_ptr<Connection>> done_;  // by a fiber, since the loop last looked
  bool draining_ = false;
  bool last_wait_was_short_ = false;
  std::uint32_t idle_rounds_ = 0;     // fiber rounds since an event, or since a fiber progressed
  std::uint32_t stalled_rounds_ = 0;  // since the end of a wait for the network, too
  asio::steady_timer rest_;
  bool looks_ = false;  // times_ is waiting
  asio::steady_timer again_;
  std::vector<std::weak_ptr<Connection>> to_look_again_;  // when again_ expires
  asio::steady_timer until_sweep_;
  std::optional<Sweeper> sweeper_;
  bool sweep_due_ = false;  // and has no fiber yet
  bool sweeping_ = false;
};

}  // namespace keyway::server
