#include "keyway/server/net/worker.h"

#include <algorithm>
#include <asio/post.hpp>
#include <new>
#include <system_error>
#include <utility>

#include "keyway/locks/fabric/fiber_time.h"
#include "keyway/locks/fabric/time_slice.h"
#include "keyway/server/net/pipeline_run.h"
#include "keyway/server/net/process_memory.h"

namespace keyway::server {
namespace {

std::vector<Executor> executors_of(std::vector<Session> sessions) {
  std::vector<Executor> made;
  for (Session& session : sessions) made.push_back({std::move(session), {}});
  return made;
}

}  // namespace

Worker::Worker(std::vector<Session> sessions, Service& service, std::uint32_t poll_us,
               std::atomic<std::uint32_t>& clients, OutputMemory& output)
    : events_(1),  // one thread runs it
      open_(asio::make_work_guard(events_)),
      patience_(events_),
      times_(events_),
      executors_(executors_of(std::move(sessions))),
      batches_(executors_.size()),
      service_(service),
      statistics_(service.statistics.add_worker(executors_.size())),
      poll_us_(poll_us),
      clients_(clients),
      output_(output),
      on_fiber_(executors_.size()),
      helps_(executors_.size()),
      fibers_(executors_.size(),
              [this](std::size_t fiber) {
                Executor& executor = executors_[fiber];
                if (PipelineRun* run = std::exchange(helps_[fiber], nullptr)) {
                  run->work(executor);
                  --helping_;
                } else if (on_fiber_[fiber] == nullptr) {
                  sweep_turn(executor.session);
                } else {
                  on_fiber_[fiber]->run_on_fiber(executor, batches_[fiber]);
                  done_.push_back(std::move(on_fiber_[fiber]));
                }
                tell_locks(fiber);
              }),
      rest_(events_),
      again_(events_),
      until_sweep_(events_) {
  done_.reserve(executors_.size());
}

void Worker::run() {
  while (!events_.stopped() || fibers_.busy() != 0) {
    if (fibers_.busy() == 0) {
      await_event();
    } else {
      step_fibers();
    }
    finish_done();
    tell_load(0);
    refill_spare_memory();
  }
}

void Worker::tell_load(std::size_t more) {
  const std::size_t executing = fibers_.busy() - helping_ - (sweeping_ ? 1 : 0);
  requests_.store(static_cast<std::uint32_t>(executing + waiting_.size() + more),
                  std::memory_order_relaxed);  // a figure by itself
}

/// Events, but not for ever: a pipeline makes the next one as each is handled. W4.
std::size_t Worker::poll_for_a_slice() {
  const std::uint64_t ends_ns = statistics_.look_at_clock() + fabric::kSliceNs;
  std::size_t handled = 0;
  while (statistics_.now_ns() < ends_ns && events_.poll_one() != 0) ++handled;
  return handled;
}

/// Waiting fibers poll in each round. If no fiber progresses for a while, the agent that they wait
/// for may need this processor, so the worker sleeps: between all rounds while no fiber progresses,
/// and now and then otherwise, because a fiber may just be polling a remote lock. Yielding without
/// sleep does not help if others do the same: since 6.18, Linux deprioritises frequent yielders for
/// seconds.
void Worker::step_fibers() {
  constexpr std::uint32_t kMaxIdleRounds = 128;  // more than a reply over a network takes
  constexpr std::chrono::microseconds kRest{50};
  begin_helping();
  if (poll_for_a_slice() != 0) idle_rounds_ = stalled_rounds_ = 0;
  ++idle_rounds_;
  ++stalled_rounds_;
  if (stalled_rounds_ > kMaxIdleRounds || idle_rounds_ % kMaxIdleRounds == 0) {
    rest_.expires_after(kRest);
    rest_.wait();
  }
  const fabric::this_fiber::Progress before = fabric::this_fiber::progress();
  fibers_.step();
  const fabric::this_fiber::Progress after = fabric::this_fiber::progress();
  if (after.network_waits != before.network_waits) stalled_rounds_ = 0;
  if (!done_.empty() || after.turns != before.turns) idle_rounds_ = stalled_rounds_ = 0;
}

/// To sleep and to be woken costs as much as a small request. So if the last wait was short, the
/// worker polls for that long, and sleeps only then; one long wait ends that.
void Worker::await_event() {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::microseconds(poll_us_);
  while (last_wait_was_short_ && Clock::now() < until) {
    if (events_.poll_one() != 0) return;
  }
  events_.run_one();
  last_wait_was_short_ = Clock::now() < until;
}

Worker::~Worker() = default;

void Worker::drain(std::chrono::milliseconds patience) {
  asio::post(events_, [this, patience] {
    draining_ = true;
    until_sweep_.cancel();
    for (const auto& [id, connection] : connections_) connection->drain();
    if (connections_.empty()) return open_.reset();
    patience_.expires_after(patience);
    patience_.async_wait([this](std::error_code cancelled) {
      if (cancelled) return;
      for (const auto& [id, connection] : connections_) connection->close();
    });
  });
}

/// Publishes the counts of the locks of a fiber's session, and of operations without.
void Worker::tell_locks(std::size_t fiber) {
  Inspector inspector = executors_[fiber].session.inspector();
  const LockCounts counts = inspector.lock_counts();
  LockCounters& reported = statistics_.locks[fiber];
  reported.shared.set(counts.shared);
  reported.exclusive.set(counts.exclusive);
  reported.contended.set(counts.contended);
  reported.handed_over.set(counts.handed_over);
  reported.timeouts.set(counts.timeouts);
  reported.not_needed.set(counts.not_needed);
  const RemoteWork remote = inspector.remote_work();
  reported.warm.set(remote.reads.warm);
  reported.cold.set(remote.reads.cold);
  reported.refused.set(remote.reads.refused);
  reported.reads_by_owners.set(remote.reads.by_owners);
  reported.edits_by_owners.set(remote.edits_by_owners);
  reported.messages.set(remote.messages);
  reported.round_trips.set(remote.round_trips);
  reported.loopbacks.set(remote.loopbacks);
  reported.reads_repeated.set(remote.reads.repeated);
  reported.flushes.set(remote.flushes);
}

void Worker::joined(Connection& connection) {
  connections_.emplace(connection.id(), &connection);
  statistics_.connections.set(connections_.size());
  statistics_.connections_all.add(1);
}

void Worker::left(Connection& connection) {
  connections_.erase(connection.id());
  statistics_.connections.set(connections_.size());
  clients_.fetch_sub(1, std::memory_order_relaxed);  // counts, which order nothing
  given_.fetch_sub(1, std::memory_order_relaxed);
  if (!draining_ || !connections_.empty()) return;
  open_.reset();
  patience_.cancel();
  times_.cancel();
  again_.cancel();
}

void Worker::wake(std::uint64_t client) {
  asio::post(events_, [this, client] {
    const auto found = connections_.find(client);
    if (found != connections_.end()) found->second->wake();
  });
}

void Worker::take(Connection::Socket socket, std::uint64_t id, const Entrance& entrance) {
  given_.fetch_add(1, std::memory_order_relaxed);  // a count, which orders nothing
  auto held = std::make_shared<Connection::Socket>(std::move(socket));
  asio::post(events_, [this, id, entrance, held] {
    look_at_clock();
    auto connection = std::make_shared<Connection>(*this, std::move(*held), id, entrance);
    if (!looks_) look_at_times_later();
    if (draining_) connection->drain();
    connection->start();
  });
}

void Worker::look_at_clock() {
  const auto lived = std::chrono::steady_clock::now() - made_;
  now_s_ = static_cast<std::uint32_t>(std::chrono::floor<std::chrono::seconds>(lived).count());
}

/// As long as there are connections: an idle worker sleeps.
void Worker::look_at_times_later() {
  looks_ = true;
  times_.expires_after(std::chrono::seconds(1));
  times_.async_wait([this](std::error_code cancelled) {
    looks_ = false;
    if (cancelled || connections_.empty()) return;
    look_at_clock();
    for (const auto& [id, connection] : connections_) connection->look_at_time();
    look_at_times_later();
  });
}

void Worker::look_again_soon(std::weak_ptr<Connection> connection) {
  to_look_again_.push_back(std::move(connection));
  if (to_look_again_.size() > 1) return;
  again_.expires_after(std::chrono::nanoseconds(kLookAgainNs));
  again_.async_wait([this](std::error_code cancelled) {
    if (!cancelled) look_again();
  });
}

void Worker::look_again() {
  const auto due = std::exchange(to_look_again_, {});
  const std::uint64_t now_ns = statistics_.look_at_clock();
  for (const auto& connection : due) {
    if (const auto here = connection.lock()) here->look_again(now_ns);
  }
}

void Worker::schedule(std::shared_ptr<Connection> connection) {
  tell_load(1);
  if (fibers_.busy() == fibers_.size()) {
    waiting_.push_back(std::move(connection));
  } else {
    start_fiber(std::move(connection));
  }
}

void Worker::start_fiber(std::shared_ptr<Connection> connection) {
  on_fiber_[fibers_.next()] = std::move(connection);
  fibers_.run();
}

/// On the loop's own stack, so that what follows does not run on a fiber's. Leaves no reply unsent,
/// for the loop may then sleep.
void Worker::finish_done() {
  // The load falls before the replies leave: a client may connect because of a reply, and is not to
  // find the answered request here.
  tell_load(0);
  do {
    while (!done_.empty()) {
      const auto connection = std::move(done_.back());
      done_.pop_back();
      connection->on_fiber_done();
    }
    // A fiber may also be free because a sweep has ended, or one that helped.
  } while (begin_waiting());
}

/// False if nothing waits, or every fiber is busy.
bool Worker::begin_waiting() {
  if ((!sweep_due_ && waiting_.empty()) || fibers_.busy() == fibers_.size()) return false;
  if (sweep_due_) {
    begin_sweep();
  } else {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    start_fiber(std::move(next));
  }
  return true;
}

void Worker::begin_helping() {
  const std::size_t free = std::max<std::size_t>(1, fibers_.size() / 4);
  while (!offered_.empty() && waiting_.empty() && !sweep_due_ &&
         fibers_.busy() + free < fibers_.size()) {
    PipelineRun* const run = offered_.front();
    if (!run->has_work()) {
      offered_.pop_front();
      continue;
    }
    helps_[fibers_.next()] = run;
    ++helping_;
    statistics_.look_at_clock();  // its requests begin now
    fibers_.run();
  }
}

void Worker::work_together(PipelineRun& run, Executor& executor) {
  try {
    offered_.push_back(&run);
  } catch (const std::bad_alloc&) {  // without help
  }
  run.work(executor);
  std::erase(offered_, &run);
  {
    const fabric::this_fiber::NetworkWait network;
    while (!run.is_at_rest()) fabric::this_fiber::yield();
  }
  statistics_.look_at_clock();
}

void Worker::sweep(std::uint32_t rank, std::uint32_t percent) {
  sweeper_.emplace(rank, percent);
  sweep_later();
}

void Worker::sweep_later() {
  until_sweep_.expires_after(Sweeper::kTurnsApart);
  until_sweep_.async_wait([this](std::error_code cancelled) {
    if (cancelled || draining_) return;
    // If all fibers are busy, the sweep gets the next free one: clients that wait for one lose
    // little, and a server that is always busy sweeps as well.
    sweep_due_ = !sweeping_;
    begin_waiting();
    sweep_later();
  });
}

void Worker::begin_sweep() {
  sweep_due_ = false;
  sweeping_ = true;
  fibers_.run();
}

/// On a fiber.
void Worker::sweep_turn(Session& session) {
  statistics_.expired.add(sweeper_->turn(session));
  sweeping_ = false;
}

}  // namespace keyway::server
