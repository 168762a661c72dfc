// The words that the store's callers and its sessions share. Light: no template, no fabric.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "keyway/locks/base/function_ref.h"
#include "keyway/locks/base/parts.h"
#include "keyway/locks/base/status.h"

namespace keyway::store {

inline constexpr std::uint64_t kMaxKeyBytes = 64 * 1024;
inline constexpr std::uint64_t kMaxValueBytes = 512ULL * 1024 * 1024;

/// An expiry that never comes.
inline constexpr std::uint64_t kNoExpiry = 0;

/// When a put may take place.
enum class PutIf : std::uint8_t { kAlways, kAbsent, kPresent };

struct PutOptions {
  PutIf when = PutIf::kAlways;
  std::uint64_t expires_at_ms = kNoExpiry;  // ms since 1970 UTC; kNoExpiry: never
  bool keep_expiry = false;                 // an element that is there keeps its own
};

/// The properties of an element besides its bytes.
struct ElementInfo {
  std::uint64_t value_bytes = 0;
  std::uint64_t expires_at_ms = kNoExpiry;
  std::uint64_t now_ms = 0;  // for an element with an expiry: the time of this read
};

/// The results of a walk over a rank's heap; exact if the heap does not change meanwhile.
struct HeapReport {
  std::uint64_t heap_bytes = 0;
  std::uint64_t free_bytes = 0;  // free chunks, and free blocks of chunks in use
  std::uint64_t free_chunks = 0;
};

/// One rank's volume, walked stripe by stripe under shared locks.
struct VolumeReport {
  std::uint64_t elements = 0;
  std::uint64_t expiring = 0;  // those of them with an expiry
  std::uint64_t key_bytes = 0;
  std::uint64_t value_bytes = 0;
  std::uint64_t live_bytes = 0;  // heap blocks of elements and overflow buckets
  std::uint64_t overflow_buckets = 0;
  std::uint64_t longest_chain_lines = 0;  // a bucket's own line and its overflow lines, at present
  std::uint64_t table_bytes = 0;
  HeapReport heap;
};

/// The elements of a volume, or of several.
struct VolumeCounts {
  std::uint64_t elements = 0;  // those past their expiry and not yet swept included
  std::uint64_t expiring = 0;  // elements with an expiry
  // The most lines that a bucket has had since the store opened; 1: no bucket has overflowed.
  std::uint64_t longest_chain_lines = 0;

  void add(const VolumeCounts& others) {
    elements += others.elements;
    expiring += others.expiring;
    longest_chain_lines = std::max(longest_chain_lines, others.longest_chain_lines);
  }
};

/// A rank's volume by its counters, which continue to change while they are read: no walk, no lock.
struct VolumeUsage : VolumeCounts {
  std::uint64_t stripes = 0;
  std::uint64_t table_bytes = 0;
  std::uint64_t lock_bytes = 0;
  std::uint64_t segment_bytes = 0;  // all of it
  HeapReport heap;
};

/// The stripe with the lock that guards a key.
struct StripePlace {
  std::uint32_t rank = 0;
  std::uint64_t stripe = 0;
};

/// An element as a reader or a mutator is shown it; views that end with its call.
struct ElementState {
  std::string_view value;
  std::uint64_t expires_at_ms = kNoExpiry;
};

/// Is shown an element under the stripe's lock: it may not call the session, and should be short.
using Reader = FunctionRef<void(const ElementState& element)>;

/// Bytes [offset, offset + length) of a value, cut at its end.
struct ValueRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;

  static constexpr ValueRange none() { return {}; }
  static constexpr ValueRange whole() { return {0, ~0ULL}; }
  /// The part of this range within a value of this many bytes.
  constexpr ValueRange cut(std::uint64_t value_bytes) const {
    const std::uint64_t begin = std::min(offset, value_bytes);
    return {begin, std::min(length, value_bytes - begin)};
  }
};

/// The part of an element that is shown to a reader or a mutator which asked for a range of the
/// value; a view that ends with its call. The rest of the value is neither touched nor transferred.
struct ElementPart {
  std::string_view bytes;         // the requested bytes of the value
  std::uint64_t value_bytes = 0;  // length of the whole value
  std::uint64_t expires_at_ms = kNoExpiry;
};

/// Says which bytes of a value to show, told how long it is. As a Reader's call otherwise.
using RangeOf = FunctionRef<ValueRange(std::uint64_t value_bytes)>;
inline constexpr auto whole_value = [](std::uint64_t) { return ValueRange::whole(); };
using PartReader = FunctionRef<void(const ElementPart& part)>;

/// Is shown the i-th of several elements, or null where there is none. As a Reader otherwise.
using ElementsReader = FunctionRef<void(std::size_t i, const ElementState* element)>;

/// A mutator's decision on its key.
struct Decision {
  enum class Action : std::uint8_t { kNothing, kWrite, kErase, kOverwrite };
  Action action = Action::kNothing;
  Code code = Code::kOk;   // the result of the operation, unless it fails by itself
  std::string_view value;  // may not point into the element it replaces
  std::uint64_t expires_at_ms = kNoExpiry;
  std::uint64_t offset = 0;  // kOverwrite: the place in the value

  static Decision fail(Code code) { return {.code = code}; }
  static Decision write(std::string_view value, std::uint64_t expires_at_ms) {
    return {.action = Action::kWrite, .value = value, .expires_at_ms = expires_at_ms};
  }
  static Decision erase() { return {.action = Action::kErase}; }
  /// From `offset` on the value becomes these bytes, and the expiry this one; the rest stays. Bytes
  /// between the old end and `offset` become zeros; a key that is not there counts as empty. The
  /// cost depends on the bytes that change, and not on the length of the value.
  static Decision overwrite(std::uint64_t offset, std::string_view bytes,
                            std::uint64_t expires_at_ms) {
    return {.action = Action::kOverwrite,
            .value = bytes,
            .expires_at_ms = expires_at_ms,
            .offset = offset};
  }
  /// The value stays; the expiry becomes this one.
  static Decision expire(std::uint64_t expires_at_ms) { return overwrite(0, {}, expires_at_ms); }
};

/// Decides what becomes of a key, shown its element or, where there is none, null. It runs under
/// the stripe's lock: it may not call the session, and should be short. It may run several times:
/// again after room was made in a full heap.
using Mutator = FunctionRef<Decision(const ElementState* old)>;
/// The same, shown the range of the value that its caller names.
using PartMutator = FunctionRef<Decision(const ElementPart* old)>;

/// Receives the elements of a scan; may call the session.
using ElementSink = std::function<void(std::string_view key, std::string_view value)>;
/// Receives the keys of a scan that reads no values; may call the session.
using KeySink = std::function<void(std::string_view key)>;
struct Element {
  std::string value;
  std::uint64_t expires_at_ms = kNoExpiry;
};

/// One of several keys while a body decides on them: its element, and what becomes of it.
class ElementDraft {
 public:
  ElementDraft() = default;  // absent
  explicit ElementDraft(Element element) : element_(std::move(element)) {}

  bool there() const { return element_.has_value(); }
  /// Requires an element.
  const Element& operator*() const { return *element_; }
  const Element* operator->() const { return &*element_; }
  /// Whether it is to be written or erased: true of the same value, too.
  bool changed() const { return changed_; }

  void write(std::string value, std::uint64_t expires_at_ms) {
    element_ = Element{std::move(value), expires_at_ms};
    changed_ = true;
  }
  /// Decision::overwrite() of the element, or of none if the present one does not count; in these
  /// parts.
  void overwrite(const Decision& decision, bool counts, const Parts& parts = {});
  void erase() {
    changed_ = changed_ || there();
    element_.reset();
  }

 private:
  std::optional<Element> element_;
  bool changed_ = false;
};

/// Decides on several keys at once, shown what they hold; returns whether to do what its drafts
/// say. As a Mutator's call otherwise.
using ElementsBody = FunctionRef<bool(std::span<ElementDraft> drafts)>;

/// The version of a key at one instant. Two versions of a key are equal only if the key has not
/// changed between them (session.h, K6); unequal ones may also be due to a key beside it.
struct KeyVersion {
  std::uint64_t epoch = 0;            // wrap-arounds of line versions in the key's stripe
  std::uint32_t line_version = 0;     // version of its bucket's first line
  std::uint16_t element_version = 0;  // 0: not in the heap
  bool there = false;

  bool operator==(const KeyVersion&) const = default;
};

struct ModifyAllOptions {
  std::span<const KeyVersion> unchanged_since = {};  // versions that the first keys must still have
  bool reads_only = false;  // the body changes nothing: readers of the same keys may run meanwhile
};
/// A transaction's body: reads and changes the values in place (nothing: absent, or to be erased);
/// returns whether to commit. Runs under the locks of all its keys: it may not call the session.
using TransactionBody = std::function<bool(std::span<std::optional<std::string>> values)>;

/// A transaction's body as one on drafts: values that it leaves unchanged stay, and expiries stay.
bool decide_on_values(std::span<ElementDraft> drafts, const TransactionBody& body);

/// The results of a part of a sweep.
struct SweepPart {
  std::uint64_t removed = 0;  // elements past their expiry
  std::uint64_t visited = 0;  // lines of buckets, overflow lines included
  std::uint64_t skipped = 0;  // stripes with a lock that was not acquired in time, or that are
                              // damaged
  std::uint64_t next = 0;     // start of the next part; 0: the round is over
};

/// The locks of one rank's stripes, by kind.
struct LockKindReport {
  std::string kind;
  std::uint64_t stripes = 0;   // in which it is active
  std::uint64_t switches = 0;  // switches of these stripes
};

/// One stripe, for people, with the reason for its lock kind.
struct StripeReport {
  std::string kind;
  std::uint64_t switches = 0;
  std::uint64_t samples = 0;  // since the last evaluation; 0: the shares are not known
  double reads = 0;           // share of acquisitions that read
  double local = 0;           // share of acquisitions from the owner's node
  double contenders = 0;      // average agents at the lock on arrival, estimated
  std::string why;            // the costs of the kinds
};

struct KindChoice;  // stripe_monitor.h

/// Locks that a session has taken, could not have, or has not needed.
struct LockCounts {
  std::uint64_t shared = 0;       // grants to readers
  std::uint64_t exclusive = 0;    // grants to writers
  std::uint64_t contended = 0;    // acquires that had to wait
  std::uint64_t handed_over = 0;  // releases that woke the next agent of a queue
  std::uint64_t timeouts = 0;
  std::uint64_t not_needed = 0;  // reads of keys of the session's node that took none
};

/// Reads of elements of other ranks without their locks, as a session counts them.
struct OptimisticReads {
  std::uint64_t warm = 0;       // accepted, with one message
  std::uint64_t cold = 0;       // accepted, with two
  std::uint64_t refused = 0;    // read under the lock then
  std::uint64_t by_owners = 0;  // refused, and read by the owner under the lock
  std::uint64_t repeated = 0;   // elements asked for again: they changed, or the permit was new

  std::uint64_t all() const { return warm + cold + refused + by_owners; }
  OptimisticReads& operator+=(const OptimisticReads& more) {
    warm += more.warm;
    cold += more.cold;
    refused += more.refused;
    by_owners += more.by_owners;
    repeated += more.repeated;
    return *this;
  }
};

/// How operations on keys of other nodes went, and what else went through the fabric, as a session
/// counts it.
struct RemoteWork {
  OptimisticReads reads;              // of single keys, those that tried to do without locks
  std::uint64_t edits_by_owners = 0;  // edits that the keys' owners made
  std::uint64_t messages = 0;         // that the session has sent
  std::uint64_t round_trips = 0;      // for which it has waited
  // Operations of the fabric on memory of this node. Locks such as MCS queues make them, which use
  // one kind of atomic on all nodes, and so does the heap.
  std::uint64_t loopbacks = 0;
  std::uint64_t flushes = 0;  // calls of MPI_Win_flush

  RemoteWork& operator+=(const RemoteWork& more) {
    reads += more.reads;
    edits_by_owners += more.edits_by_owners;
    messages += more.messages;
    round_trips += more.round_trips;
    loopbacks += more.loopbacks;
    flushes += more.flushes;
    return *this;
  }
};

/// How the operations of a process have waited for a rank, where they go through the fabric: those
/// on other nodes, and some on its own. A rank is silent if one has waited for a second or longer,
/// and none has been answered since.
struct RankWaits {
  std::uint64_t waits = 0;       // those that were answered
  std::uint64_t waited_ns = 0;   // by them, in all
  std::uint64_t unanswered = 0;  // those that ended at a deadline
  bool silent = false;

  std::uint64_t mean_ns() const { return waits == 0 ? 0 : waited_ns / waits; }
  RankWaits& operator+=(const RankWaits& more) {
    waits += more.waits;
    waited_ns += more.waited_ns;
    unanswered += more.unanswered;
    silent |= more.silent;
    return *this;
  }
};

/// How edits of other nodes' keys (puts and the like) are made: by one-sided operations under the
/// stripe's lock, or by the key's owner, with one message each way. An edit that its owner does not
/// begin in time, since it waits in a blocking MPI call or opens a store, is taken back and made
/// one-sided. kAuto: by the owner, unless messages wait for their receiver, as with Open MPI.
enum class EditPath : std::uint8_t { kAuto, kOneSided, kOwner };

class AddressCache;
class CallSlots;

struct SessionOptions {
  std::chrono::nanoseconds timeout =
      std::chrono::seconds(10);        // of an operation's waits, for locks and for owners
  std::uint32_t lock_times = 0;        // measure each n-th lock; 0: none
  const KindChoice* choice = nullptr;  // how lock kinds are chosen while running; null: never
  AddressCache* addresses = nullptr;   // of the process; null: with several nodes, reads lock
  bool reads_lock = false;             // every read takes its lock
  CallSlots* calls = nullptr;          // of the process; null: every edit is one-sided
  // For the owner of a key to begin an edit; at most half of the timeout.
  std::chrono::nanoseconds patience = std::chrono::milliseconds(25);
};

}  // namespace keyway::store
