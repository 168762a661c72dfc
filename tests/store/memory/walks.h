// Walks that remove elements of a remote rank, and find no memory on the way.
#pragma once

#include <string>
#include <vector>

#include "far_store.h"

namespace keyway::test {

/// Elements of rank 1 in one bucket, each larger than those before it and one much larger: buffers
/// have to grow in the middle of a walk.
class Walked {
 public:
  struct Each {
    std::string key;
    std::string value;
    std::uint64_t expires_at_ms;
    bool goes;  // by the walk
  };
  enum class By { kClear, kSweep };

  template <class Store>
  Walked(const Store& store, By by) {
    constexpr std::uint64_t kPast = 1;
    constexpr std::uint64_t kFarAway = 1ULL << 45;
    for (std::size_t i = 0; i < 12; ++i) {
      const bool goes = by == By::kClear || i % 2 == 0;
      const std::uint64_t expires = by == By::kClear ? store::kNoExpiry : goes ? kPast : kFarAway;
      const std::size_t bytes = i == 9 ? 50'000 : 100 + 40 * i;
      all_.push_back({store.key(1, fmt::format("walked {}", i)),
                      std::string(bytes, static_cast<char>('a' + i)), expires, goes});
    }
  }
  template <class Session>
  void put(Session& session) const {
    for (const Each& each : all_) {
      REQUIRE(session.put(each.key, each.value, {.expires_at_ms = each.expires_at_ms}).ok());
    }
  }
  /// The elements that the walk may not touch are there; each other one is gone or as it was.
  template <class Session>
  void check(Session& session) const {
    for (const Each& each : all_) {
      std::string value;
      const Status read = session.get(each.key, value);
      CAPTURE(each.key, read.message());
      CHECK((read.ok() ? value == each.value : each.goes && read == Code::kNotFound));
    }
  }
  std::uint64_t stay() const {
    std::uint64_t count = 0;
    for (const Each& each : all_) count += each.goes ? 0 : 1;
    return count;
  }

 private:
  std::vector<Each> all_;
};

/// K3, K4: a walk that ends early has removed some elements wholly, and frees no other's block.
template <class Store, class Walk>
void check_walks(Store& store, Walked::By by, Walk&& walk) {
  constexpr int kNew = 40;
  auto& walker = store.walker();
  const Walked walked(store, by);
  walked.put(walker);
  const auto judge = [&](const std::optional<Status>& status, bool failed) {
    CHECK((failed || (status && status->ok())));
    store.check();
    if (!failed) CHECK(walker.report(1)->expiring == walked.stay());
    // A block that was freed wrongly is handed out again, and written over.
    for (std::size_t i = 0; i < kNew; ++i) {
      const std::string value(90 + 20 * i, 'n');
      REQUIRE(walker.put(store.key(1, fmt::format("new {}", i)), value, {}).ok());
    }
    walked.check(walker);
    for (std::size_t i = 0; i < kNew; ++i) {
      REQUIRE(walker.erase(store.key(1, fmt::format("new {}", i))).ok());
    }
    store.check();
    walked.put(walker);
  };
  CHECK(store.try_each(walk, judge) > 0);
}

/// A walk notes what it has removed of many buckets, and its notes are not copied for each of them.
template <class Store>
void check_walk_of_many_buckets(Store& store, std::uint64_t buckets) {
  auto& walker = store.walker();
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < 2 * buckets; ++i) {
    keys.push_back(store.key(1, fmt::format("many {}", i)));
    REQUIRE(walker.put(keys.back(), std::string(100, 'm'), {}).ok());
  }
  const auto clear = [](auto& session) { return session.clear_rank(1); };
  const auto session = store.session();
  const auto status = store.attempt(*session, clear, static_cast<long>(buckets / 4));
  CHECK_FALSE(FailingMemory::failed());  // there are not this many allocations
  REQUIRE(status);
  CHECK(status->ok());
  CHECK(*walker.size_of(1) == 0);
  store.check();
}

}  // namespace keyway::test
