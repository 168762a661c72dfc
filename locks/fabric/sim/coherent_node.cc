#include "keyway/locks/fabric/sim/coherent_node.h"

#include <algorithm>
#include <cmath>

#include "keyway/locks/base/check.h"

namespace keyway::fabric::sim {
namespace {

AccessKind kind_of(const Operation& op) {
  if (op.reads_and_writes()) return AccessKind::kAtomic;
  const bool writes = op.kind == OpKind::kStore || op.kind == OpKind::kWrite;
  return writes ? AccessKind::kStore : AccessKind::kLoad;
}

/// The first time of from + step, from + 2 * step, ... at or after `now`; `now` without a step.
double tick_after(double from, double step, double now) {
  if (step <= 0) return now;
  return std::max(now, from + step * std::max(1.0, std::ceil((now - from) / step)));
}

/// The machine with its costs rounded to picoseconds.
Multicore in_picos(Multicore machine) {
  const auto round = [](double& ns) { ns = static_cast<double>(picos(ns)); };
  CacheCosts& cache = machine.cache;
  for (double* cost : {&cache.load_ns, &cache.store_ns, &cache.atomic_ns, &cache.invalidate_each_ns,
                       &cache.load_busy_ns, &machine.overhead_ns}) {
    round(*cost);
  }
  for (double& cost : cache.transfer_ns) round(cost);
  for (double& cost : cache.memory_ns) round(cost);
  CoreCosts& core = machine.core;
  for (double* cost : {&core.switch_ns, &core.yield_ns, &core.quantum_ns, &core.wake_ns}) {
    round(*cost);
  }
  WaitCosts& wait = machine.wait;
  for (double* cost : {&wait.look_ns, &wait.spin_ns, &wait.retry_ns, &wait.signal_ns}) round(*cost);
  return machine;
}

}  // namespace

CoherentNode::CoherentNode(const Multicore& machine, Host& host, Memory& memory, std::uint64_t seed)
    : machine_(in_picos(machine)),
      host_(host),
      memory_(memory),
      caches_(machine_.shape, machine_.cache, seed),
      cores_(machine_.shape, machine_.placement, machine_.core) {}

void CoherentNode::resume_at(std::uint32_t agent, double then) {
  host_.resume_at(agent, static_cast<Picos>(then));
}

std::vector<std::uint32_t> CoherentNode::begin(std::uint32_t n) {
  agents_.assign(n, {});
  return cores_.begin(n, now());
}

void CoherentNode::end(std::uint32_t agent) {
  pass_on(cores_.leave(agent, now(), Cores::Leave::kEnd));
}

// --- operations

std::uint64_t CoherentNode::perform(std::uint32_t number, const Operation& op) {
  keep_quantum(number);
  Agent& agent = agents_[number];
  const AccessKind kind = kind_of(op);
  double done = access(cores_.thread_of(number), op, now());
  if (kind == AccessKind::kLoad) done = overlapped(agent, op.at, done);
  if (kind == AccessKind::kAtomic) {  // after the stores, but its line comes while they go
    done = std::max(done, agent.stored + machine_.cache.atomic_ns);
  }
  double goes_on = done;
  if (kind == AccessKind::kStore) {
    done = agent.stored = std::max(done, agent.stored);
    goes_on = std::min(done, now() + machine_.cache.store_ns);
  }
  host_.pass_until(number, static_cast<Picos>(goes_on + machine_.overhead_ns));
  const std::uint64_t value = memory_.apply(op);  // N3
  if (kind == AccessKind::kAtomic) begin_anew(agents_[number]);
  if (op.kind == OpKind::kLoad) name(agents_[number], value);
  if (!waiting_.empty() && kind != AccessKind::kLoad) {
    written(op, number, std::max(done, now()));
  }
  return value;
}

/// When a load is done that alone would be at `done`.
double CoherentNode::overlapped(Agent& agent, Address at, double done) const {
  const double hit = now() + machine_.cache.load_ns;
  double since = 0;  // time waited until the line's address was known
  for (const Named& named : agent.named) {
    if (named.line == Caches::line_of(at)) since = std::max(since, named.waited);
  }
  const double hidden = std::floor(machine_.cache.overlap_share * (agent.waited - since));
  done = std::max(hit, done - hidden);
  agent.waited += done - hit;
  return done;
}

/// A load has brought a word, which may be an address.
void CoherentNode::name(Agent& agent, std::uint64_t word) {
  agent.named[agent.next_named++ % kNamed] = {Caches::line_of(Address::from_word(word)),
                                              agent.waited};
}

/// Later loads do not begin before now.
void CoherentNode::begin_anew(Agent& agent) {
  agent.waited = 0;
  agent.named = {};
}

/// When an access that begins now is done. The lines of bulk bytes are fetched at once.
double CoherentNode::access(std::uint32_t thread, const Operation& op, double begins) {
  const AccessKind kind = kind_of(op);
  if (op.is_word()) return caches_.access(thread, op.at, kind, begins);
  const std::uint64_t first = op.at.offset() / Caches::kLineBytes;
  const std::uint64_t last = (op.at.offset() + op.bytes - 1) / Caches::kLineBytes;
  double done = begins;
  for (std::uint64_t line = first; line <= last; ++line) {
    const Address at(op.at.rank(), line * Caches::kLineBytes);
    done = std::max(done, caches_.access(thread, at, kind, begins));
  }
  const double hit = kind == AccessKind::kLoad ? machine_.cache.load_ns : machine_.cache.store_ns;
  return done + static_cast<double>(last - first) * hit;
}

void CoherentNode::spend(std::uint32_t agent, Picos span) {
  begin_anew(agents_[agent]);
  double left = static_cast<double>(span);
  while (true) {
    keep_quantum(agent);
    const double turn = cores_.shares(agent) ? cores_.quantum_ends(agent) - now() : left;
    const double step = std::min(left, turn);
    host_.pass_until(agent, static_cast<Picos>(now() + step));
    left -= step;
    if (left <= 0) return;
  }
}

// --- waiting

WaitResult CoherentNode::wait(std::uint32_t agent, Address word, PredicateRef predicate,
                              Picos until) {
  agents_[agent].spin_ends = now() + machine_.wait.spin_ns;
  while (true) {
    const std::uint64_t value =
        perform(agent, {.kind = OpKind::kLoad, .access = OpClass::kCpu, .at = word});
    if (predicate(value)) return {value, false};
    if (host_.now() >= until) return {value, true};
    await_write(agent, Caches::line_of(word), until);
  }
}

/// Until the line is written, the time is over, or it is time to leave the thread.
void CoherentNode::await_write(std::uint32_t agent, std::uint64_t line, Picos until) {
  Agent& waiter = agents_[agent];
  waiter.looked = now();
  waiting_[line].push_back(agent);
  if (cores_.shares(agent) || machine_.wait.sleeps) {
    if (waiter.looked >= waiter.spin_ends) {
      const auto how = machine_.wait.sleeps ? Cores::Leave::kSleep : Cores::Leave::kPoll;
      pass_on(cores_.leave(agent, now(), how));
    } else {
      resume_at(agent, waiter.spin_ends);
    }
  }
  if (until != kEndOfTime) host_.resume_at(agent, until);
  host_.stop(agent);
  const auto found = waiting_.find(line);
  if (found != waiting_.end()) {  // not notified: its time is over
    std::erase(found->second, agent);
    if (found->second.empty()) waiting_.erase(found);
  }
  if (!cores_.runs(agent)) want_thread(agent);  // N1
  begin_anew(agents_[agent]);  // loads after the wait did not overlap with loads before it
}

/// An operation's write happens at `at`: notifies agents that wait for its lines, and wakes
/// sleepers.
void CoherentNode::written(const Operation& op, std::uint32_t by, double at) {
  std::uint32_t woken = 0;
  const std::uint64_t last = Caches::line_of(op.at + (op.bytes - 1));
  for (std::uint64_t line = Caches::line_of(op.at); line <= last; ++line) woken += tell(line, at);
  if (woken > 0) spend(by, static_cast<Picos>(woken * machine_.wait.signal_ns));
}

/// Returns how many of the waiters slept.
std::uint32_t CoherentNode::tell(std::uint64_t line, double at) {
  const auto found = waiting_.find(line);
  if (found == waiting_.end()) return 0;
  const std::vector<std::uint32_t> waiters = std::move(found->second);
  waiting_.erase(found);  // N2
  std::uint32_t woken = 0;
  for (const std::uint32_t agent : waiters) {
    host_.forget(agent);
    if (cores_.runs(agent)) {
      resume_at(agent, next_look(agents_[agent], at));
      continue;
    }
    if (machine_.wait.sleeps) ++woken;
    pass_on(cores_.changed(agent, at));
  }
  return woken;
}

/// The first poll that can see the write at `written`.
double CoherentNode::next_look(const Agent& waiter, double written) const {
  if (written < waiter.spin_ends) return tick_after(waiter.looked, machine_.wait.look_ns, written);
  return tick_after(std::max(waiter.looked, waiter.spin_ends), machine_.core.yield_ns, written);
}

void CoherentNode::rest(std::uint32_t agent, Picos span) {
  if (!cores_.shares(agent)) {
    const double ends = tick_after(0, machine_.wait.retry_ns, static_cast<double>(span));
    return spend(agent, static_cast<Picos>(ends));
  }
  if (span == 0) return leave_and_return(agent, Cores::Leave::kReady);
  pass_on(cores_.leave(agent, now(), Cores::Leave::kPoll));
  host_.resume_at(agent, host_.now() + span);
  host_.stop(agent);
  want_thread(agent);
}

// --- hardware threads

void CoherentNode::pass_on(const Cores::Turn& turn) {
  if (turn.agent != Cores::kNobody) resume_at(turn.agent, turn.from);
}

void CoherentNode::leave_and_return(std::uint32_t agent, Cores::Leave why) {
  pass_on(cores_.leave(agent, now(), why));
  host_.stop(agent);
  KW_CHECK(cores_.runs(agent));  // N1
}

/// An agent at the end of its polling or sleep queues for its thread.
void CoherentNode::want_thread(std::uint32_t agent) {
  pass_on(cores_.changed(agent, now()));
  host_.stop(agent);
  KW_CHECK(cores_.runs(agent));  // N1
}

void CoherentNode::keep_quantum(std::uint32_t agent) {
  if (cores_.shares(agent) && cores_.must_leave(agent, now())) {
    leave_and_return(agent, Cores::Leave::kReady);
  }
}

}  // namespace keyway::fabric::sim
