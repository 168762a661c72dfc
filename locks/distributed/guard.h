// Guards and adaptors for every kind.
//
// *What.* LockHandle is one agent's handle on one lock: guards that release when they leave scope,
// and the members that make it C++ Lockable, TimedLockable and SharedLockable, so that
// std::unique_lock, std::shared_lock and std::scoped_lock work on it.
// *Thread safety.* A handle belongs to its agent. Agents that share a lock have a handle each.
// *Invariants.* A handle holds its lock at most once through the Lockable members.
#pragma once

#include <chrono>
#include <utility>

#include "keyway/locks/distributed/grant_record.h"
#include "keyway/locks/distributed/lock.h"

namespace keyway::locks {

/// Holds one lock; releases it when it leaves scope. Movable.
template <class L, fabric::Endpoint E>
class [[nodiscard]] Guard {
 public:
  Guard(const L& lock, LockAgent<E>& agent, const LockSite& site, Grant grant)
      : lock_(&lock), agent_(&agent), site_(site), grant_(grant) {}
  Guard(Guard&& other) noexcept
      : lock_(std::exchange(other.lock_, nullptr)),
        agent_(other.agent_),
        site_(other.site_),
        grant_(other.grant_) {}
  Guard& operator=(Guard&& other) noexcept {
    if (this != &other) {
      release();
      lock_ = std::exchange(other.lock_, nullptr);
      agent_ = other.agent_;
      site_ = other.site_;
      grant_ = other.grant_;
    }
    return *this;
  }
  ~Guard() { release(); }

  /// The fencing token (L4); 0 for a shared grant. The first call costs a load of the lock's home
  /// line. Not after release().
  std::uint64_t token() {
    KW_CHECK(lock_ != nullptr);
    return fencing_token(*agent_, site_, grant_);
  }
  /// Releases early; later calls do nothing.
  void release() {
    if (lock_ != nullptr) std::exchange(lock_, nullptr)->release(*agent_, site_, grant_);
  }

 private:
  const L* lock_;
  LockAgent<E>* agent_;
  LockSite site_;
  Grant grant_;
};

template <class L, fabric::Endpoint E>
requires LockKind<L, E>
class LockHandle {
 public:
  LockHandle(const L& lock, LockAgent<E>& agent, const LockSite& site)
      : lock_(lock), agent_(agent), site_(site) {}

  /// kTimeout names holder and queue.
  Result<Guard<L, E>> acquire_write(Deadline deadline) { return acquire(Mode::kWrite, deadline); }
  Result<Guard<L, E>> acquire_read(Deadline deadline) { return acquire(Mode::kRead, deadline); }
  /// kBusy, at once, if the lock is taken.
  Result<Guard<L, E>> try_write() { return wrap(lock_.try_acquire(agent_, site_, Mode::kWrite)); }
  Result<Guard<L, E>> try_read() { return wrap(lock_.try_acquire(agent_, site_, Mode::kRead)); }
  LockDump dump() { return lock_.dump(agent_, site_); }

  // Lockable, TimedLockable
  void lock() { must_take(Mode::kWrite); }
  bool try_lock() { return keep(lock_.try_acquire(agent_, site_, Mode::kWrite)); }
  template <class Rep, class Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> span) {
    return take(Mode::kWrite, Deadline::within(span));
  }
  template <class Clock, class Duration>
  bool try_lock_until(std::chrono::time_point<Clock, Duration> at) {
    return try_lock_for(at - Clock::now());
  }
  void unlock() { lock_.release(agent_, site_, grant_); }
  // SharedLockable, SharedTimedLockable
  void lock_shared() { must_take(Mode::kRead); }
  bool try_lock_shared() { return keep(lock_.try_acquire(agent_, site_, Mode::kRead)); }
  template <class Rep, class Period>
  bool try_lock_shared_for(std::chrono::duration<Rep, Period> span) {
    return take(Mode::kRead, Deadline::within(span));
  }
  template <class Clock, class Duration>
  bool try_lock_shared_until(std::chrono::time_point<Clock, Duration> at) {
    return try_lock_shared_for(at - Clock::now());
  }
  void unlock_shared() { lock_.release(agent_, site_, grant_); }

 private:
  Result<Guard<L, E>> acquire(Mode mode, Deadline deadline) {
    return wrap(lock_.acquire(agent_, site_, mode, deadline));
  }
  Result<Guard<L, E>> wrap(Result<Grant> grant) {
    if (!grant.ok()) return grant.status();
    return Guard<L, E>(lock_, agent_, site_, *grant);
  }
  bool take(Mode mode, Deadline deadline) {
    return keep(lock_.acquire(agent_, site_, mode, deadline));
  }
  /// lock() can fail for one reason only: the agent has no queue node left.
  void must_take(Mode mode) {
    const auto grant = lock_.acquire(agent_, site_, mode, Deadline::never());
    KW_CHECK_MSG(grant.ok(), "lock()", grant.status().message());
    grant_ = *grant;
  }
  bool keep(const Result<Grant>& grant) {
    if (grant.ok()) grant_ = *grant;
    return grant.ok();
  }

  const L& lock_;
  LockAgent<E>& agent_;
  LockSite site_;
  Grant grant_;
};

}  // namespace keyway::locks
