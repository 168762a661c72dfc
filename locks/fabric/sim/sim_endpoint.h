// SimEndpoint: an agent of a simulated machine. Every operation becomes data and goes to the
// engine.
//
// *What.* The endpoint concept over sim::Engine. Rank r's memory is local to the agents of the
// ranks of its node, by the topology.
// *Thread safety.* As engine.h says.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "keyway/locks/base/topology.h"
#include "keyway/locks/fabric/agent_slots.h"
#include "keyway/locks/fabric/endpoint.h"
#include "keyway/locks/fabric/sim/engine.h"

namespace keyway::fabric {

class SimEndpoint {
 public:
  /// A result slot serves the operation that many later, as on a real network; of an agent that
  /// overlaps its operations, as many for each body.
  static constexpr std::size_t kResultSlots = 64;

  /// `agent` is the engine's number of this agent.
  SimEndpoint(sim::Engine& engine, std::uint32_t agent, AgentId id, const Topology& topology)
      : engine_(&engine), agent_(agent), id_(id), topology_(&topology), results_(kResultSlots) {}
  /// An endpoint of `rank` for whichever agent calls it; keeps its slot there.
  SimEndpoint(sim::Engine& engine, SlotHold hold, std::uint32_t rank, const Topology& topology)
      : SimEndpoint(engine, sim::Engine::kCaller, {rank, hold.slot()}, topology) {
    hold_ = std::move(hold);
    unfinished_.reset(&engine);
  }

  // --- 8-byte words
  template <class C>
  std::uint64_t load(C, Address a) {
    return perform<C>(sim::OpKind::kLoad, a, 0);
  }
  template <class C>
  void store(C, Address a, std::uint64_t v) {
    perform<C>(sim::OpKind::kStore, a, v);
  }
  template <class C>
  std::uint64_t swap(C, Address a, std::uint64_t v) {
    return perform<C>(sim::OpKind::kSwap, a, v);
  }
  template <class C>
  std::uint64_t fetch_add(C, Address a, std::uint64_t v) {
    return perform<C>(sim::OpKind::kAdd, a, v);
  }
  template <class C>
  std::uint64_t fetch_or(C, Address a, std::uint64_t v) {
    return perform<C>(sim::OpKind::kOr, a, v);
  }
  template <class C>
  std::uint64_t compare_swap(C, Address a, std::uint64_t expected, std::uint64_t desired) {
    return perform<C>(sim::OpKind::kCompareSwap, a, desired, expected);
  }

  template <class C>
  Pending post_load(C, Address a) {
    return post<C>(sim::OpKind::kLoad, a, 0);
  }
  template <class C>
  void post_store(C, Address a, std::uint64_t v) {
    post<C>(sim::OpKind::kStore, a, v);
  }
  template <class C>
  Pending post_swap(C, Address a, std::uint64_t v) {
    return post<C>(sim::OpKind::kSwap, a, v);
  }
  template <class C>
  Pending post_fetch_add(C, Address a, std::uint64_t v) {
    return post<C>(sim::OpKind::kAdd, a, v);
  }
  template <class C>
  Pending post_fetch_or(C, Address a, std::uint64_t v) {
    return post<C>(sim::OpKind::kOr, a, v);
  }
  template <class C>
  Pending post_compare_swap(C, Address a, std::uint64_t expected, std::uint64_t desired) {
    return post<C>(sim::OpKind::kCompareSwap, a, desired, expected);
  }

  // --- bytes
  template <class C>
  void read(C, Address a, std::span<std::byte> out) {
    if (!out.empty()) perform_bytes<C>(read_of<C>(a, out));
  }
  template <class C>
  void write(C, Address a, std::span<const std::byte> in) {
    if (!in.empty()) perform_bytes<C>(write_of<C>(a, in));
  }
  template <class C>
  PendingBytes post_read(C, Address a, std::span<std::byte> out) {
    if (!out.empty()) post(read_of<C>(a, out), nullptr);
    return {a.rank(), sequence_, out};
  }
  template <class C>
  void post_write(C, Address a, std::span<const std::byte> in) {
    if (!in.empty()) post(write_of<C>(a, in), nullptr);
  }

  // --- completion
  Flushed flush(std::uint32_t rank) {
    if (overlap_.in_body()) {
      overlap_.flush(rank);
    } else {
      complete(rank);
    }
    return {rank, sequence_};
  }
  std::optional<Flushed> flush_idle(std::uint32_t rank, Deadline) { return flush(rank); }
  std::optional<Flushed> flush_until(std::uint32_t rank, Deadline) { return flush(rank); }
  /// Every rank answers, and a flush gives nothing up.
  void keep(std::uint32_t, const std::shared_ptr<void>&) {}
  bool answers(std::uint32_t, Deadline) { return true; }
  void note_answer(std::uint32_t, std::uint64_t) {}
  void flush_all() {
    if (overlap_.in_body()) return overlap_.flush_all();
    complete_all();
  }
  Traffic traffic() const { return traffic_; }
  void fence() {
    flush_all();
    overlap_.make([&] { engine_->fence(agent_); });
  }
  void order(std::uint32_t rank) {
    if (engine_->orders_by_flush()) return static_cast<void>(flush(rank));
    overlap_.make([&] { engine_->order(agent_, rank); });
  }
  /// A posted operation happens by itself.
  void push(std::uint32_t) {}
  void overlap(std::size_t n, Overlap::Body body) {
    if (n > 1 && !overlap_.in_body() && results_.size() == kResultSlots) {
      flush_all();
      results_ = std::vector<ResultSlot>(Overlap::kMaxBodies * kResultSlots);
    }
    overlap_.run(n, body,
                 {[this](std::uint32_t rank) { complete(rank); }, [this] { complete_all(); }});
  }

  // --- waiting
  template <class P>
  WaitResult wait_until(Address own_word, P&& predicate, Deadline deadline) {
    KW_DCHECK(own_word.rank() == rank());
    return overlap_.wait([&] {
      return engine_->wait(agent_, own_word, sim::PredicateRef::to(predicate), deadline);
    });
  }
  template <class P>
  WaitResult wait_until_remote(Address word, P&& predicate, const Backoff& backoff,
                               Deadline deadline) {
    BackoffSteps steps(backoff, id_.word() ^ engine_->salt());
    return overlap_.wait([&] {
      return engine_->wait_remote(agent_, word, sim::PredicateRef::to(predicate), steps, deadline);
    });
  }
  template <class A>
  bool retry_until(A&& attempt, const Backoff& backoff, Deadline deadline) {
    BackoffSteps steps(backoff, id_.word() ^ engine_->salt());
    return overlap_.wait([&] {
      while (true) {
        engine_->attempt_begins(agent_);
        const std::uint64_t used = sequence_;
        if (attempt()) {
          engine_->attempt_succeeded(agent_);
          return true;
        }
        // It has flushed what it posted. Other bodies may have posted meanwhile.
        if (engine_->attempts_are_equal() && !overlap_.in_body()) sequence_ = used;
        deadline = deadline.started(now_ns());  // a span begins at the first failure, and once
        if (!engine_->attempt_failed(agent_, steps.next_ns(), deadline)) return false;
      }
    });
  }
  std::uint64_t now_ns() const { return engine_->now_ns(agent_); }
  /// A simulation begins at midnight of the first of January 1970.
  std::uint64_t wall_ms() const { return now_ns() / 1'000'000; }
  /// With nothing outstanding: result slots are used from the first one again, so that what an
  /// agent does over and over is the same every time.
  void rewind() { sequence_ = 0; }
  /// Posted since.
  std::uint64_t posted() const { return sequence_; }

  // --- locality
  bool is_local(std::uint32_t rank) const { return topology_->same_node(rank, id_.rank); }
  bool one_class() const { return engine_->one_class(); }
  /// Calling it is a load of the word at `a`: the engine decides when it happens. Reads through
  /// the pointer until this agent's next operation happen at that instant (ORDERING.md).
  const std::byte* view(Address a) const {
    const Address word(a.rank(), a.offset() / 8 * 8);
    overlap_.make([&] { engine_->perform(agent_, operation<CpuClass>(sim::OpKind::kLoad, word)); });
    return engine_->memory().view(a);
  }
  std::uint32_t rank() const { return id_.rank; }
  std::uint32_t ranks() const { return topology_->ranks(); }
  AgentId agent() const { return id_; }
  const Topology& topology() const { return *topology_; }

 private:
  void complete(std::uint32_t rank) {
    if (const auto at = std::find(awaited_.begin(), awaited_.end(), rank); at != awaited_.end()) {
      awaited_.erase(at);
      ++traffic_.round_trips;
    }
    engine_->flush(agent_, rank);
  }
  void complete_all() {
    traffic_.round_trips += awaited_.empty() ? 0 : 1;
    awaited_.clear();
    engine_->flush_all(agent_);
  }
  /// Counts an operation that goes through the fabric, if it does. `waits`: it is complete on
  /// return.
  void sends(const sim::Operation& op, bool waits) {
    const std::uint32_t rank = op.at.rank();
    if (op.access != sim::OpClass::kRma) return;
    if (is_local(rank)) {
      ++traffic_.loopbacks;
      return;
    }
    ++traffic_.messages;
    if (waits) {
      ++traffic_.round_trips;
    } else if (std::find(awaited_.begin(), awaited_.end(), rank) == awaited_.end()) {
      awaited_.push_back(rank);
    }
  }
  /// An operation of class C; its operands are for the caller to fill in.
  template <class C>
  sim::Operation operation(sim::OpKind kind, Address a) const {
    constexpr bool kByCpu = std::is_same_v<C, CpuClass>;
    if constexpr (kByCpu) KW_CHECK(is_local(a.rank()));
    return {.kind = kind, .access = kByCpu ? sim::OpClass::kCpu : sim::OpClass::kRma, .at = a};
  }
  template <class C>
  sim::Operation word(sim::OpKind kind, Address a, std::uint64_t operand,
                      std::uint64_t expected) const {
    sim::Operation op = operation<C>(kind, a);
    op.operand = operand;
    op.expected = expected;
    return op;
  }
  template <class C>
  sim::Operation read_of(Address a, std::span<std::byte> out) const {
    sim::Operation op = operation<C>(sim::OpKind::kRead, a);
    op.out = out.data();
    op.bytes = out.size();
    return op;
  }
  template <class C>
  sim::Operation write_of(Address a, std::span<const std::byte> in) const {
    sim::Operation op = operation<C>(sim::OpKind::kWrite, a);
    op.in = in.data();
    op.bytes = in.size();
    return op;
  }
  template <class C>
  std::uint64_t perform(sim::OpKind kind, Address a, std::uint64_t operand,
                        std::uint64_t expected = 0) {
    if (std::is_same_v<C, RmaClass> && overlap_.in_body()) {
      const Pending pending = post<C>(kind, a, operand, expected);
      return pending.value(flush(a.rank()));
    }
    const sim::Operation op = word<C>(kind, a, operand, expected);
    sends(op, /*waits=*/true);
    std::uint64_t value = 0;
    overlap_.make([&] { value = engine_->perform(agent_, op); });
    return value;
  }
  template <class C>
  void perform_bytes(const sim::Operation& op) {
    if (std::is_same_v<C, RmaClass> && overlap_.in_body()) {
      post(op, nullptr);
      flush(op.at.rank());
    } else {
      sends(op, /*waits=*/true);
      overlap_.make([&] { engine_->perform(agent_, op); });
    }
  }
  void post(const sim::Operation& op, ResultSlot* result) {
    sends(op, /*waits=*/false);
    overlap_.make([&] { engine_->post(agent_, op, result); });
  }
  template <class C>
  Pending post(sim::OpKind kind, Address a, std::uint64_t operand, std::uint64_t expected = 0) {
    if (sequence_ % results_.size() == 0 && sequence_ != 0) flush_all();  // none outlives its slot
    ResultSlot* result = &results_[sequence_++ % results_.size()];
    result->sequence = sequence_;
    post(word<C>(kind, a, operand, expected), result);
    return Pending::at(a.rank(), sequence_, result);
  }

  struct FlushAll {
    void operator()(sim::Engine* engine) const { engine->flush_all(sim::Engine::kCaller); }
  };

  sim::Engine* engine_;
  std::uint32_t agent_;
  AgentId id_;
  const Topology* topology_;
  std::uint64_t sequence_ = 0;
  std::vector<ResultSlot> results_;
  Traffic traffic_;
  std::vector<std::uint32_t> awaited_;  // ranks to which something is under way
  mutable Overlap overlap_;             // engines suspend the agent on its own stack
  SlotHold hold_;
  // Last, so that what was posted has happened before the results' place goes.
  std::unique_ptr<sim::Engine, FlushAll> unfinished_;
};

static_assert(Endpoint<SimEndpoint>);

}  // namespace keyway::fabric
