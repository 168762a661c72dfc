#include "keyway/locks/fabric/overlap.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "keyway/locks/base/check.h"
#include "keyway/locks/fabric/fiber.h"
#include "keyway/locks/fabric/fiber_context.h"
#include "keyway/locks/fabric/forced_unwind.h"

namespace keyway::fabric {
namespace {

/// A stack of a thread that runs one piece of work after another.
class Worker {
 public:
  Worker() : context_([this] { live(); }) {}
  ~Worker() {
    ending_ = true;
    context_.resume();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void begin(FunctionRef<void()> work) { work_ = work; }
  /// From the agent: until the work ends or suspends.
  void resume() { context_.resume(); }
  /// From the work.
  void suspend() { context_.suspend(); }
  bool is_done() const { return !work_.has_value(); }

 private:
  void live() {
    while (true) {
      while (!work_ && !ending_) context_.suspend();
      if (!work_) return;
      (*work_)();
      work_.reset();
    }
  }

  std::optional<FunctionRef<void()>> work_;
  bool ending_ = false;
  FiberContext context_;
};

/// The idle stacks of a thread. The last used one is warm, and comes last.
class IdleWorkers {
 public:
  static constexpr std::size_t kMaxIdle = 2 * Overlap::kMaxBodies;

  std::unique_ptr<Worker> take() {
    if (idle_.capacity() == 0) idle_.reserve(kMaxIdle);  // give() allocates nothing
    if (idle_.empty()) return std::make_unique<Worker>();
    auto worker = std::move(idle_.back());
    idle_.pop_back();
    return worker;
  }
  void give(std::unique_ptr<Worker> worker) {
    if (idle_.size() < kMaxIdle) idle_.push_back(std::move(worker));
  }

 private:
  std::vector<std::unique_ptr<Worker>> idle_;
};
thread_local IdleWorkers idle_workers;

}  // namespace

/// A body and its stack.
struct Overlap::Lane {
  enum class Stands : std::uint8_t { kReady, kAtFlush, kAtFlushOfAll, kAtCall, kAtWait };

  std::unique_ptr<Worker> worker;
  std::size_t number = 0;
  Run* run = nullptr;
  Stands stands = Stands::kReady;
  std::uint32_t rank = 0;                     // kAtFlush
  const FunctionRef<void()>* call = nullptr;  // kAtCall, kAtWait
  std::exception_ptr failure;                 // an exception that left the body
  ForcedUnwind unwind;
  bool leaving = false;
  bool no_memory = false;  // of the last call

  /// The whole of its work, on its stack.
  void operator()();
};

/// One call of run(), on the agent's stack.
struct Overlap::Run {
  Overlap& overlap;
  const Body body;
  const Flushes& flushes;
  std::array<Lane, kMaxBodies> lanes;
  std::size_t size = 0;
  bool ending = false;  // bodies leave their stacks

  Run(Overlap& of, Body what, const Flushes& how) : overlap(of), body(what), flushes(how) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  /// The stack of run() is left while bodies are under way: so their stacks are left, too.
  ~Run() {
    ending = true;
    for (Lane& lane : in_use()) {
      if (!lane.worker->is_done()) resume(lane);
      idle_workers.give(std::move(lane.worker));
    }
  }

  std::span<Lane> in_use() { return std::span(lanes).first(size); }
  void add(std::unique_ptr<Worker> worker) {
    Lane& lane = lanes[size];
    lane.number = size++;
    lane.run = this;
    lane.worker = std::move(worker);
  }
  void resume(Lane& lane) {
    const this_fiber::NoFiber off;
    overlap.running_ = &lane;
    lane.worker->resume();
    overlap.running_ = nullptr;
  }
  void go_on(Lane& lane) {
    lane.stands = Lane::Stands::kReady;
    resume(lane);
    // A call waits for no other body.
    while (!lane.worker->is_done() && lane.stands == Lane::Stands::kAtCall) {
      serve(lane);
      resume(lane);
    }
  }
  /// Without memory it is the body that fails, as if it had made the call itself.
  static void serve(Lane& lane) {
    try {
      (*lane.call)();
    } catch (const std::bad_alloc&) {
      lane.no_memory = true;
    }
    lane.stands = Lane::Stands::kReady;
  }
  bool stands(const Lane& lane, Lane::Stands where) const {
    return !lane.worker->is_done() && lane.stands == where;
  }

  void begin(Lane& lane) {
    lane.worker->begin(lane);
    go_on(lane);
  }
  void work();
  bool flush_once();
  bool wait_once();
};

void Overlap::Lane::operator()() {
  try {
    run->body(number);
  } catch (const abi::__forced_unwind&) {  // ~Run()
  } catch (...) {
    failure = std::current_exception();
  }
}

/// Completes what bodies wait for, and resumes them; false if none stands at a flush.
bool Overlap::Run::flush_once() {
  std::array<Lane*, kMaxBodies> standing;
  std::size_t n = 0;
  bool all = false;
  for (Lane& lane : in_use()) {
    if (!stands(lane, Lane::Stands::kAtFlush) && !stands(lane, Lane::Stands::kAtFlushOfAll))
      continue;
    all = all || lane.stands == Lane::Stands::kAtFlushOfAll;
    standing[n++] = &lane;
  }
  const auto of = std::span(standing).first(n);
  if (all) {
    flushes.all();
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      const auto before = of.first(i);
      const bool done = std::any_of(before.begin(), before.end(),
                                    [&](const Lane* lane) { return lane->rank == of[i]->rank; });
      if (!done) flushes.one(of[i]->rank);
    }
  }
  for (Lane* lane : of) go_on(*lane);
  return n != 0;
}

/// OV3.
bool Overlap::Run::wait_once() {
  for (Lane& lane : in_use()) {
    if (!stands(lane, Lane::Stands::kAtWait)) continue;
    serve(lane);
    go_on(lane);
    return true;
  }
  return false;
}

void Overlap::Run::work() {
  while (flush_once() || wait_once()) {
  }
  for (const Lane& lane : in_use()) {
    if (lane.failure) std::rethrow_exception(lane.failure);
  }
}

void Overlap::run(std::size_t n, Body body, const Flushes& flushes) {
  KW_CHECK(n <= kMaxBodies);
  const auto one_by_one = [&] {
    for (std::size_t i = 0; i < n; ++i) body(i);
  };
  if (n < 2 || in_body()) return one_by_one();
  Run run(*this, body, flushes);
  try {
    while (run.size < n) run.add(idle_workers.take());
  } catch (const std::bad_alloc&) {
    return one_by_one();
  }
  for (Lane& lane : run.in_use()) run.begin(lane);
  run.work();
}

/// A body leaves for the agent's stack, until that has done what the body waits for.
void Overlap::stop(Lane& lane) {
  if (lane.leaving) return;  // a destructor, on the way out
  lane.worker->suspend();
  if (!lane.run->ending) return;
  lane.leaving = true;
  lane.unwind.leave();
}

void Overlap::flush(std::uint32_t rank) {
  Lane& lane = *running_;
  lane.rank = rank;
  lane.stands = Lane::Stands::kAtFlush;
  stop(lane);
}

void Overlap::flush_all() {
  Lane& lane = *running_;
  lane.stands = Lane::Stands::kAtFlushOfAll;
  stop(lane);
}

void Overlap::leave_to_agent(FunctionRef<void()> call, bool waits) {
  Lane& lane = *running_;
  lane.call = &call;
  lane.stands = waits ? Lane::Stands::kAtWait : Lane::Stands::kAtCall;
  stop(lane);
  if (std::exchange(lane.no_memory, false)) throw std::bad_alloc();
}

}  // namespace keyway::fabric
