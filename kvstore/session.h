// Session: one agent's access to the store. Every operation of the store is here.
//
// *What.* Get, put and the rest, on any rank's volume: on local memory through the `cpu` class, on
// remote memory one-sided through the `rma` class. Both run the same code under the same lock; only
// the access class differs. An edit of a remote key may travel to its owner instead (OwnerCaller),
// which makes it through the `cpu` class.
// *Thread safety.* A session belongs to one agent. Sessions share nothing but the segments.
// *Invariants.*
//   K1  Bucket lines, elements and stripe counters change only under their stripe's lock held for
//       writing, and are read only under it, but for K8 and K9 (operations on several keys read
//       lines without it, to prefetch).
//   K2  At most one live entry of a key exists, in the chain of its bucket.
//   K3  A failed write changes nothing: all that it needs of the heap and of our own memory is
//       allocated before the first change. std::bad_alloc counts as a failure: it leaves every
//       operation with all stripes unlocked.
//   K4  A block is freed after the last word that refers to it is gone, and may be reused at once:
//       readers hold the stripe's lock while they copy, or find out (K8).
//   K5  An agent that waits for a stripe holds none behind it in the order of (rank, stripe), so no
//       cycle can form.
//   K6  Key versions never repeat. A version is (stripe epoch, line version, element version). A
//       change of an element in place increments the element's version. Every other change, and
//       each wrap-around of that version, increments the version of the bucket's first line; each
//       wrap-around of the line's version increments the stripe's epoch, in 64 bits. So between
//       versions with equal epochs and line versions there are only changes in place, too few to
//       wrap around.
//   K7  No element of a stripe expires before the time in its word of next expiries; 0: none does.
//       A write lowers the word, and only a walk of the whole stripe raises it.
//   K8  With several nodes, a reader may accept an element without the lock if it has the stamp
//       that is expected there (stamp.h) and no mark, and the checksum, which covers the stamp,
//       matches. So an element that leaves its block is marked, and that is complete before a line
//       changes; and so are all elements that one operation on several keys changes, before the
//       first of them has its new value. A session that is alone in the store waits until there is
//       no such reader (read_permit.h).
//   K9  In a store of one node a reader may accept what it has copied without the lock, if the
//       element's first word, the header of the bucket's first line and the stripe's word of
//       changes are afterwards as they were before (LocalReader). So an element that changes in
//       place has a mark from before its first other byte changes until all have; the first line
//       has a header that says so from before any other change of its bucket until after that; and
//       an operation on several keys, or of a session that is alone, makes the words of all its
//       stripes odd before its first change, and even again after its last (StripeSet). Two states
//       of an element may have equal first words only if the first line's header has changed in
//       between: a block that is used again, and versions that wrap around (K6), see to that.
// *Source.* Design section 6; HPDC'16 section 5.3 (volumes with overflow heaps).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keyway/kvstore/key_operations.h"
#include "keyway/kvstore/types/types.h"
#include "keyway/locks/base/function_ref.h"
#include "keyway/locks/distributed/kind_word.h"
#include "keyway/locks/fabric/endpoint.h"

namespace keyway::locks {
class AnyLock;
template <class L>
class BasicStripeLock;
using StripeLock = BasicStripeLock<AnyLock>;
class LockTimes;
struct LockStats;
}  // namespace keyway::locks

namespace keyway::store {

class Geometry;
template <fabric::Endpoint E>
struct SessionCore;

/// Its operations are those of KeyOperations, and what follows. All bodies are compiled once for
/// each fabric (session_impl.h).
template <fabric::Endpoint E>
class Session : public KeyOperations<Session<E>> {
 public:
  /// The geometry and the lock outlive it.
  Session(E endpoint, const Geometry& geometry, const locks::StripeLock& lock,
          const SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // --- one key
  Result<ElementInfo> info(std::string_view key);
  Status set_expiry(std::string_view key, std::uint64_t expires_at_ms);
  Result<KeyVersion> version_of(std::string_view key);

  // --- several keys
  void get_many(std::span<const std::string_view> keys, std::span<std::string> out,
                std::span<Code> codes);
  [[gnu::hot]] std::uint64_t prefetch(std::span<const std::string_view> keys);
  std::uint64_t read_ahead(std::span<const std::string_view> keys);
  Status read_all(std::span<const std::string_view> keys, ElementsReader reader);
  Status put_all(std::span<const std::pair<std::string_view, std::string_view>> pairs,
                 const PutOptions& options);
  Result<std::uint64_t> erase_all(std::span<const std::string_view> keys);
  Status modify_all(std::span<const std::string_view> keys, ElementsBody body,
                    const ModifyAllOptions& options);

  // --- the whole
  Result<std::uint64_t> scan(std::uint64_t cursor, std::uint64_t limit, const ElementSink& sink);
  Result<std::uint64_t> scan_rank(std::uint32_t rank, std::uint64_t cursor, std::uint64_t limit,
                                  const ElementSink& sink);
  Result<std::uint64_t> scan_from(std::string_view key, std::uint64_t limit,
                                  const ElementSink& sink);
  Result<std::uint64_t> scan_keys(std::uint64_t cursor, std::uint64_t limit, const KeySink& sink);
  Result<std::uint64_t> scan_keys_rank(std::uint32_t rank, std::uint64_t cursor,
                                       std::uint64_t limit, const KeySink& sink);
  Result<std::uint64_t> scan_keys_from(std::string_view key, std::uint64_t limit,
                                       const KeySink& sink);
  Status clear();
  Status clear_rank(std::uint32_t rank);
  /// Calls body() with every stripe of the store held for writing: its operations by this session
  /// take no more locks, and no other session sees them half done. It may not switch locks.
  Status exclusively(FunctionRef<void()> body);
  /// Elements of all ranks, including expired ones that are not swept yet. The sum of counters that
  /// continue to change meanwhile.
  Result<std::uint64_t> size();
  Result<std::uint64_t> size_of(std::uint32_t rank);
  Result<VolumeReport> report(std::uint32_t rank);
  /// Adds up counters, and the state of each chunk of the heap; counts() does without the chunks.
  VolumeUsage usage(std::uint32_t rank);
  VolumeCounts counts(std::uint32_t rank);

  // --- expired elements
  Result<std::uint64_t> sweep_expired(std::uint32_t rank);
  Result<SweepPart> sweep_part(std::uint32_t rank, std::uint64_t from, std::uint64_t lines);

  // --- the locks
  /// Activates another of the store's lock kinds on one stripe; operations continue meanwhile.
  Status switch_kind(std::uint32_t rank, std::uint64_t stripe, locks::KindIndex target);
  /// The same by the kind's name.
  Status switch_kind(std::uint32_t rank, std::uint64_t stripe, std::string_view kind);
  /// Why a stripe's lock is as it is.
  StripeReport stripe_report(std::uint32_t rank, std::uint64_t stripe);
  /// How many stripes of a rank are guarded by which kind.
  std::vector<LockKindReport> lock_kinds(std::uint32_t rank);
  /// The active kind of a stripe, and how often it has changed.
  locks::KindWord kind_of(std::uint32_t rank, std::uint64_t stripe);

  /// Switches that this session has made because they were due.
  std::uint64_t switches() const;
  /// Elements and overflow lines that it has moved to make room.
  std::uint64_t moved() const;

  std::uint32_t owner_of(std::string_view key) const;
  StripePlace stripe_of(std::string_view key) const;
  std::uint64_t stored_bytes(std::string_view key, const ElementInfo& info) const;
  std::uint64_t leased_bytes(std::uint32_t rank) const;
  const locks::LockStats& lock_stats() const;
  const OptimisticReads& optimistic_reads() const;
  RemoteWork remote_work() const;
  /// Reads of keys of this node that took no lock.
  std::uint64_t local_reads() const;
  /// Null unless the session takes them.
  const locks::LockTimes* lock_times() const;
  E& endpoint();
  /// The time by which expiries are judged (expiry_clock.h): that of the current operation, within
  /// the body of one of several keys and within exclusively(); else that of the key's owner.
  std::uint64_t now_ms(std::string_view key);

 private:
  friend KeyOperations<Session<E>>;

  template <class Range, class Use>
  Status read_key(std::string_view key, Range&& range_of, Use&& use);
  template <class Mutate>
  Status mutate_key(std::string_view key, ValueRange range, Mutate&& mutate);
  template <class Edit>
  Status edit_key(std::string_view key, Edit& edit);
  Result<KeyVersion> version_once(std::string_view key, Deadline until, bool& past);

  std::unique_ptr<SessionCore<E>> core_;
};

}  // namespace keyway::store
