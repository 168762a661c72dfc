// Session: one agent's access to the store. Every operation of the store is here.
//
// *What.* Get, put and the rest, on any rank's volume: on local memory through the `cpu` class, on
// remote memory one-sided through the `rma` class. Both run the same code under the same lock; only
// the access class differs.
// *Thread safety.* A session belongs to one agent. Sessions share nothing but the segments.
// *Invariants.*
//   K1  Bucket lines, elements and stripe counters change only under their stripe's lock held for
//       writing, and are read only under it (who has several keys peeks at lines without it, to
//       prefetch).
//   K2  At most one live entry of a key exists, in the chain of its bucket.
//   K3  A failed write changes nothing: what it needs, of the heap and of our own memory, is
//       allocated before anything is touched. std::bad_alloc counts as a failure: it leaves every
//       operation with all stripes unlocked.
//   K4  A block is freed after the last word that refers to it is gone, and may be reused at once:
//       readers hold the stripe's lock while they copy.
//   K5  Several stripes are locked in the order of (rank, stripe), so no cycle can form.
//   K6  A mark of a key never repeats once the key has changed. A change of an element in place
//       raises its version; every other one, and each time that version begins anew, raises that of
//       the bucket's first line; each time that one begins anew, the stripe counts a turn, in 64
//       bits. So equal turns and line versions leave only changes in place, too few to wrap.
//   K7  No element of a stripe expires before the time in its word of next expiries; 0: none does.
//       A write lowers the word, and only a walk of the whole stripe raises it.
// *Source.* Design section 6; HPDC'16 section 5.3 (volumes with overflow heaps).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keyway/kvstore/layout/element_change.h"
#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/session_notes.h"
#include "keyway/kvstore/stripes/stripe_monitor.h"
#include "keyway/kvstore/types/decisions.h"
#include "keyway/kvstore/types/types.h"
#include "keyway/kvstore/volume/expiry_clock.h"
#include "keyway/kvstore/volume/heap.h"
#include "keyway/kvstore/volume/move_pace.h"
#include "keyway/locks/base/rng.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/distributed/stripe_lock.h"

namespace keyway::store {

template <fabric::Endpoint E>
class Session {
 public:
  Session(E endpoint, const Geometry& geometry, const locks::StripeLock& lock,
          const SessionOptions& options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // --- one key: session_read.h, session_write.h
  Status get(std::string_view key, std::string& out);
  Status read(std::string_view key, Reader reader);
  Status read_part(std::string_view key, RangeOf range_of, PartReader reader);
  /// Bytes [offset, offset + length) of the value, cut at its end.
  Status get_range(std::string_view key, std::uint64_t offset, std::uint64_t length,
                   std::string& out);
  Result<ElementInfo> info(std::string_view key);
  Status put(std::string_view key, std::string_view value, const PutOptions& options);
  Status compare_and_set(std::string_view key, std::string_view expected, std::string_view value);
  Status erase(std::string_view key);
  Result<std::int64_t> increment(std::string_view key, std::int64_t delta);
  Result<std::uint64_t> append(std::string_view key, std::string_view suffix);
  Result<std::uint64_t> set_range(std::string_view key, std::uint64_t offset,
                                  std::string_view bytes, PutIf when);
  Status set_expiry(std::string_view key, std::uint64_t expires_at_ms);
  Status modify(std::string_view key, Mutator mutate);
  Status modify_part(std::string_view key, ValueRange range, PartMutator mutate);
  Result<KeyMark> mark(std::string_view key);

  // --- several keys: session_multi.h
  void get_many(std::span<const std::string_view> keys, std::span<std::string> out,
                std::span<Code> codes);
  void prefetch(std::span<const std::string_view> keys);
  Status read_all(std::span<const std::string_view> keys, ElementsReader reader);
  Status get_all(std::span<const std::string_view> keys,
                 std::vector<std::optional<std::string>>& out);
  Status put_all(std::span<const std::pair<std::string_view, std::string_view>> pairs,
                 const PutOptions& options);
  Result<std::uint64_t> erase_all(std::span<const std::string_view> keys);
  Status transact(std::span<const std::string_view> keys, const TransactionBody& body);
  Status modify_all(std::span<const std::string_view> keys, ElementsBody body,
                    const ModifyAllOptions& options);

  // --- the whole: session_scan.h, session_walk.h
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
  Status alone(FunctionRef<void()> body);
  std::uint64_t size();
  std::uint64_t size_of(std::uint32_t rank);
  Result<VolumeReport> report(std::uint32_t rank);
  VolumeUsage usage(std::uint32_t rank);
  VolumeCounts counts(std::uint32_t rank);

  // --- what has expired: session_sweep.h
  Result<std::uint64_t> sweep_expired(std::uint32_t rank);
  Result<SweepPart> sweep_part(std::uint32_t rank, std::uint64_t from, std::uint64_t lines);

  // --- the locks: session_stripe.h
  /// Puts another of the store's lock kinds in force on one stripe; operations go on meanwhile.
  Status switch_kind(std::uint32_t rank, std::uint64_t stripe, locks::KindIndex target);
  /// The same by the kind's name.
  Status switch_kind(std::uint32_t rank, std::uint64_t stripe, std::string_view kind);
  /// Why a stripe's lock is as it is.
  StripeReport stripe_report(std::uint32_t rank, std::uint64_t stripe);
  /// How many stripes of a rank are guarded by which kind.
  std::vector<LockKindReport> lock_kinds(std::uint32_t rank);
  /// The kind in force on a stripe, and how often it has changed.
  locks::KindWord kind_of(std::uint32_t rank, std::uint64_t stripe);

  /// Switches that this session has made because they were due.
  std::uint64_t switches() const { return switches_; }
  /// Elements and overflow lines that it has moved to make room.
  std::uint64_t moved() const { return moved_; }

  std::uint32_t owner_of(std::string_view key) const;
  StripePlace stripe_of(std::string_view key) const;
  std::uint64_t leased_bytes(std::uint32_t rank) const { return heap_.leased_bytes(rank); }
  const locks::LockStats& lock_stats() const { return agent_.stats; }
  /// Null unless the session takes them.
  const locks::LockTimes* lock_times() const { return times_ ? &*times_ : nullptr; }
  E& endpoint() { return ep_; }
  /// The time by which expiries are judged (expiry_clock.h): of the operation under way, within the
  /// body of one of several keys and within alone(); else of the key's owner.
  std::uint64_t now_ms(std::string_view key);

 private:
  using KeyValueView = std::pair<std::string_view, std::string_view>;
  using Location = detail::Location;
  using Line = detail::Line;
  using Found = detail::Found;
  using PlannedWrite = detail::PlannedWrite;
  using Garbage = detail::Garbage;
  using Unshown = detail::Unshown;
  using Shown = detail::Shown;
  using ScanSink = detail::ScanSink;
  class BlockNeeds;
  class Hold;
  class StripeSet;

  // session_time.h
  [[gnu::always_inline]] void begin_time(std::uint32_t rank);
  PostedClockWords post_clock_words(std::uint32_t rank);
  std::uint64_t local_time(std::uint32_t rank);
  std::uint64_t operation_time();
  void raise_time(std::uint32_t rank, std::uint64_t ms);
  bool has_come(std::uint64_t expires_at_ms);
  bool is_past(std::uint32_t rank, std::uint64_t expires_at_ms);

  // session_stripe.h
  [[gnu::always_inline]] locks::KindIndex& known(std::uint32_t rank, std::uint64_t stripe);
  Result<locks::StripeGrant> lock_stripe(std::uint32_t rank, std::uint64_t stripe, locks::Mode mode,
                                         Deadline deadline);
  void unlock_stripe(std::uint32_t rank, std::uint64_t stripe, locks::StripeGrant& grant);
  Result<locks::StripeGrant> lock_place(const Location& location, locks::Mode mode);
  const Bucket* line_of(const locks::StripeGrant& grant) const;
  void leave_sample(const Location& location, locks::Mode mode, bool waited);
  StripeCounters counters_of(std::uint32_t rank, std::uint64_t stripe);
  StripeView look_at(const StripeCounters& counters, locks::KindIndex in_force) const;
  void weigh(std::uint32_t rank, std::uint64_t stripe);

  // session_read.h
  Location place(std::string_view key) const;
  template <class Use>
  auto with_access(std::uint32_t rank, Use&& use);
  template <class Access>
  void prefetch(Access access, const Location& location);
  template <class Access>
  void prefetch_element(Access access, std::uint32_t rank, EntryWord entry) const;
  bool wants_words() const;
  template <class Post>
  void read_with_words(std::uint32_t rank, Post&& post);
  template <class Access>
  std::span<const std::byte> fetch(Access access, std::uint32_t rank, EntryWord entry,
                                   std::uint64_t key_bytes);
  bool is_within(EntryWord entry, const ElementHeader& header) const;
  template <class Access>
  Code read_value(Access access, std::uint32_t rank, const Found& found, ValueRange range,
                  ElementPart& part);
  template <class Access>
  Code show(Access access, std::uint32_t rank, const Found& found, ValueRange range,
            ElementPart& part);
  template <class Access>
  Code match(Access access, const Location& location, const Bucket& bucket, std::string_view key,
             Found& found);
  template <class Access>
  Code find(Access access, const Location& location, const Bucket* first, std::string_view key,
            Found& found);
  template <class Access>
  void read_line(Access access, const Location& location, Line& line);
  template <class Access>
  Code locate(Access access, const Location& location, std::string_view key, Found& found,
              const Bucket* first = nullptr);
  template <class Range, class Use>
  Status read_at(const Location& location, std::string_view key, Range&& range_of, Use&& use);
  template <class Range, class Use>
  Status read_key(std::string_view key, Range&& range_of, Use&& use);

  // session_write.h
  template <class Mutate>
  Status mutate_key(std::string_view key, ValueRange range, Mutate&& mutate);
  template <class Access, class Mutate>
  Status modify_locked(Access access, const Location& location, std::string_view key,
                       ValueRange range, Mutate&& mutate, const Bucket* first = nullptr);
  template <class Access>
  Status apply_write(Access access, const Location& location, std::string_view key,
                     const Decision& decision, const Found& found, std::uint64_t spare = 0);
  static Status full(std::uint32_t rank, std::uint64_t bytes);
  template <class Access>
  bool rewrite_in_place(Access access, const Location& location, std::string_view key,
                        const Decision& decision, const Found& found);
  template <class Access>
  void apply_erase(Access access, const Location& location, const Found& found);
  template <class Access>
  void put_element(Access access, fabric::Address at, std::string_view key,
                   const Decision& decision, std::uint16_t version);
  bool sweep_for_room(std::span<const Location> places);

  // session_overwrite.h
  template <class Access>
  Status apply_overwrite(Access access, const Location& location, std::string_view key,
                         const Decision& decision, const Found& found);
  bool has_room(std::uint32_t rank, const Found& found, std::uint64_t bytes);
  template <class Access>
  Code change_in_place(Access access, const Location& location, ElementChange& change,
                       const Found& found);

  // session_lines.h
  void drop_entry(std::uint32_t rank, const Found& found);
  void unlink_if_empty(std::uint32_t rank, std::uint32_t line);
  std::optional<std::uint32_t> line_with_room(std::uint32_t words, const Found& leaving) const;
  template <class Access>
  void commit(Access access, const Location& location);
  void count_at(const Location& location, std::uint64_t offset, std::int64_t change);
  void count_elements(const Location& location, std::int64_t change);
  void count_expiring(std::uint32_t rank, std::int64_t change);
  void recount_expiring(const Location& location, const Found& found, const Decision& decision);
  template <class Access>
  void note_chain(Access access, std::uint32_t rank);
  bool post_next_expiry(const Location& location);
  void note_expiry(const Location& location, std::uint64_t expires_at_ms);
  void discard(std::uint32_t rank, const Block& block);
  void collect_garbage();
  void give_back_buffers();

  // session_multi.h
  void get_window(std::span<const std::string_view> keys, std::span<std::string> out,
                  std::span<Code> codes);
  void prefetch_window(std::span<const Location> window);
  template <class Items, class KeyOf>
  Result<std::vector<Location>> place_all(const Items& items, KeyOf key_of) const;
  template <class Items, class KeyOf, class Mutate>
  Status mutate_all(std::span<const Location> locations, const Items& items, KeyOf key_of,
                    Mutate&& mutate);
  Status put_all_once(std::span<const Location> locations, std::span<const KeyValueView> pairs,
                      const PutOptions& options);

  // session_reserve.h
  void reserve_reads(std::span<const Location> locations);
  template <class Access>
  std::size_t reserve_chain(Access access, const Location& location, const Bucket& first);
  void reserve_composed(std::span<const PlannedWrite> writes);
  Status reserve_writes(std::span<const PlannedWrite> writes);
  void need_at_most(BlockNeeds& needs, std::span<const PlannedWrite> writes) const;
  void need_exactly(BlockNeeds& needs, std::span<const PlannedWrite> writes);

  // session_move.h
  class Mover;
  template <class Attempt>
  Status with_room(std::span<const Location> locations, Attempt&& attempt);
  bool make_room(Deadline until);

  // session_transaction.h
  template <class Access>
  KeyMark mark_of(Access access, const Location& location, const Found& found);
  Result<KeyMark> mark_once(std::string_view key, bool& past);
  Status draft_all(std::span<const Location> locations, std::span<const std::string_view> keys,
                   std::span<const KeyMark> marks, std::span<ElementDraft> drafts);
  Status write_drafts(std::span<const Location> locations, std::span<const std::string_view> keys,
                      std::span<const ElementDraft> drafts);
  Status modify_all_once(std::span<const Location> locations,
                         std::span<const std::string_view> keys, ElementsBody body,
                         const ModifyAllOptions& options);

  // session_walk.h
  class CollectLater;
  template <class Access>
  void read_ahead(Access access, std::uint32_t rank, std::uint64_t bucket, Bucket& out);
  template <class Access>
  void read_chain(Access access, std::uint32_t rank, std::uint64_t bucket);
  template <class Access>
  void peek(Access access, std::uint32_t rank, std::span<const EntryWord> entries);
  std::span<std::byte> peek_of(std::size_t i, EntryWord entry);
  template <class Access>
  Code look(Access access, std::uint32_t rank, const Bucket& line, std::size_t i, Found& found);
  template <class Access, class Visit>
  Status walk_bucket(Access access, std::uint32_t rank, std::uint64_t bucket, Visit&& visit);
  template <class Access, class Goes>
  Status remove_in_bucket(Access access, std::uint32_t rank, std::uint64_t bucket, Goes&& goes,
                          std::uint64_t& removed);
  template <class Access>
  void end_walked_bucket(Access access, std::uint32_t rank, std::uint64_t bucket,
                         std::uint64_t dropped);
  template <class Visit>
  Status walk_stripe(std::uint32_t rank, std::uint64_t stripe, locks::Mode mode, Visit&& visit);
  template <class Visit>
  Status walk_volume(std::uint32_t rank, locks::Mode mode, Visit&& visit);

  // session_scan.h
  void collect_unshown(std::uint64_t from_tag);
  template <class Access>
  Code copy_unshown(Access access, std::uint32_t rank, const Unshown& next, std::size_t i,
                    Shown shown, std::string_view from, std::size_t before);
  template <class Access>
  Status scan_bucket(Access access, std::uint32_t rank, ScanPlace& at, std::uint64_t most,
                     std::string_view from, Shown shown);
  Status scan_stripe(std::uint32_t rank, ScanPlace& at, std::uint64_t most, std::string_view from,
                     Shown shown);
  Result<std::uint64_t> scan_at(std::uint64_t cursor, std::uint64_t limit, std::string_view from,
                                std::uint32_t end_rank, Shown shown, ScanSink sink);
  Result<std::uint64_t> scan_one_rank(std::uint32_t rank, std::uint64_t cursor, std::uint64_t limit,
                                      Shown shown, ScanSink sink);
  Result<std::uint64_t> scan_behind(std::string_view key, std::uint64_t limit, Shown shown,
                                    ScanSink sink);

  // session_sweep.h
  Status sweep_stripe(std::uint32_t rank, std::uint64_t stripe, SweepPart& part);
  Status sweep_due(std::uint32_t rank, std::uint64_t due_ms, std::uint64_t most_stripes,
                   std::uint64_t most_lines, SweepPart& part);
  void read_next_expiries(std::uint32_t rank, std::uint64_t stripe, std::span<std::uint64_t> out);
  void set_next_expiry(std::uint32_t rank, std::uint64_t stripe, std::uint64_t at_ms);

  E ep_;
  const Geometry& geometry_;
  const locks::StripeLock& lock_;
  const Deadline deadline_;  // of each operation's lock waits
  locks::LockAgent<E> agent_;
  std::optional<locks::LockTimes> times_;
  Heap<E> heap_;
  // The kind that each stripe had when this session last looked; by rank, made as they are used.
  std::vector<std::vector<locks::KindIndex>> known_;
  locks::KindIndex only_ = 0;  // instead, where the store has one kind
  // Sampling, where the store chooses among kinds by itself.
  const KindChoice* choice_ = nullptr;
  std::uint32_t until_sample_ = kSampleEvery;
  std::uint32_t until_look_ = kLookEvery;
  Rng sampling_;
  std::uint64_t switches_ = 0;
  // Buffers of the operation under way, kept so that a warm session does not allocate.
  std::vector<Line> chain_;
  // Bucket lines read by read_ahead(), from ahead_from_ on, or by reserve_reads(), of its keys.
  std::vector<Bucket> ahead_;
  std::uint64_t ahead_from_ = 0;
  Bucket line_read_;                 // a remote line that find() looks at, or read with its lock
  std::vector<std::byte> fetched_;   // a remote element, or a remote run's all but its value
  detail::Peeked peeked_{};          // the first bytes of the elements of a line, by a walk
  std::vector<std::byte> part_;      // the part of a remote run's value that is shown
  std::vector<std::byte> composed_;  // an element to be written to a remote rank
  std::string built_;                // a value made from the old one
  std::vector<Garbage> garbage_;
  // By rank: a lower bound of the volume's mark of the longest chain.
  std::vector<std::uint64_t> noted_chain_;
  std::uint64_t next_sweep_ns_ = 0;
  MovePace move_pace_;
  std::uint64_t moved_ = 0;
  bool alone_ = false;  // within alone(): every stripe is held
  std::vector<Unshown> unshown_;
  // The time of the operation under way (session_time.h).
  LocalClock clock_;
  std::vector<std::uint32_t> owners_;  // of its keys, each once
  std::uint64_t now_ms_ = 0;           // 0: not read yet
  ClockWords words_;                   // of its one owner, where they came with an element
  bool words_read_ = false;
  bool expects_expiry_ = false;  // the last element that was read had one
  bool deciding_ = false;        // several stripes are held, for a body that decides
  // Of a remote stripe under change: the word of its next expiry, read with the bucket's line.
  std::uint64_t next_expiry_ = 0;
  bool next_expiry_posted_ = false;
  bool writes_expiry_ = false;  // the last write gave an expiry, so the next one may as well
  std::vector<std::pair<std::string, std::string>> scanned_;
};

}  // namespace keyway::store
