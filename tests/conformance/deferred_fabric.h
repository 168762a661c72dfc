// A fabric as lazy as the endpoint concept allows: the adversary of locks on shared memory.
//
// *What.* Wraps ShmFabric. A posted operation happens at the flush and not before (or at once,
// one time in four), in any order that order() leaves; no rank but the agent's own is local, and
// the `cpu` class elsewhere is a broken invariant; before every operation the agent may give way,
// by the seed. On fibers the schedule is a function of the seed, so a failure replays. *Thread
// safety.* As endpoint.h says.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "keyway/locks/base/check.h"
#include "keyway/locks/fabric/shm/shm_fabric.h"
#include "tests/support/own_memory.h"

namespace keyway::conformance {

class DeferredEndpoint {
 public:
  static constexpr std::size_t kResultSlots = 64;

  DeferredEndpoint(fabric::ShmEndpoint inner, std::uint64_t seed, std::uint64_t segment_bytes)
      : inner_(std::move(inner)),
        segment_bytes_(segment_bytes),
        rng_(seed * 7919 + inner_.agent().word()),
        epochs_(inner_.ranks(), 0) {}

  template <class C>
  std::uint64_t load(C c, fabric::Address a) {
    return shaken(c, a).load(c, a);
  }
  template <class C>
  void store(C c, fabric::Address a, std::uint64_t v) {
    shaken(c, a).store(c, a, v);
  }
  template <class C>
  std::uint64_t swap(C c, fabric::Address a, std::uint64_t v) {
    return shaken(c, a).swap(c, a, v);
  }
  template <class C>
  std::uint64_t fetch_add(C c, fabric::Address a, std::uint64_t v) {
    return shaken(c, a).fetch_add(c, a, v);
  }
  template <class C>
  std::uint64_t fetch_or(C c, fabric::Address a, std::uint64_t v) {
    return shaken(c, a).fetch_or(c, a, v);
  }
  template <class C>
  std::uint64_t compare_swap(C c, fabric::Address a, std::uint64_t expected,
                             std::uint64_t desired) {
    return shaken(c, a).compare_swap(c, a, expected, desired);
  }

  template <class C>
  fabric::Pending post_load(C c, fabric::Address a) {
    return post(a, [=, this] { return inner_.load(c, a); });
  }
  template <class C>
  void post_store(C c, fabric::Address a, std::uint64_t v) {
    post(a, [=, this] { return inner_.store(c, a, v), 0; });
  }
  template <class C>
  fabric::Pending post_swap(C c, fabric::Address a, std::uint64_t v) {
    return post(a, [=, this] { return inner_.swap(c, a, v); });
  }
  template <class C>
  fabric::Pending post_fetch_add(C c, fabric::Address a, std::uint64_t v) {
    return post(a, [=, this] { return inner_.fetch_add(c, a, v); });
  }
  template <class C>
  fabric::Pending post_fetch_or(C c, fabric::Address a, std::uint64_t v) {
    return post(a, [=, this] { return inner_.fetch_or(c, a, v); });
  }
  template <class C>
  fabric::Pending post_compare_swap(C c, fabric::Address a, std::uint64_t expected,
                                    std::uint64_t desired) {
    return post(a, [=, this] { return inner_.compare_swap(c, a, expected, desired); });
  }

  /// Bytes that bulk operations have moved to or from other ranks.
  std::uint64_t bytes_moved() const { return bytes_moved_; }

  template <class C>
  void read(C c, fabric::Address a, std::span<std::byte> out) {
    moved(a, out.size());
    shaken(c, a).read(c, a, out);
  }
  template <class C>
  void write(C c, fabric::Address a, std::span<const std::byte> in) {
    moved(a, in.size());
    shaken(c, a).write(c, a, in);
  }
  template <class C>
  fabric::PendingBytes post_read(C c, fabric::Address a, std::span<std::byte> out) {
    moved(a, out.size());
    post(a, [=, this] { return inner_.read(c, a, out), 0; });
    return {a.rank(), sequence_, out};
  }
  template <class C>
  void post_write(C c, fabric::Address a, std::span<const std::byte> in) {
    moved(a, in.size());
    post(a, [=, this] { return inner_.write(c, a, in), 0; });
  }

  fabric::Flushed flush(std::uint32_t rank) {
    shake();
    complete([rank](const Posted& posted) { return posted.rank == rank; });
    return {rank, sequence_};
  }
  void flush_all() {
    shake();
    complete([](const Posted&) { return true; });
  }
  void fence() {
    flush_all();
    inner_.fence();
  }
  void push(std::uint32_t rank) { flush(rank); }
  std::optional<fabric::Flushed> flush_idle(std::uint32_t rank, Deadline) { return flush(rank); }
  std::optional<fabric::Flushed> flush_until(std::uint32_t rank, Deadline) { return flush(rank); }
  /// Every rank answers, and a flush gives nothing up.
  void keep(std::uint32_t, const std::shared_ptr<void>&) {}
  bool answers(std::uint32_t, Deadline) { return true; }
  void note_answer(std::uint32_t, std::uint64_t) {}
  fabric::Traffic traffic() const { return {}; }
  void overlap(std::size_t n, fabric::Overlap::Body body) {
    for (std::size_t i = 0; i < n; ++i) body(i);
  }
  void order(std::uint32_t rank) {
    ++epochs_[rank];
    inner_.order(rank);
  }

  template <class P>
  fabric::WaitResult wait_until(fabric::Address own_word, P&& predicate, Deadline deadline) {
    KW_CHECK(own_word.rank() == rank());
    shake();
    return inner_.wait_until(own_word, predicate, deadline);
  }
  template <class P>
  fabric::WaitResult wait_until_remote(fabric::Address word, P&& predicate,
                                       const fabric::Backoff& backoff, Deadline deadline) {
    shake();
    return inner_.wait_until_remote(word, predicate, backoff, deadline);
  }
  template <class A>
  bool retry_until(A&& attempt, const fabric::Backoff& backoff, Deadline deadline) {
    return inner_.retry_until(attempt, backoff, deadline);
  }
  std::uint64_t now_ns() const { return inner_.now_ns(); }
  std::uint64_t wall_ms() const { return inner_.wall_ms(); }

  bool is_local(std::uint32_t rank) const { return rank == inner_.rank(); }
  bool one_class() const { return false; }
  const std::byte* view(fabric::Address a) const {
    KW_CHECK(is_local(a.rank()));
    return inner_.view(a);
  }
  std::uint32_t rank() const { return inner_.rank(); }
  std::uint32_t ranks() const { return inner_.ranks(); }
  fabric::AgentId agent() const { return inner_.agent(); }
  const Topology& topology() const { return inner_.topology(); }

 private:
  struct Posted {
    std::uint32_t rank;
    std::uint64_t epoch;  // order() calls for the rank before it
    std::function<void()> happen;
  };

  void moved(fabric::Address a, std::uint64_t bytes) {
    // A network refuses what memory behind a segment would hide.
    KW_CHECK(bytes <= segment_bytes_ && a.offset() <= segment_bytes_ - bytes);
    if (!is_local(a.rank())) bytes_moved_ += bytes;
  }
  void shake() {
    if (rng_.below(4) == 0) fabric::give_way();
  }
  template <class C>
  fabric::ShmEndpoint& shaken(C, fabric::Address a) {
    if constexpr (std::is_same_v<C, fabric::CpuClass>) KW_CHECK(is_local(a.rank()));
    shake();
    complete_before(a.rank());
    return inner_;
  }
  template <class Operation>
  fabric::Pending post(fabric::Address a, Operation operation) {
    shake();
    if (sequence_ % kResultSlots == 0) flush_all();  // no operation outlives its slot
    const test::OwnMemory own;
    fabric::ResultSlot* result = &results_[sequence_++ % kResultSlots];
    result->sequence = sequence_;
    std::function<void()> happen = [operation, result] { result->value = operation(); };
    if (rng_.below(4) == 0) {
      complete_before(a.rank());
      happen();
    } else {
      posted_.push_back({a.rank(), epochs_[a.rank()], std::move(happen)});
    }
    return fabric::Pending::at(a.rank(), sequence_, result);
  }
  /// Operations before the last order() of the rank: they must happen before anything else there.
  void complete_before(std::uint32_t rank) {
    const auto before = [&](const Posted& posted) {
      return posted.rank == rank && posted.epoch < epochs_[rank];
    };
    if (std::any_of(posted_.begin(), posted_.end(), before)) complete(before);
  }
  template <class Which>
  void complete(Which which) {
    const test::OwnMemory own;
    for (std::size_t left = posted_.size(); left > 1; --left) {
      std::swap(posted_[left - 1], posted_[rng_.below(left)]);
    }
    std::stable_sort(posted_.begin(), posted_.end(),
                     [](const Posted& a, const Posted& b) { return a.epoch < b.epoch; });
    std::erase_if(posted_, [&](const Posted& posted) {
      if (!which(posted)) return false;
      posted.happen();
      return true;
    });
  }

  fabric::ShmEndpoint inner_;
  std::uint64_t segment_bytes_;
  Rng rng_;
  std::uint64_t sequence_ = 0;
  std::uint64_t bytes_moved_ = 0;
  std::vector<std::uint64_t> epochs_;  // by rank
  std::vector<Posted> posted_;
  // A slot serves the operation kResultSlots later, as on a real network. Stable under moves.
  std::vector<fabric::ResultSlot> results_ = std::vector<fabric::ResultSlot>(kResultSlots);
};

class DeferredFabric {
 public:
  using Endpoint = DeferredEndpoint;
  struct Options : fabric::ShmFabric::Options {
    std::uint64_t seed = 1;
  };

  static Result<DeferredFabric> create(const Options& options) {
    auto inner = fabric::ShmFabric::create(options);
    if (!inner.ok()) return inner.status();
    return DeferredFabric(std::move(*inner), options.seed);
  }
  Result<DeferredEndpoint> endpoint(std::uint32_t rank) {
    auto inner = inner_.endpoint(rank);
    if (!inner.ok()) return inner.status();
    return DeferredEndpoint(std::move(*inner), seed_, inner_.segment_bytes());
  }

 private:
  DeferredFabric(fabric::ShmFabric inner, std::uint64_t seed)
      : inner_(std::move(inner)), seed_(seed) {}

  fabric::ShmFabric inner_;
  std::uint64_t seed_;
};

}  // namespace keyway::conformance
