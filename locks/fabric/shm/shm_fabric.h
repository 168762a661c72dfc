// The shm fabric: ranks are parts of one process's memory, agents are its threads and fibers.
//
// *What.* ShmFabric owns one segment per rank; ShmEndpoint is an agent's handle. The two access
// classes coincide, every rank is local, and a posted operation is complete when it returns.
// *Thread safety.* ShmFabric::endpoint() may be called from any thread; see endpoint.h for the
// endpoint. The fabric outlives its endpoints.
// *Invariants.* E1..E6 of endpoint.h.
// *Source.* Design section 4, rule 3.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "keyway/locks/base/status.h"
#include "keyway/locks/base/topology.h"
#include "keyway/locks/fabric/agent_slots.h"
#include "keyway/locks/fabric/endpoint.h"
#include "keyway/locks/fabric/segment.h"
#include "keyway/locks/fabric/wait.h"
#include "keyway/locks/fabric/word_ops.h"

namespace keyway::fabric {

class ShmEndpoint;

namespace detail {

/// Gives a mapping back to the system.
struct Unmap {
  std::uint64_t bytes = 0;
  void operator()(std::byte* base) const;
};

}  // namespace detail

class ShmFabric {
 public:
  using Endpoint = ShmEndpoint;

  struct Options {
    std::uint32_t ranks = 1;
    std::uint64_t segment_bytes = 0;  // SegmentLayout::size()
    std::uint32_t agents_per_rank = kDefaultAgentsPerRank;
    std::string topology;  // Topology::override_with; "" puts all ranks on one node
  };

  /// Segments are zeroed. Fails when the memory cannot be had or an option is out of bounds.
  static Result<ShmFabric> create(const Options& options);
  ShmFabric(ShmFabric&&) noexcept = default;
  ShmFabric& operator=(ShmFabric&&) noexcept = default;

  /// An endpoint for a new agent with home `rank`.
  Result<ShmEndpoint> endpoint(std::uint32_t rank);

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(bases_.size()); }
  /// The home rank of this process's agents by default.
  std::uint32_t rank() const { return 0; }
  const Topology& topology() const { return *topology_; }
  std::uint64_t segment_bytes() const { return segment_bytes_; }

 private:
  ShmFabric() = default;

  std::unique_ptr<std::byte, detail::Unmap> memory_;
  std::vector<std::byte*> bases_;
  std::vector<std::unique_ptr<AgentSlots>> slots_;
  std::unique_ptr<Topology> topology_;
  std::uint64_t segment_bytes_ = 0;
};

class ShmEndpoint {
 public:
  // --- 8-byte words: one implementation serves both classes.
  template <class Class>
  std::uint64_t load(Class, Address a) {
    return words::load(at(a));
  }
  template <class Class>
  void store(Class, Address a, std::uint64_t v) {
    words::store(at(a), v);
  }
  template <class Class>
  std::uint64_t swap(Class, Address a, std::uint64_t v) {
    return words::swap(at(a), v);
  }
  template <class Class>
  std::uint64_t fetch_add(Class, Address a, std::uint64_t v) {
    return words::fetch_add(at(a), v);
  }
  template <class Class>
  std::uint64_t fetch_or(Class, Address a, std::uint64_t v) {
    return words::fetch_or(at(a), v);
  }
  template <class Class>
  std::uint64_t compare_swap(Class, Address a, std::uint64_t expected, std::uint64_t desired) {
    return words::compare_swap(at(a), expected, desired);
  }

  template <class Class>
  Pending post_load(Class c, Address a) {
    return done(a, load(c, a));
  }
  template <class Class>
  void post_store(Class c, Address a, std::uint64_t v) {
    store(c, a, v);
  }
  template <class Class>
  Pending post_swap(Class c, Address a, std::uint64_t v) {
    return done(a, swap(c, a, v));
  }
  template <class Class>
  Pending post_fetch_add(Class c, Address a, std::uint64_t v) {
    return done(a, fetch_add(c, a, v));
  }
  template <class Class>
  Pending post_fetch_or(Class c, Address a, std::uint64_t v) {
    return done(a, fetch_or(c, a, v));
  }
  template <class Class>
  Pending post_compare_swap(Class c, Address a, std::uint64_t expected, std::uint64_t desired) {
    return done(a, compare_swap(c, a, expected, desired));
  }

  // --- bytes
  template <class Class>
  void read(Class, Address a, std::span<std::byte> out) {
    if (out.empty()) return;
    KW_DCHECK(a.offset() + out.size() <= segment_bytes_);
    words::load_bytes(at(a), out);
  }
  template <class Class>
  [[gnu::always_inline]] void write(Class, Address a, std::span<const std::byte> in) {
    if (in.empty()) return;
    KW_DCHECK(a.offset() + in.size() <= segment_bytes_);
    words::store_bytes(at(a), in);
  }
  template <class Class>
  PendingBytes post_read(Class c, Address a, std::span<std::byte> out) {
    read(c, a, out);
    return {a.rank(), 0, out};
  }
  template <class Class>
  void post_write(Class c, Address a, std::span<const std::byte> in) {
    write(c, a, in);
  }

  // --- completion. Every operation is complete when it returns, and stores release, so a flush
  // has nothing to do; fence() and order() are what orders a store before a later load.
  Flushed flush(std::uint32_t rank) { return {rank, 0}; }
  void flush_all() {}
  // seq_cst read-modify-write on a private word rather than a bare fence: the same instruction
  // cost, and ThreadSanitizer understands it.
  void fence() { fence_word_->fetch_add(1, std::memory_order_seq_cst); }
  void order(std::uint32_t) { fence(); }
  void push(std::uint32_t) {}
  std::optional<Flushed> flush_idle(std::uint32_t rank, Deadline) { return flush(rank); }
  std::optional<Flushed> flush_until(std::uint32_t rank, Deadline) { return flush(rank); }
  /// Every rank answers, and a flush gives nothing up.
  void keep(std::uint32_t, const std::shared_ptr<void>&) {}
  bool answers(std::uint32_t, Deadline) { return true; }
  void note_answer(std::uint32_t, std::uint64_t) {}
  Traffic traffic() const { return {}; }
  /// No flush takes time.
  void overlap(std::size_t n, Overlap::Body body) {
    for (std::size_t i = 0; i < n; ++i) body(i);
  }

  // --- waiting
  template <class Predicate>
  WaitResult wait_until(Address own_word, Predicate&& predicate, Deadline deadline) {
    KW_DCHECK(own_word.rank() == rank_);
    return wait_for(own_word, predicate, deadline);
  }
  template <class Predicate>
  WaitResult wait_until_remote(Address word, Predicate&& predicate, const Backoff& backoff,
                               Deadline deadline) {
    return watch_remote(*this, word, predicate, backoff, deadline);
  }
  template <class Attempt>
  bool retry_until(Attempt&& attempt, const Backoff& backoff, Deadline deadline) {
    return retry_loop(
        attempt, [] {}, backoff, agent().word(), deadline);
  }
  std::uint64_t now_ns() const { return steady_ns(); }
  std::uint64_t wall_ms() const { return keyway::wall_ms(); }

  // --- locality
  bool is_local(std::uint32_t) const { return true; }
  bool one_class() const { return true; }
  const std::byte* view(Address a) const { return at(a); }
  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return ranks_; }
  AgentId agent() const { return {rank_, hold_.slot()}; }
  const Topology& topology() const { return *topology_; }

 private:
  friend class ShmFabric;
  ShmEndpoint() = default;

  std::byte* at(Address a) const {
    KW_DCHECK(a.rank() < ranks_ && a.offset() < segment_bytes_);
    return bases_[a.rank()] + a.offset();
  }
  static Pending done(Address a, std::uint64_t value) { return Pending::known(a.rank(), 0, value); }

  template <class Predicate>
  WaitResult wait_for(Address word, Predicate& predicate, Deadline deadline) {
    WaitResult result;
    result.expired =
        !wait_loop([&] { return predicate(result.value = load(cpu, word)); }, [] {}, deadline);
    return result;
  }

  std::byte* const* bases_ = nullptr;
  const Topology* topology_ = nullptr;
  std::uint64_t segment_bytes_ = 0;
  std::uint32_t rank_ = 0;
  std::uint32_t ranks_ = 0;
  SlotHold hold_;
  std::unique_ptr<std::atomic<std::uint64_t>> fence_word_ =
      std::make_unique<std::atomic<std::uint64_t>>(0);
};

static_assert(fabric::Endpoint<ShmEndpoint>);

}  // namespace keyway::fabric
