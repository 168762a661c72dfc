// LockState: a named lock as a value, and what can happen to it as functions.
//
// *What.* A lock has holders, readers together or one writer, and waiters in the order in which
// they came. A waiter is granted as soon as it can enter and the one before it has been granted: so
// adjacent waiting readers enter together, and no client overtakes a waiting writer.
// *Thread safety.* Values, and functions of their arguments: lock_service.h makes each of them one
// atomic step.
// *Invariants*, of a lock between two functions:
//   N1  Holders are readers, or one writer alone.
//   N2  The first waiter conflicts with the holders; without a holder there is no waiter.
//   N3  First come, first served: a newcomer gets a grant only if there is no waiter, else the
//       first waiter gets it.
//   N4  Each grant has a token, greater than all before it.
//   N5  A client that another client's step grants is in Turn::wake; and so is the first waiter,
//       when it has become the first, or when a lease ends sooner than it knows.
//   N6  Only ask() makes a lock larger, in bytes too (lock_record.h).
// *Source.* Design section 5; leases: Gray and Cheriton, SOSP 1989. Fencing tokens: Burrows,
// "The Chubby lock service", OSDI 2006 (sequencers).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::server {

enum class LockMode : std::uint8_t { kRead, kWrite };

/// A client of the job: the rank that serves it, and its id there.
struct ClientRef {
  std::uint32_t rank = 0;
  std::uint64_t client = 0;
  bool operator==(const ClientRef&) const = default;
};

/// A holder of a lock, or a waiter for it.
struct LockClaim {
  ClientRef who;
  LockMode mode = LockMode::kRead;
  std::uint64_t token = 0;     // for a holder
  std::uint64_t lease_ms = 0;  // how long it is to hold
  std::uint64_t at_ms = 0;     // wall clock: a holder's lease ends, a waiter has come
  std::string address;         // the client's, for people
  bool operator==(const LockClaim&) const = default;
};

struct LockState {
  std::string name;
  std::vector<LockClaim> holders;  // in the order of their tokens
  std::vector<LockClaim> waiters;  // first come first
  bool is_free() const { return holders.empty() && waiters.empty(); }
  bool operator==(const LockState&) const = default;
};

/// The inputs of a step besides the lock, and its remaining work.
struct Turn {
  std::uint64_t now_ms = 0;      // wall clock
  std::uint64_t last_token = 0;  // given out; raised by each grant
  bool changed = false;
  std::vector<ClientRef> wake;  // N5
};

/// A client's state after its step.
struct Standing {
  enum class Kind : std::uint8_t {
    kGranted,      // token
    kWaiting,      // look_at_ms
    kBusy,         // not granted, and was not to wait
    kTooMany,      // as many wait as may
    kHoldsAlready  // token
  };
  Kind kind = Kind::kBusy;
  std::uint64_t token = 0;
  std::uint64_t look_at_ms = 0;  // for the first waiter: when the next lease ends; else 0
};

/// Ends the leases that are over by now.
void end_lapsed(LockState& lock, Turn& turn);

/// A client requests the lock: `claim` without token and times. It neither holds it nor waits for
/// it, or the result is kHoldsAlready. `may_wait`: it waits if it cannot be granted, unless
/// `most_waiters` do already.
Standing ask(LockState& lock, LockClaim claim, bool may_wait, std::size_t most_waiters, Turn& turn);

/// A waiting client checks its state. If it was granted, it holds the lock from now on for its
/// lease, which begins when it learns of the grant. If its lease has ended meanwhile, it requests
/// the lock again; the result is kBusy. `give_up`: it stops to wait; the result is kBusy.
Standing look(LockState& lock, ClientRef who, bool give_up, Turn& turn);

/// Ends the grant of this token. False if there is no such grant.
bool release(LockState& lock, std::uint64_t token, Turn& turn);

/// Makes the grant of this token last `lease_ms` from now on; 0: the same lease again. False if
/// there is no such grant.
bool renew(LockState& lock, std::uint64_t token, std::uint64_t lease_ms, Turn& turn);

/// A client that has gone neither holds nor waits.
void leave(LockState& lock, ClientRef who, Turn& turn);

}  // namespace keyway::server
