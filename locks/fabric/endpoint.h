// Endpoint: one agent's handle on a fabric. Locks and the store are templates on this concept.
//
// *What.* 8-byte atomic words and bulk bytes of every rank's segment, in two access classes;
// flush; waiting; topology. A fabric (shm, mpi, ...) is a class that makes endpoints.
//
// *Thread safety.* An endpoint belongs to one agent, which is one thread or one fiber. Different
// endpoints of one fabric may be used at the same time.
//
// *Invariants.*
//   E1  Within one access class, 8-byte operations on one word are atomic and have one order for
//       all agents.
//   E2  A read-modify-write of class `cpu` is not atomic with one of class `rma` (ALock, Table 1),
//       unless the fabric says one_class(). Plain 8-byte loads and stores never tear in either.
//   E3  A blocking operation is complete at its target when it returns. A posted one is complete
//       only after flush(rank); posted operations to one rank may complete in any order, unless an
//       order(rank) separates them. push(rank) lets it complete without the flush.
//   E4  If an agent writes and flushes data and then stores or read-modify-writes a word, an agent
//       that has read the result of that store sees the data (release and acquire). ORDERING.md has
//       the details.
//   E5  Waiting happens only in wait_until, wait_until_remote and retry_until; each takes a
//   deadline.
//   E6  Bytes of class `cpu` are read and written as aligned words, in any order, each as a load or
//       a store (at their ends also as aligned parts of words): none of them tears, and E4 holds
//       for each. Nothing else is known of the bytes that another agent writes meanwhile.
//
// *Source.* HPDC'16 Listing 1 (operations and flush); SPAA'24 Table 1 (the classes); design
// section 4. fetch_or is ours: the store's heap leases blocks with it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/topology.h"
#include "keyway/locks/fabric/address.h"
#include "keyway/locks/fabric/backoff.h"
#include "keyway/locks/fabric/overlap.h"
#include "keyway/locks/fabric/pending.h"

namespace keyway::fabric {

/// Access by this host's processor. Allowed if Endpoint::is_local(address).
struct CpuClass {};
/// Access through the fabric. Allowed everywhere, also on the agent's own rank.
struct RmaClass {};
inline constexpr CpuClass cpu{};
inline constexpr RmaClass rma{};

/// How wait_until ended: the last value seen, and whether the deadline passed first.
struct WaitResult {
  std::uint64_t value = 0;
  bool expired = false;
};

/// Operations of an agent that have gone through the fabric since its endpoint was made.
struct Traffic {
  std::uint64_t messages = 0;     // on words and bytes of other nodes; joined reads (gather.h): one
  std::uint64_t round_trips = 0;  // waits for them: one if several are under way
  std::uint64_t loopbacks = 0;    // on words and bytes of this node
  std::uint64_t flushes = 0;      // of the window, which may block (MPI_Win_flush)
};

namespace detail {

struct AnyPredicate {
  bool operator()(std::uint64_t) const { return true; }
};
struct AnyAttempt {
  bool operator()() const { return true; }
};

template <class E, class Class>
concept WordAccess = requires(E& ep, Class access, Address a, std::uint64_t v) {
  { ep.load(access, a) } -> std::same_as<std::uint64_t>;
  { ep.store(access, a, v) } -> std::same_as<void>;
  { ep.swap(access, a, v) } -> std::same_as<std::uint64_t>;
  { ep.fetch_add(access, a, v) } -> std::same_as<std::uint64_t>;
  { ep.fetch_or(access, a, v) } -> std::same_as<std::uint64_t>;
  { ep.compare_swap(access, a, v, v) } -> std::same_as<std::uint64_t>;  // expected, desired; old
  { ep.post_load(access, a) } -> std::same_as<Pending>;
  { ep.post_store(access, a, v) } -> std::same_as<void>;
  { ep.post_swap(access, a, v) } -> std::same_as<Pending>;
  { ep.post_fetch_add(access, a, v) } -> std::same_as<Pending>;
  { ep.post_fetch_or(access, a, v) } -> std::same_as<Pending>;
  { ep.post_compare_swap(access, a, v, v) } -> std::same_as<Pending>;
};

template <class E, class Class>
concept BulkAccess = requires(E& ep, Class access, Address a, std::span<std::byte> out,
                              std::span<const std::byte> in) {
  { ep.read(access, a, out) } -> std::same_as<void>;
  { ep.write(access, a, in) } -> std::same_as<void>;
  { ep.post_read(access, a, out) } -> std::same_as<PendingBytes>;  // out valid after the flush
  { ep.post_write(access, a, in) } -> std::same_as<void>;          // in unchanged until the flush
};

}  // namespace detail

template <class E>
concept Endpoint = detail::WordAccess<E, CpuClass> && detail::WordAccess<E, RmaClass> &&
    detail::BulkAccess<E, CpuClass> && detail::BulkAccess<E, RmaClass> &&
    requires(E& ep, const E& cep, Address a, std::uint32_t rank, Deadline deadline,
             const std::shared_ptr<void>& buffer, const Backoff& backoff,
             detail::AnyPredicate predicate, detail::AnyAttempt attempt, Overlap::Body body) {
  // Completes all operations that this agent has issued to `rank`; flush_all: to every rank, but
  // for operations that another flush has given up.
  { ep.flush(rank) } -> std::same_as<Flushed>;
  { ep.flush_all() } -> std::same_as<void>;
  // The same as flush(), for an agent that holds no lock and is in no lock's queue: its thread may
  // meanwhile do what other ranks ask of this one. In a queue, an agent whose successor waits for
  // it could end up waiting, further down the same stack, for that successor. Nothing if the
  // deadline has come first: results and buffers of these operations still wait for a flush. A
  // fabric of which the ranks always answer may take longer.
  { ep.flush_idle(rank, deadline) } -> std::same_as<std::optional<Flushed>>;
  // The same for an agent that may hold locks: its thread does nothing for others meanwhile.
  { ep.flush_until(rank, deadline) } -> std::same_as<std::optional<Flushed>>;
  // Keeps a buffer of operations that a flush has given up until they are complete.
  { ep.keep(rank, buffer) } -> std::same_as<void>;
  // Whether the rank answers by the deadline. One that has just answered another operation of this
  // process is not asked.
  { ep.answers(rank, deadline) } -> std::same_as<bool>;
  // The rank has answered, since this time of the endpoint's clock, by a store into this rank.
  { ep.note_answer(rank, std::uint64_t()) } -> std::same_as<void>;
  // Flush, and order earlier stores before later loads as well (what Peterson's lock needs).
  { ep.fence() } -> std::same_as<void>;
  // Operations that the agent has posted to `rank` will be complete soon, also if it does nothing
  // more. It may return before that: results and buffers still wait for a flush.
  { ep.push(rank) } -> std::same_as<void>;
  // Orders operations that this agent has issued to `rank` before its later operations to that
  // rank, also a store before a later load, and completes nothing. Free on fabrics that keep
  // operations in order anyway.
  { ep.order(rank) } -> std::same_as<void>;
  // Runs body(0) .. body(n - 1), for n <= Overlap::kMaxBodies. At a flush of one body the others
  // may continue, so that one flush completes what all of them have issued (overlap.h).
  { ep.overlap(std::size_t(), body) } -> std::same_as<void>;
  // Waits until predicate(word) holds; the word is in the agent's own rank.
  { ep.wait_until(a, predicate, deadline) } -> std::same_as<WaitResult>;
  // The same for a word of any rank, read through the `rma` class with back-off: for the rare
  // algorithms that must poll another rank's word.
  { ep.wait_until_remote(a, predicate, backoff, deadline) } -> std::same_as<WaitResult>;
  // Calls attempt() until it returns true, with back-off in between; false if the deadline passed.
  // attempt() must leave nothing behind when it fails.
  { ep.retry_until(attempt, backoff, deadline) } -> std::same_as<bool>;
  { cep.traffic() } -> std::same_as<Traffic>;
  { cep.now_ns() } -> std::same_as<std::uint64_t>;
  // The time of day in ms since 1970 UTC, for values that must mean the same on every rank.
  { cep.wall_ms() } -> std::same_as<std::uint64_t>;
  // Whether the agent may use the `cpu` class on memory of that rank.
  { cep.is_local(rank) } -> std::same_as<bool>;
  // Whether the two classes coincide in this job: then mixing them is safe.
  { cep.one_class() } -> std::same_as<bool>;
  // The coherent memory behind a local address.
  { cep.view(a) } -> std::same_as<const std::byte*>;
  { cep.rank() } -> std::same_as<std::uint32_t>;
  { cep.ranks() } -> std::same_as<std::uint32_t>;
  { cep.agent() } -> std::same_as<AgentId>;
  { cep.topology() } -> std::same_as<const Topology&>;
};

}  // namespace keyway::fabric
