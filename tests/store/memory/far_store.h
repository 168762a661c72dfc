// A store of several ranks in which an operation is tried once for each of its allocations, which
// fails. F is a fabric on which other ranks are remote; one agent acts at a time.
#pragma once

#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/session.h"
#include "keyway/locks/distributed/stripe_lock.h"
#include "tests/store/volumes.h"
#include "tests/support/failing_memory.h"

namespace keyway::test {

struct FarShape {
  std::uint64_t memory_bytes = 4 << 20;  // per rank
  std::uint64_t buckets = 1;             // the same, in one stripe
};

template <class F>
class FarStore {
 public:
  using Session = store::Session<typename F::Endpoint>;
  using Contents = std::vector<std::pair<std::string, std::optional<std::string>>>;

  static constexpr std::uint32_t kRanks = 3;
  static constexpr std::uint32_t kAgents = 2;
  static constexpr long kMaxAllocations = 2000;
  /// More lines of one bucket than a session has room for from the start.
  static constexpr int kFillers = 300;

  /// `make(segment_bytes, agents_per_rank)` returns the fabric.
  template <class Make>
  explicit FarStore(Make&& make, const FarShape& shape = {})
      : geometry_(*store::Geometry::plan({.memory_bytes = shape.memory_bytes,
                                          .buckets = shape.buckets,
                                          .stripes = 1,
                                          .agents_per_rank = kAgents,
                                          .nodes_per_agent = 32,
                                          .ranks = kRanks})),
        lock_(*locks::AnyLock::make("gbh:lockall=off,versions=on")),
        fabric_(make(geometry_.segment_bytes(), kAgents)),
        walker_(session()) {}

  /// With buffers that have not grown yet.
  std::unique_ptr<Session> session() {
    return std::make_unique<Session>(std::move(*fabric_.endpoint(0)), geometry_, lock_,
                                     store::SessionOptions{.timeout = std::chrono::seconds(60)});
  }
  Session& walker() { return *walker_; }

  /// A key of that rank.
  std::string key(std::uint32_t rank, const std::string& name) const {
    for (int i = 0;; ++i) {
      std::string made = fmt::format("{} {}", name, i);
      if (walker_->owner_of(made) == rank) return made;
    }
  }
  /// Another key of the same rank, bucket and tag: a search must compare the keys themselves.
  std::string twin(const std::string& key) const {
    const std::uint64_t hash = geometry_.hash_of(key);
    for (int i = 0;; ++i) {
      std::string made = fmt::format("twin {}", i);
      const std::uint64_t other = geometry_.hash_of(made);
      if (walker_->owner_of(made) == walker_->owner_of(key) &&
          geometry_.bucket_of(other) == geometry_.bucket_of(hash) &&
          store::tag_of(other) == store::tag_of(hash)) {
        return made;
      }
    }
  }
  /// A chain of one rank that is long; all else comes behind it.
  void fill(std::uint32_t rank) {
    for (int i = 0; i < kFillers; ++i) {
      REQUIRE(walker_->put(key(rank, fmt::format("filler {}", i)), std::string(30, 'f'), {}).ok());
    }
  }
  /// Writes and erases what differs.
  void set(const Contents& contents) {
    for (const auto& [key, value] : contents) {
      if (value) {
        REQUIRE(walker_->put(key, *value, {}).ok());
      } else {
        const Status erased = walker_->erase(key);
        REQUIRE((erased.ok() || erased == Code::kNotFound));
      }
    }
  }
  Contents contents(const Contents& of) {
    Contents found;
    for (const auto& [key, unused] : of) {
      std::string value;
      const Status read = walker_->get(key, value);
      REQUIRE((read.ok() || read == Code::kNotFound));
      found.emplace_back(key, read.ok() ? std::optional(value) : std::nullopt);
    }
    return found;
  }
  void check() { check_volumes(*walker_, kRanks); }

  /// Calls operate(session), a Status, while the allocation with this number fails. Nothing where
  /// bad_alloc came out.
  template <class Operate>
  std::optional<Status> attempt(Session& session, Operate& operate, long number) {
    const FailingMemory fails(number);
    try {
      return std::optional<Status>(operate(session));
    } catch (const std::bad_alloc&) {
      return std::nullopt;
    }
  }
  /// Calls operate(session), a Status, once for each allocation that it makes, with a new session,
  /// and that allocation fails; after(status, failed) judges. The status is empty where bad_alloc
  /// came out. Ends with the call in which none failed; returns how many did.
  template <class Operate, class After>
  long try_each(Operate&& operate, After&& after) {
    for (long number = 0;; ++number) {
      CAPTURE(number);
      REQUIRE(number < kMaxAllocations);
      std::optional<Status> status;
      {
        const auto tried = session();
        status = attempt(*tried, operate, number);
        // The next operation uses the buffers and blocks that this one has left behind.
        REQUIRE(tried->put("the operation after it", std::string(30, 'n'), {}).ok());
      }
      const bool failed = FailingMemory::failed();
      after(status, failed);
      if (!failed) return number;
    }
  }

 private:
  store::Geometry geometry_;
  locks::StripeLock lock_;
  F fabric_;
  std::unique_ptr<Session> walker_;
};

}  // namespace keyway::test
