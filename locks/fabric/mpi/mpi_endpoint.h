// MpiEndpoint: an agent's handle on the mpi fabric.
//
// *What.* The `cpu` class works directly on the memory of the agent's node. The `rma` class is the
// same if the whole job is one node (one_class()); else it goes through MPI, also to the agent's
// own rank, so that it is atomic with operations of other ranks.
//
// *Thread safety.* As endpoint.h says: one agent. Agents of one process share MpiInterface.
//
// *Invariants.* E1..E6 of endpoint.h, and
//   N1  An operand and a result live in a slot of the agent until the flush that completes them.
//       kResultSlots operations may be posted before the oldest slot is used again; a Pending is
//       read before that (by one of several bodies of overlap(): a part of 1 / Overlap::kMaxBodies
//       of them). Posting more than that without a flush makes the endpoint flush.
//   N2  wait_until returns a value that was confirmed through the rma class. A target's MPI may
//       write a word twice, with the same value, while it carries out one store (memcpy of 8 bytes
//       in the C library does): only an rma operation on the same word is sure to come after both,
//       and the caller's next step may be to overwrite the word.
//
// *Source.* Design section 4, rule 4; ORDERING.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include "keyway/locks/base/topology.h"
#include "keyway/locks/fabric/agent_slots.h"
#include "keyway/locks/fabric/endpoint.h"
#include "keyway/locks/fabric/gather.h"
#include "keyway/locks/fabric/mpi/mpi_interface.h"
#include "keyway/locks/fabric/mpi/mpi_wait.h"
#include "keyway/locks/fabric/mpi/rma_channel.h"
#include "keyway/locks/fabric/wait.h"
#include "keyway/locks/fabric/word_ops.h"

namespace keyway::fabric {

class MpiEndpoint {
 public:
  // --- 8-byte words
  template <class Class>
  std::uint64_t load(Class c, Address a) {
    if (direct(c)) return words::load(at(a));
    return channel_->word(WordOp::kLoad, a, 0);
  }
  template <class Class>
  void store(Class c, Address a, std::uint64_t v) {
    if (direct(c)) return words::store(at(a), v);
    channel_->word(WordOp::kStore, a, v);
  }
  template <class Class>
  std::uint64_t swap(Class c, Address a, std::uint64_t v) {
    if (direct(c)) return words::swap(at(a), v);
    return channel_->word(WordOp::kStore, a, v);
  }
  template <class Class>
  std::uint64_t fetch_add(Class c, Address a, std::uint64_t v) {
    if (direct(c)) return words::fetch_add(at(a), v);
    return channel_->word(WordOp::kAdd, a, v);
  }
  template <class Class>
  std::uint64_t fetch_or(Class c, Address a, std::uint64_t v) {
    if (direct(c)) return words::fetch_or(at(a), v);
    return channel_->word(WordOp::kOr, a, v);
  }
  template <class Class>
  std::uint64_t compare_swap(Class c, Address a, std::uint64_t expected, std::uint64_t desired) {
    if (direct(c)) return words::compare_swap(at(a), expected, desired);
    return channel_->compare_swap(a, expected, desired);
  }

  template <class Class>
  Pending post_load(Class c, Address a) {
    if (direct(c)) return known(a, words::load(at(a)));
    return channel_->post_word(WordOp::kLoad, a, 0);
  }
  template <class Class>
  void post_store(Class c, Address a, std::uint64_t v) {
    if (direct(c)) return words::store(at(a), v);
    channel_->post_word(WordOp::kStore, a, v);
  }
  template <class Class>
  Pending post_swap(Class c, Address a, std::uint64_t v) {
    if (direct(c)) return known(a, words::swap(at(a), v));
    return channel_->post_word(WordOp::kStore, a, v);
  }
  template <class Class>
  Pending post_fetch_add(Class c, Address a, std::uint64_t v) {
    if (direct(c)) return known(a, words::fetch_add(at(a), v));
    return channel_->post_word(WordOp::kAdd, a, v);
  }
  template <class Class>
  Pending post_fetch_or(Class c, Address a, std::uint64_t v) {
    if (direct(c)) return known(a, words::fetch_or(at(a), v));
    return channel_->post_word(WordOp::kOr, a, v);
  }
  template <class Class>
  Pending post_compare_swap(Class c, Address a, std::uint64_t expected, std::uint64_t desired) {
    if (direct(c)) return known(a, words::compare_swap(at(a), expected, desired));
    return channel_->post_compare_swap(a, expected, desired);
  }

  // --- bytes
  template <class Class>
  void read(Class c, Address a, std::span<std::byte> out) {
    if (out.empty()) return;
    if (direct(c)) {
      words::load_bytes(at(a, out.size()), out);
    } else {
      channel_->read(a, out);
    }
  }
  template <class Class>
  void write(Class c, Address a, std::span<const std::byte> in) {
    if (in.empty()) return;
    if (direct(c)) {
      words::store_bytes(at(a, in.size()), in);
    } else {
      channel_->write(a, in);
    }
  }
  template <class Class>
  PendingBytes post_read(Class c, Address a, std::span<std::byte> out) {
    if (direct(c) || out.empty()) {
      read(c, a, out);
      return {a.rank(), 0, out};
    }
    return channel_->post_read(a, out);
  }
  template <class Class>
  void post_write(Class c, Address a, std::span<const std::byte> in) {
    if (direct(c) || in.empty()) return write(c, a, in);
    channel_->post_write(a, in);
  }

  /// As gather.h says.
  void post_gather(std::uint32_t rank, std::span<const Part> parts, std::span<std::byte> out) {
    if (channel_ == nullptr) return post_each(*this, rank, parts, out);
    channel_->post_gather(rank, parts, out);
  }
  void post_together(FunctionRef<void()> post) {
    if (channel_ == nullptr) return post();
    channel_->post_together(post);
  }

  // --- completion
  Flushed flush(std::uint32_t rank) {
    return channel_ == nullptr ? Flushed(rank, 0) : channel_->flush(rank);
  }
  std::optional<Flushed> flush_idle(std::uint32_t rank, Deadline deadline) {
    return channel_ == nullptr ? Flushed(rank, 0) : channel_->flush_idle(rank, deadline);
  }
  std::optional<Flushed> flush_until(std::uint32_t rank, Deadline deadline) {
    return channel_ == nullptr ? Flushed(rank, 0) : channel_->flush_until(rank, deadline);
  }
  void keep(std::uint32_t rank, const std::shared_ptr<void>& buffer) {
    if (channel_ != nullptr) channel_->keep(rank, buffer);
  }
  bool answers(std::uint32_t rank, Deadline deadline) {
    return channel_ == nullptr || channel_->answers(rank, deadline);
  }
  void note_answer(std::uint32_t rank, std::uint64_t since_ns) {
    if (channel_ != nullptr) channel_->note_answer(rank, since_ns);
  }
  void flush_all() {
    if (channel_ != nullptr) channel_->flush_all();
  }
  void fence() {
    flush_all();
    // seq_cst read-modify-write: orders this agent's earlier stores before its later loads. The
    // flush has completed the operations that went through MPI at their targets.
    fence_word_->fetch_add(1, std::memory_order_seq_cst);
  }
  /// MPI orders only operations on the same word, so operations in flight must complete.
  void order(std::uint32_t rank) {
    flush(rank);
    if (is_local(rank)) fence_word_->fetch_add(1, std::memory_order_seq_cst);  // as in fence()
  }
  void push(std::uint32_t rank) {
    if (channel_ != nullptr) channel_->push(rank);
  }

  Traffic traffic() const { return channel_ == nullptr ? Traffic() : channel_->traffic(); }
  void overlap(std::size_t n, Overlap::Body body) {
    if (channel_ != nullptr) return channel_->overlap(n, body);
    for (std::size_t i = 0; i < n; ++i) body(i);
  }

  // --- waiting
  template <class Predicate>
  WaitResult wait_until(Address own_word, Predicate&& predicate, Deadline deadline) {
    KW_DCHECK(own_word.rank() == rank_);
    WaitResult result;
    const auto looks_right = [&] { return predicate(result.value = words::load(at(own_word))); };
    if (one_class_) {
      result.expired = !wait_loop(
          looks_right, [] {}, deadline);
      return result;
    }
    const auto confirmed = [&] {
      return looks_right() && predicate(result.value = load(rma, own_word));  // N2
    };
    result.expired = !channel_->wait([&] {
      return mpi_wait_loop(
          confirmed, [this] { channel_->progress(); }, crowded_, deadline);
    });
    return result;
  }
  template <class Predicate>
  WaitResult wait_until_remote(Address word, Predicate&& predicate, const Backoff& backoff,
                               Deadline deadline) {
    return watch_remote(*this, word, predicate, backoff, deadline);
  }
  template <class Attempt>
  bool retry_until(Attempt&& attempt, const Backoff& backoff, Deadline deadline) {
    if (one_class_)
      return retry_loop(
          attempt, [] {}, backoff, agent().word(), deadline);
    return channel_->wait([&] {
      return mpi_retry_loop(
          attempt, [this] { channel_->progress(); }, backoff, agent().word(), crowded_, deadline);
    });
  }
  std::uint64_t now_ns() const { return steady_ns(); }
  std::uint64_t wall_ms() const { return keyway::wall_ms(); }

  // --- locality
  bool is_local(std::uint32_t rank) const { return bases_[rank] != nullptr; }
  bool one_class() const { return one_class_; }
  const std::byte* view(Address a) const { return at(a); }
  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return ranks_; }
  AgentId agent() const { return {rank_, hold_.slot()}; }
  const Topology& topology() const { return *topology_; }

 private:
  friend class MpiFabric;
  MpiEndpoint() = default;

  template <class Class>
  bool direct(Class) const {
    if constexpr (std::is_same_v<Class, CpuClass>) return true;
    return one_class_;
  }
  std::byte* at(Address a, [[maybe_unused]] std::uint64_t bytes = sizeof(std::uint64_t)) const {
    KW_DCHECK(a.rank() < ranks_ && a.offset() + bytes <= segment_bytes_);
    KW_DCHECK(bases_[a.rank()] != nullptr);  // the cpu class reaches only this node
    return bases_[a.rank()] + a.offset();
  }
  static Pending known(Address a, std::uint64_t value) {
    return Pending::known(a.rank(), 0, value);
  }

  std::byte* const* bases_ = nullptr;
  bool one_class_ = false;
  bool crowded_ = false;  // see mpi_wait.h
  std::uint32_t rank_ = 0;
  std::uint32_t ranks_ = 0;
  std::uint64_t segment_bytes_ = 0;
  const Topology* topology_ = nullptr;
  SlotHold hold_;                        // released after the channel has flushed
  std::unique_ptr<RmaChannel> channel_;  // null when one_class_
  std::unique_ptr<std::atomic<std::uint64_t>> fence_word_ =
      std::make_unique<std::atomic<std::uint64_t>>(0);
};

static_assert(fabric::Endpoint<MpiEndpoint>);

}  // namespace keyway::fabric
