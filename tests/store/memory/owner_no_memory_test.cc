// K3: an edit that its owner makes for another rank is done or not done, at whatever place an
// allocation fails, on either side; and the owner continues to serve.
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/owner/call_slots.h"
#include "keyway/kvstore/owner_service_impl.h"
#include "keyway/kvstore/session_impl.h"
#include "keyway/locks/distributed/stripe_lock.h"
#include "keyway/locks/fabric/fiber.h"
#include "keyway/locks/fabric/wait.h"
#include "tests/store/deferred_session.h"
#include "tests/store/volumes.h"
#include "tests/support/failing_memory.h"

namespace keyway::store {

template class OwnerService<conformance::DeferredEndpoint>;

}  // namespace keyway::store

using namespace keyway;
using namespace keyway::test;

namespace {

constexpr std::uint32_t kRanks = 2;
constexpr std::uint32_t kSlots = 4;
constexpr long kMaxAllocations = 2000;

using Service = store::OwnerService<conformance::DeferredEndpoint>;
using Edit = std::function<Status(LazySession&)>;
using Value = std::optional<std::string>;

/// A key of rank 1, which rank 0 edits.
class OwnedKey {
 public:
  OwnedKey()
      : geometry_(*store::Geometry::plan({.memory_bytes = 4 << 20,
                                          .buckets = 1,
                                          .stripes = 1,
                                          .agents_per_rank = 3,
                                          .nodes_per_agent = 32,
                                          .call_slots = kSlots,
                                          .ranks = kRanks})),
        lock_(*locks::AnyLock::make("gbh:lockall=off,versions=on")),
        fabric_(deferred_fabric(geometry_, kRanks, 3)),
        slots_(kRanks, kSlots),
        walker_(session(nullptr)) {
    for (int i = 0; walker_->owner_of(key_ = fmt::format("the key {}", i)) != 1;) ++i;
  }

  const std::string& key() const { return key_; }
  void set(const Value& value) {
    if (value) {
      REQUIRE(walker_->put(key_, *value, {}).ok());
    } else {
      static_cast<void>(walker_->erase(key_));
    }
  }
  Value value() {
    std::string out;
    const Status status = walker_->get(key_, out);
    REQUIRE((status.ok() || status == Code::kNotFound));
    return status.ok() ? Value(out) : Value();
  }
  void check() { check_volumes(*walker_, kRanks); }

  /// The allocation with this number fails, on whichever side. Nothing where bad_alloc came out. By
  /// new sessions, with buffers that have not grown.
  std::optional<Status> attempt(const Edit& edit, long number) {
    std::optional<Status> status;
    bool over = false;
    const auto caller = session(&slots_);
    const auto service =
        std::make_unique<Service>(std::move(*fabric_.endpoint(1)), geometry_, lock_);
    fabric::run_fibers(2, [&](std::size_t fiber) {
      if (fiber == 1) {
        const auto serve = [&] { return service->serve(), over; };
        return static_cast<void>(fabric::wait_loop(
            serve, [] {}, Deadline::never()));
      }
      {
        const FailingMemory fails(number);
        try {
          status = edit(*caller);
        } catch (const std::bad_alloc&) {
        }
      }
      const std::uint64_t before = caller->remote_work().edits_by_owners;
      again_ = caller->put("another key of rank 1", "v", {});
      again_by_owner_ = caller->remote_work().edits_by_owners > before ||
                        walker_->owner_of("another key of rank 1") == 0;
      over = true;
    });
    return status;
  }
  /// How the put after the last attempt ended, and whether the owner made it.
  const Status& again() const { return again_; }
  bool again_by_owner() const { return again_by_owner_; }

 private:
  std::unique_ptr<LazySession> session(store::CallSlots* slots) {
    return std::make_unique<LazySession>(
        std::move(*fabric_.endpoint(0)), geometry_, lock_,
        store::SessionOptions{.timeout = std::chrono::seconds(60),
                              .calls = slots,
                              .patience = std::chrono::seconds(20)});
  }

  store::Geometry geometry_;
  locks::StripeLock lock_;
  conformance::DeferredFabric fabric_;
  store::CallSlots slots_;
  std::unique_ptr<LazySession> walker_;
  std::string key_;
  Status again_;
  bool again_by_owner_ = false;
};

/// Makes `after` of `before`, or nothing, whichever allocation fails; returns how many did.
long check_edit(OwnedKey& owned, const Value& before, const Value& after, const Edit& edit) {
  for (long number = 0;; ++number) {
    CAPTURE(number);
    REQUIRE(number < kMaxAllocations);
    owned.set(before);
    const std::optional<Status> status = owned.attempt(edit, number);
    const bool failed = FailingMemory::failed();
    const bool done = status && status->ok();
    CHECK((failed || done));
    CHECK(owned.value() == (done ? after : before));
    CHECK(owned.again().ok());
    CHECK(owned.again_by_owner());
    owned.check();
    if (!failed) return number;
  }
}

}  // namespace

TEST_CASE("no memory, by the owner: an edit is done or not done") {
  OwnedKey owned;
  const std::string& key = owned.key();
  const std::string block(200, 'b');
  const std::string large(600, 'l');
  long failures = 0;
  for (const Value& before : {Value(), Value("inline"), Value(block)}) {
    for (const std::string& value : {std::string("short"), block, large}) {
      CAPTURE(before.value_or("absent"), value);
      failures += check_edit(owned, before, value,
                             [&](LazySession& session) { return session.put(key, value, {}); });
    }
  }
  failures += check_edit(owned, block, std::nullopt,
                         [&](LazySession& session) { return session.erase(key); });
  failures += check_edit(owned, block, block + large,
                         [&](LazySession& session) { return session.append(key, large).status(); });
  failures += check_edit(owned, Value("41"), Value("42"),
                         [&](LazySession& session) { return session.increment(key, 1).status(); });
  CHECK(failures > 0);
}
