// CountingEndpoint: an endpoint that counts its agent's operations by type, class and level.
//
// *What.* Wraps an endpoint of any fabric and satisfies the same concept, so a lock runs on it
// unchanged. The level of an operation is the finest level of the topology that the agent's rank
// and the target share; an operation on the agent's own rank has its own level, the last. A poll of
// a word from within a wait counts as a look, not as a load: on a word of the own rank it costs the
// fabric nothing. Code that does not count uses the bare endpoint and pays nothing.
// *Thread safety.* As the wrapped endpoint.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "keyway/locks/fabric/endpoint.h"
#include "keyway/locks/fabric/sim/operation.h"

namespace keyway::fabric {

/// Counters by level: index i - 1 of level i, and one more for the agent's own rank.
class OpCounts {
 public:
  static constexpr std::size_t kKinds = 8;
  static constexpr std::size_t kClasses = 2;
  using Row = std::vector<std::uint64_t>;

  OpCounts() = default;
  explicit OpCounts(std::size_t levels) {
    looks.resize(levels);
    flushes.resize(levels);
    for (auto& kinds : operations) {
      for (Row& row : kinds) row.resize(levels);
    }
  }

  Row& of(sim::OpClass access, sim::OpKind kind) {
    return operations[static_cast<std::size_t>(access)][static_cast<std::size_t>(kind)];
  }
  const Row& of(sim::OpClass access, sim::OpKind kind) const {
    return operations[static_cast<std::size_t>(access)][static_cast<std::size_t>(kind)];
  }
  std::size_t levels() const { return looks.size(); }

  /// Adds the counters of another agent of the same topology; an object without levels takes them
  /// over.
  OpCounts& operator+=(const OpCounts& other) {
    if (levels() == 0) return *this = other;
    for (std::size_t i = 0; i < kClasses; ++i) {
      for (std::size_t k = 0; k < kKinds; ++k) add(operations[i][k], other.operations[i][k]);
    }
    add(looks, other.looks);
    add(flushes, other.flushes);
    return *this;
  }

  std::array<std::array<Row, kKinds>, kClasses> operations;  // by OpClass, OpKind
  Row looks;                                                 // polls of a word by waits
  Row flushes;  // flushes of one rank; flush_all is not counted

 private:
  static void add(Row& into, const Row& from) {
    for (std::size_t i = 0; i < std::min(into.size(), from.size()); ++i) into[i] += from[i];
  }
};

template <Endpoint E>
class CountingEndpoint {
 public:
  explicit CountingEndpoint(E inner)
      : inner_(std::move(inner)), counts_(inner_.topology().levels() + 1) {
    const Topology& map = inner_.topology();
    for (std::uint32_t rank = 0; rank < map.ranks(); ++rank) {
      std::uint32_t level = map.levels();
      while (level > 1 && map.element(rank, level) != map.element(inner_.rank(), level)) --level;
      level_of_.push_back(rank == inner_.rank() ? map.levels() : level - 1);
    }
  }

  const OpCounts& counts() const { return counts_; }
  /// Resets all counters.
  void clear_counts() { counts_ = OpCounts(counts_.levels()); }

  // --- 8-byte words
  template <class C>
  std::uint64_t load(C c, Address a) {
    return counted<C>(sim::OpKind::kLoad, a).load(c, a);
  }
  template <class C>
  void store(C c, Address a, std::uint64_t v) {
    counted<C>(sim::OpKind::kStore, a).store(c, a, v);
  }
  template <class C>
  std::uint64_t swap(C c, Address a, std::uint64_t v) {
    return counted<C>(sim::OpKind::kSwap, a).swap(c, a, v);
  }
  template <class C>
  std::uint64_t fetch_add(C c, Address a, std::uint64_t v) {
    return counted<C>(sim::OpKind::kAdd, a).fetch_add(c, a, v);
  }
  template <class C>
  std::uint64_t fetch_or(C c, Address a, std::uint64_t v) {
    return counted<C>(sim::OpKind::kOr, a).fetch_or(c, a, v);
  }
  template <class C>
  std::uint64_t compare_swap(C c, Address a, std::uint64_t expected, std::uint64_t desired) {
    return counted<C>(sim::OpKind::kCompareSwap, a).compare_swap(c, a, expected, desired);
  }
  template <class C>
  Pending post_load(C c, Address a) {
    return counted<C>(sim::OpKind::kLoad, a).post_load(c, a);
  }
  template <class C>
  void post_store(C c, Address a, std::uint64_t v) {
    counted<C>(sim::OpKind::kStore, a).post_store(c, a, v);
  }
  template <class C>
  Pending post_swap(C c, Address a, std::uint64_t v) {
    return counted<C>(sim::OpKind::kSwap, a).post_swap(c, a, v);
  }
  template <class C>
  Pending post_fetch_add(C c, Address a, std::uint64_t v) {
    return counted<C>(sim::OpKind::kAdd, a).post_fetch_add(c, a, v);
  }
  template <class C>
  Pending post_fetch_or(C c, Address a, std::uint64_t v) {
    return counted<C>(sim::OpKind::kOr, a).post_fetch_or(c, a, v);
  }
  template <class C>
  Pending post_compare_swap(C c, Address a, std::uint64_t expected, std::uint64_t desired) {
    return counted<C>(sim::OpKind::kCompareSwap, a).post_compare_swap(c, a, expected, desired);
  }

  // --- bytes
  template <class C>
  void read(C c, Address a, std::span<std::byte> out) {
    counted<C>(sim::OpKind::kRead, a).read(c, a, out);
  }
  template <class C>
  void write(C c, Address a, std::span<const std::byte> in) {
    counted<C>(sim::OpKind::kWrite, a).write(c, a, in);
  }
  template <class C>
  PendingBytes post_read(C c, Address a, std::span<std::byte> out) {
    return counted<C>(sim::OpKind::kRead, a).post_read(c, a, out);
  }
  template <class C>
  void post_write(C c, Address a, std::span<const std::byte> in) {
    counted<C>(sim::OpKind::kWrite, a).post_write(c, a, in);
  }

  // --- completion
  Flushed flush(std::uint32_t rank) {
    ++counts_.flushes[level_of_[rank]];
    return inner_.flush(rank);
  }
  std::optional<Flushed> flush_idle(std::uint32_t rank, Deadline deadline) {
    ++counts_.flushes[level_of_[rank]];
    return inner_.flush_idle(rank, deadline);
  }
  std::optional<Flushed> flush_until(std::uint32_t rank, Deadline deadline) {
    ++counts_.flushes[level_of_[rank]];
    return inner_.flush_until(rank, deadline);
  }
  void keep(std::uint32_t rank, const std::shared_ptr<void>& buffer) { inner_.keep(rank, buffer); }
  bool answers(std::uint32_t rank, Deadline deadline) { return inner_.answers(rank, deadline); }
  void note_answer(std::uint32_t rank, std::uint64_t since_ns) {
    inner_.note_answer(rank, since_ns);
  }
  void flush_all() { inner_.flush_all(); }
  void fence() { inner_.fence(); }
  void order(std::uint32_t rank) { inner_.order(rank); }
  void push(std::uint32_t rank) { inner_.push(rank); }
  void overlap(std::size_t n, Overlap::Body body) { inner_.overlap(n, body); }
  Traffic traffic() const { return inner_.traffic(); }

  // --- waiting
  template <class P>
  WaitResult wait_until(Address own_word, P&& predicate, Deadline deadline) {
    return inner_.wait_until(own_word, looking(own_word, predicate), deadline);
  }
  template <class P>
  WaitResult wait_until_remote(Address word, P&& predicate, const Backoff& backoff,
                               Deadline deadline) {
    return inner_.wait_until_remote(word, looking(word, predicate), backoff, deadline);
  }
  /// Attempts use this endpoint, so their operations are counted.
  template <class A>
  bool retry_until(A&& attempt, const Backoff& backoff, Deadline deadline) {
    return inner_.retry_until(std::forward<A>(attempt), backoff, deadline);
  }
  std::uint64_t now_ns() const { return inner_.now_ns(); }
  std::uint64_t wall_ms() const { return inner_.wall_ms(); }

  // --- locality
  bool is_local(std::uint32_t rank) const { return inner_.is_local(rank); }
  bool one_class() const { return inner_.one_class(); }
  const std::byte* view(Address a) const { return inner_.view(a); }
  std::uint32_t rank() const { return inner_.rank(); }
  std::uint32_t ranks() const { return inner_.ranks(); }
  AgentId agent() const { return inner_.agent(); }
  const Topology& topology() const { return inner_.topology(); }

 private:
  /// Counts an operation; returns the endpoint that executes it.
  template <class C>
  E& counted(sim::OpKind kind, Address a) {
    constexpr auto kAccess = std::is_same_v<C, CpuClass> ? sim::OpClass::kCpu : sim::OpClass::kRma;
    ++counts_.of(kAccess, kind)[level_of_[a.rank()]];
    return inner_;
  }
  template <class P>
  auto looking(Address word, P& predicate) {
    return [&looks = counts_.looks[level_of_[word.rank()]], &predicate](std::uint64_t v) {
      ++looks;
      return predicate(v);
    };
  }

  E inner_;
  OpCounts counts_;
  std::vector<std::uint32_t> level_of_;  // by rank: index into the counters
};

}  // namespace keyway::fabric
