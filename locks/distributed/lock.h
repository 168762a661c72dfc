// The lock concept: the interface of every kind in this folder, and the words that all kinds share.
//
// *What.* A lock kind is a value that holds parameters only. The lock itself is the words at a
// LockSite, and a LockAgent acquires it. So one kind object serves a million locks.
// *Thread safety.* Kind objects are immutable. A LockAgent and a Grant belong to one agent.
// *Invariants.*
//   L1  A granted writer excludes all other agents; granted readers exclude writers only.
//   L2  A failed or timed-out acquire leaves nothing behind that could delay other agents.
//   L3  release() completes everything that the holder posted to the lock's home rank before any
//       other agent is granted. The holder itself flushes operations that it posted to other ranks.
//       It may return before others find the lock free, if its kind says so.
//   L4  Each fencing token of a lock is greater than all earlier ones. An exclusive grant has one
//       token; it is assigned when the holder first asks for it.
// *Source.* Design section 5.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/status.h"
#include "keyway/locks/base/topology.h"
#include "keyway/locks/distributed/lock_params.h"
#include "keyway/locks/fabric/address.h"

namespace keyway::locks {

enum class Mode : std::uint8_t { kRead, kWrite };

/// Bytes of one lock at its home rank: one cache line, so that a lock costs one miss.
///   word 0  the kind's main word (a state or a queue tail)
///   word 1  the last fencing token that was given out
///   word 2  for kinds with no other word that leads to the holder: the last holder,
///           AgentId::word() or its node's address; meaningful while the lock is held
///   word 3  the kind's second word
///   words 4..7 reserved for kinds that need more
inline constexpr std::uint64_t kLockLineBytes = 64;
inline constexpr std::uint64_t kTokenOffset = 8;
inline constexpr std::uint64_t kHolderOffset = 16;
inline constexpr std::uint64_t kSecondOffset = 24;

/// The place of a lock's words. Zeroed memory is a free lock.
struct LockSite {
  fabric::Address line;   // kLockLineBytes at the lock's home rank, aligned to them
  fabric::Address group;  // line of the group of locks it belongs to (foMPI's master); may be null
  // Offset, the same in every rank's segment, of the lock's words there (satellite.h); 0: it has
  // none, and kinds that need them cannot use the site.
  std::uint64_t satellites = 0;
};

/// The guarantees of a kind, for tests and reports.
struct LockTraits {
  std::string_view name;       // as in `--lock NAME`
  bool readers_share = false;  // readers enter together
  // Exclusive grants in the order of their first atomic; with starvation_free, shared grants too.
  bool fifo = false;
  bool queued = false;           // waits on its own word and needs a queue node
  bool starvation_free = false;  // each waiter is eventually granted
  bool satellites = false;       // its sites need words on every rank (satellite.h)
};

/// A kind's state in a grant from acquire to release: a plain struct that the kind defines.
/// Example: `.payload = node` in acquire, `grant.payload.as<std::uint32_t>()` in release.
class GrantPayload {
 public:
  static constexpr std::size_t kBytes = 16;
  template <class T>
  static constexpr bool kFits =
      sizeof(T) <=
      kBytes&& std::is_trivially_copyable_v<T>&& std::has_unique_object_representations_v<T>;

  GrantPayload() = default;
  // Word by word, so that a grant is not copied as one block: a processor that loads 16 bytes which
  // it has just stored in parts waits for these stores, at each acquire.
  GrantPayload(const GrantPayload& from) : words_{from.words_[0], from.words_[1]} {}
  GrantPayload& operator=(const GrantPayload& from) {
    words_ = {from.words_[0], from.words_[1]};
    return *this;
  }
  template <class T>
  requires kFits<T> GrantPayload(const T& state) {
    if constexpr (kIsWord<T>) {
      words_[0] = std::bit_cast<Word<T>>(state);
    } else {
      std::memcpy(words_.data(), &state, sizeof state);
    }
  }
  template <class T>
  requires kFits<T> T as()
  const {
    if constexpr (kIsWord<T>) {
      return std::bit_cast<T>(static_cast<Word<T>>(words_[0]));
    } else {
      T state;
      std::memcpy(static_cast<void*>(&state), words_.data(), sizeof state);
      return state;
    }
  }
  /// Equal for equal payloads.
  const std::array<std::uint64_t, kBytes / 8>& words() const { return words_; }

 private:
  template <class T>
  using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  template <class T>
  static constexpr bool kIsWord = sizeof(T) == sizeof(Word<T>);

  std::array<std::uint64_t, kBytes / 8> words_{};
};

/// Proof of holding a lock. Pass it to release() exactly once.
struct Grant {
  Mode mode = Mode::kWrite;
  bool token_known = true;     // false: exclusive, and its token is not assigned yet
  bool read_first = false;     // reads posted with the acquire were made under the lock
  GrantPayload payload;        // the kind's own
  std::uint64_t token = 0;     // 0 for a shared grant
  std::uint64_t timed_ns = 0;  // time of the grant, if times are taken (lock_agent.h)
};
static_assert(sizeof(Grant) == 40);  // it is copied at every acquire

/// A description of a lock for people: its holder and its waiters. Agents continue meanwhile, so
/// any detail may be out of date.
struct LockDump {
  std::string kind;
  fabric::Address line;
  bool write_held = false;
  bool holder_known = false;
  fabric::AgentId holder;
  std::uint64_t readers = 0;
  std::uint64_t all_holders = 0;  // agents that hold LOCKALL on the lock's group
  std::uint64_t token = 0;        // the last assigned one; the present holder may have none yet
  std::vector<fabric::AgentId> queue;  // waiting agents, in order, if the kind knows it

  /// One line: "gbh at rank 2 +0x1240: written by agent 1.3 (last token 17), waiting: 0.1 2.0".
  std::string describe() const;
};

/// Counters of one agent. Plain numbers: only its agent writes them.
struct LockStats {
  std::uint64_t reads = 0;      // shared grants
  std::uint64_t writes = 0;     // exclusive grants
  std::uint64_t contended = 0;  // acquires that had to wait or retry, granted or not
  std::uint64_t try_failures = 0;
  std::uint64_t timeouts = 0;
  /// Releases that woke a successor, by the level of the queue in which it waited: 1 is the queue
  /// of the whole machine, with successor and releaser anywhere. 0 is unused.
  std::array<std::uint64_t, Topology::kMaxLevels + 1> handovers_at{};

  void handed_over(std::uint32_t level) { ++handovers_at[level]; }
  std::uint64_t handovers() const;  // at all levels
  LockStats& operator+=(const LockStats& other);
};

template <class E>
class LockAgent;

/// For an acquire with which nothing is read.
struct NoReads {
  void operator()() const {}
};

/// L is a lock kind that runs on endpoints of type E.
template <class L, class E>
concept LockKind = requires(const L& lock, LockAgent<E>& agent, const LockSite& site, Mode mode,
                            Deadline deadline, Grant& grant, const LockParams& params) {
  { L::make(params) } -> std::same_as<Result<L>>;
  { lock.traits() } -> std::same_as<LockTraits>;
  { lock.acquire(agent, site, mode, deadline) } -> std::same_as<Result<Grant>>;
  { lock.try_acquire(agent, site, mode) } -> std::same_as<Result<Grant>>;
  { lock.release(agent, site, grant) } -> std::same_as<void>;
  { lock.dump(agent, site) } -> std::same_as<LockDump>;
};

/// The Status of an acquire that timed out; names holder and queue.
Status timed_out(const LockDump& dump);

}  // namespace keyway::locks
