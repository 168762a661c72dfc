// The client library: one API over URIs.
//
//   local:   embedded, in this process; ranks are parts of its memory
//   mpi:     collective over MPI_COMM_WORLD (client/mpi.h: over any communicator)
//   redis://[[user]:password@]host[:port]   over a socket to keywayd, or to a Redis server
//   rediss://...                            the same over TLS
//   unix:/path/of/socket                    the same over a Unix socket
//
// *What.* Store opens a store and knows its shape; Session performs operations; Inspector reports
// and administers. Results are values. *Thread safety.* A Store may be shared by threads. A Session
// belongs to one thread (or fiber); open one for each. Sessions end before their Store does.
// *Errors.* Status and Result (locks/base/status.h). Operations on keys fail with
//   kInvalidArgument  key not of 1 B to 64 KiB, value above 512 MiB
//   kOutOfSpace       the owner's heap has no room; nothing has changed. Of a heap on another node
//                     the session may say so for up to 10 ms after it has looked
//   kTimeout          a lock was not acquired within `timeout`; the message names the holder
//   kInDoubt          the key's owner did not answer within `timeout`: the write may take effect
//   kCorruption       an element read from another rank does not match its checksum
// and with what each says below. Single-key operations are linearizable.
// *Over a socket.* Operations also fail with kUnavailable, and kTimeout then means that the server
// did not answer; the message says whether a write was not sent, or was sent and may have taken
// effect. Connections that break are opened again, with pauses, for up to `timeout`. Functions that
// need the store's memory (scan_from, and all of Inspector) return kUnsupported, or nothing. A body
// that decides on elements runs again each time that another client was faster.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keyway/kvstore/types/types.h"
#include "keyway/locks/base/status.h"

namespace keyway {

using store::Decision;
using store::EditPath;
using store::Element;
using store::ElementDraft;
using store::ElementInfo;
using store::ElementPart;
using store::ElementsBody;
using store::ElementSink;
using store::ElementsReader;
using store::ElementState;
using store::HeapReport;
using store::KeySink;
using store::KeyVersion;
using store::LockCounts;
using store::LockKindReport;
using store::ModifyAllOptions;
using store::Mutator;
using store::OptimisticReads;
using store::PartMutator;
using store::PartReader;
using store::PutIf;
using store::PutOptions;
using store::RangeOf;
using store::RankWaits;
using store::Reader;
using store::RemoteWork;
using store::StripePlace;
using store::StripeReport;
using store::SweepPart;
using store::TransactionBody;
using store::ValueRange;
using store::VolumeCounts;
using store::VolumeReport;
using store::VolumeUsage;

/// A key and a value to be put under it; views into the caller's memory.
using KeyValue = std::pair<std::string_view, std::string_view>;

/// Options of open(). Every field is also a parameter of the URI, which wins:
/// "local:?memory=256MiB&lock=d-mcs". Sizes take KiB, MiB, GiB; times ms or s. For a server only
/// timeout and password apply; its URI has other parameters (client/wire/uri.h).
struct StoreOptions {
  std::uint64_t memory_bytes = 1ULL << 30;  // memory=1GiB       per rank, all included
  std::uint64_t element_bytes = 128;        // element_bytes=128 expected key + value, on average
  std::uint64_t buckets = 0;     // buckets=0         per rank; 0: from memory and element_bytes
  std::uint32_t stripes = 4096;  // stripes=4096      locks per rank, at most
  std::uint32_t sessions = 64;   // sessions=64       open at once, per rank
  std::uint32_t locks_per_session = 0;  // locks_per_session=0  queue locks held at once; see README
  std::string lock = "default";         // lock=default|auto|KIND[:LEVER=VALUE,...]  see README
  std::uint32_t expect_reads = 95;      // expect_reads=95   %, a hint for lock=auto
  std::uint32_t expect_local = 0;       // expect_local=0    % on keys of one's own node; 0: unknown
  std::string lock_costs = "measured";  // lock_costs=measured  or nominal, or NAME:NS,...: README
  // hash_secret=HEX  32 digits, for repeatable runs; a client that knows the secret can choose keys
  // that share a bucket. Empty: drawn from the operating system when the store opens
  std::string hash_secret;
  std::uint32_t lock_times = 0;  // lock_times=0      wait and hold times of each n-th lock
  bool benchmark = false;        // benchmark=off     allows lock=none: no exclusion
  std::chrono::milliseconds timeout{10000};  // timeout=10s      of an operation's wait for locks
  std::string password;                      // for a server; in the URI: see client/wire/uri.h
  std::uint32_t ranks = 1;                   // ranks=1           local: only
  std::string topology;                      // topology=nodes=4  override of discovery (topology.h)
  bool force_rma = false;            // force_rma=off     mpi: only: through MPI on one node, too
  std::uint32_t ranks_per_node = 0;  // ranks_per_node=0  mpi: only: pretend nodes; 0: discover
  // addresses=32MiB  mpi: only: per process, 16 B for the place of an element of another node,
  // which one message reads then. 0: every read takes its lock, if the store has several nodes
  std::uint64_t address_bytes = 32 << 20;
  bool reads_lock = false;                 // reads=optimistic  or locked: every read takes its lock
  EditPath path = EditPath::kAuto;         // path=auto  mpi: only: or onesided, owner (types.h)
  std::chrono::milliseconds patience{25};  // patience=25ms  for the owner to begin; see types.h
};

struct SessionImpl;
class Inspector;

/// One thread's access to a store. Movable, not copyable.
///
///   keyway::Session session = store.session().value();
///   if (keyway::Status put = session.put("user:1", "Ada"); !put.ok()) {
///     std::fprintf(stderr, "%s\n", std::string(put.message()).c_str());
///   }
///   std::string value;  // its memory is used again: no allocation in a loop
///   while (session.get("user:1", value).ok()) use(value);
///
///   // One atomic step on several keys, on whatever ranks they are: a transfer.
///   const std::array<std::string_view, 2> accounts = {"alice", "bob"};
///   session.transact(accounts, [](std::span<std::optional<std::string>> balances) {
///     if (!balances[0] || !balances[1]) return false;  // kMismatch, and nothing has changed
///     std::swap(*balances[0], *balances[1]);
///     return true;
///   });
class Session {
 public:
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // --- one key
  /// The value. kNotFound.
  Result<std::string> get(std::string_view key);
  /// Writes the value to `out` and uses its memory again: no allocation once it is large enough.
  Status get(std::string_view key, std::string& out);
  /// Shows the element to `reader` where it lies, without a copy. kNotFound.
  Status read(std::string_view key, Reader reader);
  /// Shows the range of the value that `range_of` names, told its length; the rest of a large value
  /// is neither read nor transferred (over a socket it is). kNotFound.
  Status read_part(std::string_view key, RangeOf range_of, PartReader reader);
  /// Bytes [offset, offset + length) of the value, cut at its end. kNotFound.
  Status get_range(std::string_view key, std::uint64_t offset, std::uint64_t length,
                   std::string& out);
  /// Length and expiry. kNotFound.
  Result<ElementInfo> info(std::string_view key);
  /// Writes the value, whether the key is there or not; without options the element then has no
  /// expiry. kExists or kNotFound when options.when forbids.
  Status put(std::string_view key, std::string_view value, const PutOptions& options = {});
  /// Puts only if the key is not there. kExists.
  Status insert(std::string_view key, std::string_view value);
  /// Puts only if the key is there; its expiry stays. kNotFound.
  Status update(std::string_view key, std::string_view value);
  /// Puts only if the value is `expected`; the expiry stays. kNotFound, kMismatch.
  Status compare_and_set(std::string_view key, std::string_view expected, std::string_view value);
  /// kNotFound.
  Status erase(std::string_view key);
  /// Adds to a value that is a 64-bit integer as this writes it, or to 0 when the key is not there;
  /// returns the sum. kNotANumber; kOverflow.
  Result<std::int64_t> increment(std::string_view key, std::int64_t delta = 1);
  /// Adds to the end of the value; returns its new length in bytes.
  Result<std::uint64_t> append(std::string_view key, std::string_view suffix);
  /// Overwrites bytes from `offset` on, filling a gap with zeros; returns the new length. kNotFound
  /// when `when` is kPresent and the key is not there.
  Result<std::uint64_t> set_range(std::string_view key, std::uint64_t offset,
                                  std::string_view bytes, PutIf when = PutIf::kAlways);
  /// The element is gone from this time on, in ms since 1970 UTC, by its owner's and its readers'
  /// clocks. kNotFound.
  Status expire_at(std::string_view key, std::uint64_t unix_ms);
  /// The element is gone after this span. kNotFound.
  Status expire_after(std::string_view key, std::chrono::milliseconds span);
  /// Removes the expiry. kNotFound.
  Status persist(std::string_view key);
  /// Shows the element to `mutate`, which decides what becomes of it, in one atomic step; returns
  /// what that says.
  Status modify(std::string_view key, Mutator mutate);
  /// The same with a range of the value. With Decision::overwrite() or expire() it costs as much as
  /// the bytes that it reads and changes, whatever the value's length (over a socket: all of it).
  Status modify_part(std::string_view key, ValueRange range, PartMutator mutate);
  /// Lets modify_all() prove that the key has not changed since; also for a missing key. An element
  /// past its expiry is removed first, so that its end is no later change.
  Result<KeyVersion> version_of(std::string_view key);

  // --- several keys
  /// A batch of single gets: not atomic as a whole, but their memory accesses overlap. codes[i] is
  /// kOk, kNotFound or what get() would return. `out` and `codes` are at least as long as `keys`.
  void get_many(std::span<const std::string_view> keys, std::span<std::string> out,
                std::span<Code> codes);
  /// Asks for what operations on these keys will touch of this process's memory, so that the misses
  /// of all overlap. Returns a bit for each of the first 64: it is on another node. Takes no lock.
  std::uint64_t prefetch(std::span<const std::string_view> keys);
  /// Reads those of the first 64 keys whose places on other nodes are known, if there are two, in
  /// one round trip, for the next get() of each: it shows the value as of now, without waiting,
  /// unless this session changes the key before. Returns a bit for each that it has. The keys'
  /// bytes stay in place until the next call, which forgets what is left.
  std::uint64_t read_ahead(std::span<const std::string_view> keys);
  /// Shows the elements in the order of `keys`, all as they are at one instant. After a failure
  /// some may have been shown.
  Status read_all(std::span<const std::string_view> keys, ElementsReader reader);
  /// All values at one instant, on whatever ranks they are.
  Result<std::vector<std::optional<std::string>>> get_all(std::span<const std::string_view> keys);
  /// Puts all or nothing, at one instant. With options.when kAbsent or kPresent, nothing unless it
  /// holds for every key.
  Status put_all(std::span<const KeyValue> pairs, const PutOptions& options = {});
  /// Erases all at one instant; returns how many were there.
  Result<std::uint64_t> erase_all(std::span<const std::string_view> keys);
  /// Reads the keys, runs `body`, writes what it left changed, all at one instant. kMismatch when
  /// the body returned false; kOutOfSpace leaves everything as it was. The body may run several
  /// times: again after room was made in a full heap.
  Status transact(std::span<const std::string_view> keys, const TransactionBody& body);
  /// The same with the elements' expiries, which the body may change as well. kMismatch, and no
  /// call of the body, when a key has changed since the version that options give.
  Status modify_all(std::span<const std::string_view> keys, ElementsBody body,
                    const ModifyAllOptions& options = {});

  // --- the whole store
  /// Shows elements in hash order, at least `limit` of them unless the end comes first. Begin with
  /// cursor 0 and continue with the returned cursor, until that is 0. A step shows more than
  /// `limit` elements only when the last ones have the same place in that order (bucket and tag).
  /// An element that stays from begin to end is shown exactly once; one that comes or goes
  /// meanwhile may be shown. A cursor means the same to all sessions of a store; another store
  /// refuses it (kInvalidArgument), or continues at some place.
  Result<std::uint64_t> scan(std::uint64_t cursor, std::uint64_t limit, const ElementSink& sink);
  /// As scan(), but without values: these are neither read nor transferred. On a Redis both show
  /// keys of strings only.
  Result<std::uint64_t> scan_keys(std::uint64_t cursor, std::uint64_t limit, const KeySink& sink);
  /// As scan_keys(), but only what lies on this rank.
  Result<std::uint64_t> scan_keys_rank(std::uint32_t rank, std::uint64_t cursor,
                                       std::uint64_t limit, const KeySink& sink);
  /// As scan(), but only what lies on this rank.
  Result<std::uint64_t> scan_rank(std::uint32_t rank, std::uint64_t cursor, std::uint64_t limit,
                                  const ElementSink& sink);
  /// Shows at most `limit` elements in hash order from `key` on (from its place in that order when
  /// the key is absent); returns how many.
  Result<std::uint64_t> scan_from(std::string_view key, std::uint64_t limit,
                                  const ElementSink& sink);
  /// The same without values.
  Result<std::uint64_t> scan_keys_from(std::string_view key, std::uint64_t limit,
                                       const KeySink& sink);
  /// The number of elements, by counters that continue to change while they are summed up.
  Result<std::uint64_t> size();
  /// The same of one rank.
  Result<std::uint64_t> size_of(std::uint32_t rank);
  /// Erases everything; other sessions may continue, and their concurrent writes may stay.
  Status clear();
  /// The same of one rank.
  Status clear_rank(std::uint32_t rank);
  /// Calls `body` while no other session reads or writes anything in the store: all its operations
  /// by this session are one step to them. It costs a lock for each stripe of the store, so it is
  /// for operations on all keys; a queue lock needs as many `locks_per_session`. Not within itself.
  Status exclusively(FunctionRef<void()> body);
  /// The time that spans of time to live count from, in ms since 1970 UTC: the wall clock of the
  /// key's rank, but it never goes back. It costs a round trip where the key is on another node.
  /// Within exclusively() and the body of modify_all() it is the time by which that operation
  /// judges expiries, whatever the key.
  std::uint64_t now_ms(std::string_view key);

  /// Reports, locks and administration, by this session.
  Inspector inspector();

 private:
  friend class Store;
  explicit Session(std::unique_ptr<SessionImpl> impl);
  std::unique_ptr<SessionImpl> impl_;
};

/// Inspection and administration of a store, beside its data: contents, locks, expired elements. A
/// view of a session, which outlives it, and of its thread.
///
///   const keyway::VolumeReport volume = session.inspector().report(0).value();
///   std::printf("%llu elements\n", static_cast<unsigned long long>(volume.elements));
///   for (const keyway::LockKindReport& kind : session.inspector().lock_kinds(0)) {
///     std::printf("%s guards %llu stripes\n", kind.kind.c_str(),
///                 static_cast<unsigned long long>(kind.stripes));
///   }
class Inspector {
 public:
  // --- the contents of a rank
  /// Walks a rank's volume: elements, bytes, free memory.
  Result<VolumeReport> report(std::uint32_t rank);
  /// The contents of a rank's volume, by counters: one for each stripe and each 16 KiB of the heap.
  VolumeUsage usage(std::uint32_t rank);
  /// The figures of usage() that concern elements. Its cost does not depend on the memory's size.
  VolumeCounts counts(std::uint32_t rank);
  /// Heap bytes of a rank that this session has leased and not used.
  std::uint64_t leased_bytes(std::uint32_t rank);
  /// Bytes of an element that is written as a whole: its entry, and its block. 0 of a server's.
  std::uint64_t stored_bytes(std::string_view key, const ElementInfo& info);

  // --- locks
  /// Which stripe guards a key.
  StripePlace stripe_of(std::string_view key);
  /// How many stripes of a rank are guarded by which lock kind.
  std::vector<LockKindReport> lock_kinds(std::uint32_t rank);
  /// Why the lock of one of these stripes is as it is: kind, switches and workload.
  StripeReport stripe_report(std::uint32_t rank, std::uint64_t stripe);
  /// Activates a kind of lock=auto on one stripe, for all sessions; operations continue meanwhile.
  /// kInvalidArgument if the store has no such kind or stripe.
  Status switch_lock(std::uint32_t rank, std::uint64_t stripe, std::string_view kind);
  /// Counters of the locks that this session took.
  LockCounts lock_counts();
  /// The same, one line for people.
  std::string lock_report();
  /// How this session's operations on keys of other nodes went.
  RemoteWork remote_work();

  // --- expiry
  /// Removes a rank's elements past their expiry, as a write in a full heap does; returns how many.
  Result<std::uint64_t> sweep_expired(std::uint32_t rank);
  /// A part of a sweep, for a caller that repeats it: begin with `from` 0, continue with the
  /// returned value. A part ends once it has visited `lines` lines of buckets. It visits only
  /// stripes in which an element expired 400 ms ago or earlier, and costs a look at two words if
  /// nothing expires. A stripe that it cannot visit ends the part, and waits for the next round.
  Result<SweepPart> sweep_part(std::uint32_t rank, std::uint64_t from, std::uint64_t lines);

 private:
  friend class Session;
  explicit Inspector(SessionImpl& session) : session_(&session) {}
  SessionImpl* session_;
};

namespace client {
struct StoreMaker;
}  // namespace client

/// An open store. Movable, not copyable.
///
///   auto store = keyway::Store::open("local:?memory=256MiB&lock=auto");
///   if (!store.ok()) return fail(store.status().message());
///   std::vector<std::jthread> threads;
///   for (int i = 0; i < 4; ++i) {
///     threads.emplace_back([session = store->session().value()]() mutable { work(session); });
///   }
///
/// On `mpi:` opening and destruction are collective.
class Store {
 public:
  /// kInvalidArgument for a bad URI or option, kOutOfSpace when memory cannot be had, kUnavailable
  /// when MPI cannot, or a server; see wire::Connection::open(). On `mpi:` every process gets the
  /// same answer.
  static Result<Store> open(std::string_view uri, StoreOptions options = {});
  /// Instead of open(), by a process that cannot take part: on `mpi:` it sends `why` to the others,
  /// and open() fails with it on all of them. Returns the agreed status; elsewhere `why`.
  static Status decline(std::string_view uri, Status why);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  /// A session with this process as its home (local: the ranks in turn). kUnavailable if `sessions`
  /// are open.
  Result<Session> session();
  /// A session at home on a rank of this process.
  Result<Session> session_at(std::uint32_t rank);

  /// Volumes, and so ranks, of the store.
  std::uint32_t ranks() const;
  /// The rank that owns a key.
  std::uint32_t owner_of(std::string_view key) const;
  /// This process's number and the number of processes; on `mpi:` these are rank and ranks.
  std::uint32_t process() const;
  std::uint32_t processes() const;
  /// Waits for every process; collective.
  void barrier();
  /// Every process's bytes, in order, on process 0; nothing on the others. Collective.
  std::vector<std::string> gather(std::string_view bytes);
  /// Every process's bytes, in order, on every process. Collective.
  std::vector<std::string> gather_everywhere(std::string_view bytes);
  /// Asks every process to end, this one too; any thread, not collective. Programs decide how.
  void ask_all_to_end();
  /// Whether some process has asked. Reads only this process's own memory.
  bool asked_to_end() const;
  /// How this process has waited for a rank (mpi: only; with Open MPI, none is silent). Any thread.
  RankWaits rank_waits(std::uint32_t rank) const;
  /// The choices of open(), one line for people: ranks, topology, buckets, stripes, heap, lock.
  std::string describe() const;
  const StoreOptions& options() const;

  struct Impl;

 private:
  friend struct client::StoreMaker;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The contents of a URI: its scheme and the resulting options. For programs that check a URI
/// before they start. kInvalidArgument with a sentence.
struct ParsedUri {
  std::string scheme;
  StoreOptions options;
};
Result<ParsedUri> parse_store_uri(std::string_view uri, StoreOptions defaults = {});

}  // namespace keyway
