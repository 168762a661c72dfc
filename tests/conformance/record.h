// Record: the data that a lock guards in the checks, and an agent's operations on it while it holds
// the lock.
//
// A record line is one cache line at the lock's home rank:
//   words 0..3  the record, read and written as plain bytes; its sum shows a torn or stale copy
//   word 4      the writer inside, index + 1
//   word 5      readers inside
//   word 6      exclusive visits, counted by atomics: the version must equal it when no agent
//   writes
// A writer posts its update and leaves the completion to release(), which L3 requires.
#pragma once

#include <cstdint>
#include <span>

#include "keyway/locks/fabric/endpoint.h"

namespace keyway::conformance {

struct Record {
  std::uint64_t version = 0;  // exclusive visits so far
  std::uint64_t writer = 0;   // the last one, index + 1
  std::uint64_t token = 0;    // the greatest fencing token seen
  std::uint64_t sum = 0;

  std::uint64_t right_sum() const { return (version * 31 + writer) * 31 + token; }
  bool operator==(const Record&) const = default;
};
static_assert(sizeof(Record) == 32);

inline constexpr std::uint64_t kWriterInside = 32;
inline constexpr std::uint64_t kReadersInside = 40;
inline constexpr std::uint64_t kVisits = 48;

template <class A>
Record read_record(A& me, std::uint32_t lock) {
  Record record;
  me.ep().read(fabric::rma, me.plan().record(lock), std::as_writable_bytes(std::span(&record, 1)));
  // L3: all operations that the previous holder posted are complete.
  me.expect(record.sum == record.right_sum(),
            "L3: record {} is torn: version {} writer {} token {}", lock, record.version,
            record.writer, record.token);
  const auto visits = me.ep().load(fabric::rma, me.plan().record(lock) + kVisits);
  me.expect(record.version == visits, "L1, L3: record {} is at version {} after {} visits", lock,
            record.version, visits);
  return record;
}

/// An exclusive visit: no other agent is inside, the record is whole, and its successor is posted.
template <class A, class G>
void visit_alone(A& me, std::uint32_t lock, G& guard, bool ask_token) {
  auto& ep = me.ep();
  const fabric::Address line = me.plan().record(lock);
  const auto writer = ep.load(fabric::rma, line + kWriterInside);
  me.expect(writer == 0, "L1: agent {} was inside lock {} already", writer - 1, lock);
  me.expect(ep.load(fabric::rma, line + kReadersInside) == 0,
            "L1: readers were inside lock {} already", lock);
  ep.store(fabric::rma, line + kWriterInside, me.index() + 1);
  Record record = read_record(me, lock);
  me.wobble();
  if (ask_token) {
    const std::uint64_t token = guard.token();
    me.expect(token > record.token, "L4: lock {} gave token {} after {}", lock, token,
              record.token);
    record.token = token;
  }
  ++record.version;
  record.writer = me.index() + 1;
  record.sum = record.right_sum();
  me.outbox(lock) = record;
  ep.post_write(fabric::rma, line, std::as_bytes(std::span(&me.outbox(lock), 1)));
  ep.fetch_add(fabric::rma, line + kVisits, 1);
  me.wobble();
  me.expect(ep.load(fabric::rma, line + kWriterInside) == me.index() + 1,
            "L1: another writer entered lock {} meanwhile", lock);
  ep.store(fabric::rma, line + kWriterInside, 0);
}

/// A shared visit: no writer is inside, and the record stays as it is.
template <class A>
void visit_shared(A& me, std::uint32_t lock) {
  auto& ep = me.ep();
  const fabric::Address line = me.plan().record(lock);
  ep.fetch_add(fabric::rma, line + kReadersInside, 1);
  me.expect(ep.load(fabric::rma, line + kWriterInside) == 0,
            "L1: a reader entered lock {} beside a writer", lock);
  const Record before = read_record(me, lock);
  me.wobble();
  me.expect(read_record(me, lock) == before, "L1: record {} changed under a reader", lock);
  me.expect(ep.load(fabric::rma, line + kWriterInside) == 0,
            "L1: a writer entered lock {} beside a reader", lock);
  ep.fetch_add(fabric::rma, line + kReadersInside, ~std::uint64_t{0});
}

}  // namespace keyway::conformance
