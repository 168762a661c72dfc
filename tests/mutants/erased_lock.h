// ErasedLock: a lock of any class, for the explorer alone. So LockProgram is compiled once, and not
// for each mutant.
#pragma once

#include <memory>
#include <utility>

#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/fabric/sim/sim_endpoint.h"

namespace keyway::lockcheck {

class ErasedLock {
 public:
  using Agent = locks::LockAgent<fabric::SimEndpoint>;

  template <class L>
  static ErasedLock of(L lock) {
    ErasedLock erased;
    erased.lock_ = std::make_shared<Of<L>>(std::move(lock));
    return erased;
  }

  locks::LockTraits traits() const { return lock_->traits(); }
  Result<locks::Grant> acquire(Agent& agent, const locks::LockSite& site, locks::Mode mode,
                               Deadline deadline) const {
    return lock_->acquire(agent, site, mode, deadline);
  }
  Result<locks::Grant> try_acquire(Agent& agent, const locks::LockSite& site,
                                   locks::Mode mode) const {
    return lock_->try_acquire(agent, site, mode);
  }
  void release(Agent& agent, const locks::LockSite& site, locks::Grant& grant) const {
    lock_->release(agent, site, grant);
  }
  /// kUnsupported of a kind that has no LOCKALL.
  Status acquire_all(Agent& agent, fabric::Address group, Deadline deadline) const {
    return lock_->acquire_all(agent, group, deadline);
  }
  void release_all(Agent& agent, fabric::Address group) const { lock_->release_all(agent, group); }

 private:
  struct Any {
    virtual ~Any() = default;
    virtual locks::LockTraits traits() const = 0;
    virtual Result<locks::Grant> acquire(Agent&, const locks::LockSite&, locks::Mode,
                                         Deadline) const = 0;
    virtual Result<locks::Grant> try_acquire(Agent&, const locks::LockSite&, locks::Mode) const = 0;
    virtual void release(Agent&, const locks::LockSite&, locks::Grant&) const = 0;
    virtual Status acquire_all(Agent&, fabric::Address, Deadline) const {
      return Status(Code::kUnsupported);
    }
    virtual void release_all(Agent&, fabric::Address) const {}
  };
  template <class L>
  struct Of final : Any {
    explicit Of(L its) : lock(std::move(its)) {}
    locks::LockTraits traits() const override { return lock.traits(); }
    Result<locks::Grant> acquire(Agent& agent, const locks::LockSite& site, locks::Mode mode,
                                 Deadline deadline) const override {
      return lock.acquire(agent, site, mode, deadline);
    }
    Result<locks::Grant> try_acquire(Agent& agent, const locks::LockSite& site,
                                     locks::Mode mode) const override {
      return lock.try_acquire(agent, site, mode);
    }
    void release(Agent& agent, const locks::LockSite& site, locks::Grant& grant) const override {
      lock.release(agent, site, grant);
    }
    Status acquire_all(Agent& agent, fabric::Address group, Deadline deadline) const override {
      if constexpr (requires { lock.acquire_all(agent, group, deadline); }) {
        return lock.acquire_all(agent, group, deadline);
      } else {
        return Any::acquire_all(agent, group, deadline);
      }
    }
    void release_all(Agent& agent, fabric::Address group) const override {
      if constexpr (requires { lock.release_all(agent, group); }) lock.release_all(agent, group);
    }
    L lock;
  };

  std::shared_ptr<const Any> lock_;
};

}  // namespace keyway::lockcheck
