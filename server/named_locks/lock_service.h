// LockService: named reader-writer locks for the clients of all ranks.
//
// *What.* A separate store holds the locks. Names are divided into shards, one per slot. A shard is
// one element with its locks and its last token, and each step of a lock (lock_state.h) is one
// atomic change of it. So any rank makes any step, by one-sided access, and the rank that owns the
// name's slot is the home of the name's lock.
// *Thread safety.* Any thread or fiber may call it; it waits as any operation of the store does.
// *Invariants.*
//   S1  A name's tokens grow with each grant, across all holders, and also if its lock was
//       forgotten because it had no holder: the shard's count of tokens stays. A shard's first
//       token is the time in us, so that they grow over a restart too, unless the clock was set
//       back or more than a million per second were assigned.
//   S2  Memory is that of the shards' counts and of what is held and waited for.
//   S3  Giving up, ending and letting in never fail for lack of memory.
//   S4  A client that another client's step grants is woken, at once on the same rank, else by
//       wake_mailbox.h. A lost wake-up costs no more than the client's own timeout, at which it
//       checks.
// *Time.* A lease ends by the wall clock of the rank that checks: clocks of a job's hosts are
// assumed to agree to much less than a lease, as for the expiry of keys. Otherwise a lease is
// shorter or longer by the difference; tokens distinguish the holder from an earlier one.
// *Source.* Design section 5; issue of tokens as in Chubby (OSDI 2006).
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "keyway/client/client.h"
#include "keyway/locks/base/mutex.h"
#include "keyway/server/named_locks/lock_record.h"
#include "keyway/server/named_locks/session_pool.h"
#include "keyway/server/named_locks/wake_mailbox.h"

namespace keyway::server {

struct LockLimits {
  std::uint32_t waiters = 1024;           // for one lock
  std::uint32_t held = 1024;              // by one connection
  std::uint64_t lease_ms = 30'000;        // if the client names none
  std::uint64_t timeout_ms = 10'000;      // likewise
  std::uint64_t longest_ms = 86'400'000;  // maximum of leases and timeouts
};

/// Wakes waiting clients.
class Waker {
 public:
  /// Tells the client to check its state. Any thread may call it, also for a client that has gone.
  virtual void wake(std::uint64_t client) = 0;

 protected:
  ~Waker() = default;
};

/// Whether a token belongs to a holder of a lock.
enum class TokenFit : std::uint8_t { kHolds, kOthersHold, kNobodyHolds };

class LockService {
 public:
  /// One for each rank, over a store that it alone uses and that outlives it.
  LockService(Store& store, std::uint32_t rank, const LockLimits& limits);

  const LockLimits& limits() const { return limits_; }

  // Steps, of clients of this rank. kOutOfSpace from ask() alone.
  Result<Standing> ask(std::string_view name, LockClaim claim, bool may_wait);
  Result<Standing> look(std::string_view name, std::uint64_t client, bool give_up);
  Result<TokenFit> release(std::string_view name, std::uint64_t token);
  Result<TokenFit> renew(std::string_view name, std::uint64_t token, std::uint64_t lease_ms);
  Status leave(std::string_view name, std::uint64_t client);

  struct Info {
    LockState lock;
    std::uint64_t now_ms = 0;
  };
  Result<Info> info(std::string_view name);

  /// The server ends, and its clients' connections with it: no client may wait any more. Call it
  /// before the first of them ends, so that its locks do not go to clients that end as well. Any
  /// thread.
  void end() { ending_.store(true, std::memory_order_release); }  // before connections are notified
  bool ending() const { return ending_.load(std::memory_order_acquire); }

  /// From here on a client may be woken; before it asks.
  void expect_wake(std::uint64_t client, Waker& waker);
  void expect_no_wake(std::uint64_t client);
  /// Clients that may be woken.
  std::size_t waiting() const { return waiting_.load(std::memory_order_relaxed); }  // a count alone
  /// Wakes clients that other ranks have granted. True if there were any.
  Result<bool> collect_mail();

 private:
  using Step = FunctionRef<void(LockState& lock, Turn& turn)>;

  /// Makes a step in the lock's shard; `actor` is not woken by what it does itself.
  Status change(std::string_view name, ClientRef actor, Step step);
  Decision changed(std::string_view name, const ElementState* old, Step step, bool in_place,
                   Turn& turn, std::string& bytes) const;
  void wake_all(Session& session, const Turn& turn, ClientRef actor);
  void wake(std::uint64_t client);
  std::string_view shard_of(std::string_view name) const;

  std::uint32_t rank_;
  LockLimits limits_;
  SessionPool sessions_;
  WakeMailbox mailbox_;
  std::string shard_keys_;  // two bytes each
  mutable Mutex mutex_;
  std::unordered_map<std::uint64_t, Waker*> wakers_ KW_GUARDED_BY(mutex_);
  std::atomic<std::size_t> waiting_{0};
  std::atomic<bool> ending_{false};
};

}  // namespace keyway::server
