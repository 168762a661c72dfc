// LockState: a named lock as a value, and what can happen to it as functions.
//
// *What.* A lock has holders, readers together or one writer, and waiters in the order in which
// they came. Whoever can be let in is let in as soon as the one before him has been: so readers
// who wait beside each other come in together, and nobody overtakes a writer who waits.
// *Thread safety.* Values, and functions of their arguments: lock_service.h makes each of them one
// atomic step.
// *Invariants*, of a lock between two functions:
//   N1  Holders are readers, or one writer alone.
//   N2  The first waiter cannot be let in beside the holders; where nobody holds, nobody waits.
//   N3  First come, first served: a grant is the newcomer's only where nobody waits, else the first
//       waiter's.
//   N4  Each grant has a token, greater than all before it.
//   N5  Who is let in by another's step is in Turn::wake; and so is the first waiter, when he has
//       come to be it, or a lease ends sooner than he knows.
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

/// One who holds a lock, or waits for it.
struct LockClaim {
  ClientRef who;
  LockMode mode = LockMode::kRead;
  std::uint64_t token = 0;     // of a holder
  std::uint64_t lease_ms = 0;  // how long it is to hold
  std::uint64_t at_ms = 0;     // wall clock: a holder's lease ends, a waiter has come
  std::string address;         // of the client, for people
  bool operator==(const LockClaim&) const = default;
};

struct LockState {
  std::string name;
  std::vector<LockClaim> holders;  // in the order of their tokens
  std::vector<LockClaim> waiters;  // first come first
  bool is_free() const { return holders.empty() && waiters.empty(); }
  bool operator==(const LockState&) const = default;
};

/// What a step needs besides the lock, and what it leaves to be done.
struct Turn {
  std::uint64_t now_ms = 0;      // wall clock
  std::uint64_t last_token = 0;  // given out; raised by each grant
  bool changed = false;
  std::vector<ClientRef> wake;  // N5
};

/// How a client stands after its step.
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
  std::uint64_t look_at_ms = 0;  // of the first waiter: when the next lease ends; else 0
};

/// Ends the leases that are over by now.
void end_lapsed(LockState& lock, Turn& turn);

/// A client asks for the lock: `claim` without token and times. It neither holds it nor waits for
/// it, or is told kHoldsAlready. `may_wait`: it waits where it is not let in, unless `most_waiters`
/// do already.
Standing ask(LockState& lock, LockClaim claim, bool may_wait, std::size_t most_waiters, Turn& turn);

/// A client that waits looks how it stands. Who has been let in holds from now on for its lease,
/// which so begins when it is told. One whose lease has ended meanwhile asks again, and is told
/// kBusy. `give_up`: it waits no more, and is told kBusy.
Standing look(LockState& lock, ClientRef who, bool give_up, Turn& turn);

/// Ends the grant of this token. False where there is none.
bool release(LockState& lock, std::uint64_t token, Turn& turn);

/// Lets the grant of this token last so long from now on; 0: as long as it was given for. False
/// where there is none.
bool renew(LockState& lock, std::uint64_t token, std::uint64_t lease_ms, Turn& turn);

/// A client that has gone neither holds nor waits.
void leave(LockState& lock, ClientRef who, Turn& turn);

}  // namespace keyway::server
