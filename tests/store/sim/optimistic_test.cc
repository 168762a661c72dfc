// Reads without locks, by the real sessions, with bytes that move word by word in any order: every
// order of a few agents, and many orders of more.
#include <catch2/catch.hpp>

#include "tests/store/sim/explore_stores.h"

using namespace keyway;
using namespace keyway::test;
using namespace keyway::test::steps;

namespace {

/// Readers of moves and of changes of both keys.
std::uint64_t explore_beside(const char* lock, const char* other_lock, std::uint64_t executions) {
  return explore_kinds(
      {.lock = lock, .other_lock = other_lock, .knowing = 1},
      {{put(0, kLong), erase(0), put(0, kShort)}, {put_all(kLong), put_all(kShort)}}, executions);
}

}  // namespace

TEST_CASE("optimistic: a value that changes in place is read whole") {
  explore({.readers = {{get(0)}}, .writer = {put(0, kShort)}});
  explore({.knowing = kNobody, .readers = {{get(0)}}, .writer = {put(0, kShort)}});
}

TEST_CASE("optimistic: what an exploration concludes is what an execution shows") {
  fabric::sim::ExploreOptions checked = kTorn;
  checked.check_foreseen = true;
  for (const std::size_t bytes : {kShort, kShort - 1}) {
    Exploration all({.readers = {{get(0)}}, .writer = {put(0, bytes)}, .near = Near::kAll},
                    checked);
    const auto report = all.explorer.exhaust(kMaxStates);
    require_clean(report);
    CHECK(report.complete);
    CHECK(report.foreseen > report.edges / 4);
  }
}

TEST_CASE("optimistic: an element that moves is read where it is") {
  explore({.readers = {{get(0)}}, .writer = {put(0, kLong)}});
  explore({.knowing = kNobody, .readers = {{get(0)}}, .writer = {put(0, kLong)}});
}

TEST_CASE("optimistic: one reader knows where the element was, another looks for it") {
  explore_some({.knowing = 1, .readers = {{get(0)}, {get(0)}}, .writer = {put(0, kLong)}}, 40'000);
}

TEST_CASE("optimistic: a block that is freed and filled again") {
  explore({.readers = {{get(0)}}, .writer = {erase(0), put(0, kShort)}});
  explore_some({.knowing = kNobody, .readers = {{get(0)}}, .writer = {erase(0), put(0, kShort)}},
               10'000);
}

// Both elements have the stamp of the first change of their buckets, and keys that begin alike.
TEST_CASE("optimistic: a block that another bucket's element fills again") {
  explore({.readers = {{get(0)}}, .writer = {erase(0), put(2, kShort)}, .apart = true});
}

TEST_CASE("optimistic: new keys") {
  explore({.bytes = 0, .readers = {{get(0), get(0)}}, .writer = {put(0, kShort)}});
}

// The first reader knows, or finds, the first place of the element, which the last write fills
// again; the second one learns the place in between.
TEST_CASE("optimistic: an element that moves and comes back, by many orders") {
  for (const std::uint32_t knowing : {1u, kNobody}) {
    explore_some({.knowing = knowing,
                  .readers = {{get(0), tell(1)}, {await(), get(0)}},
                  .writer = {put(0, kLong), put(0, kShort)}},
                 4'000);
    explore_some({.knowing = knowing,
                  .readers = {{get(0)}, {await(), get(0), tell(2), get(0)}},
                  .writer = {put(0, kLong), tell(1), await(), put(0, kShort)}},
                 4'000);
  }
}

TEST_CASE("optimistic: several keys change as one") {
  explore({.readers = {{get(0), get(1)}}, .writer = {put_all(kShort)}});
}

TEST_CASE("optimistic: a batch finds an element that moves and comes back, by many orders") {
  explore_some({.knowing = kNobody,
                .readers = {{get_many(), tell(1)}, {await(), get_many()}},
                .writer = {put(0, kLong), put(0, kShort)}},
               8'000);
}

TEST_CASE("optimistic: a batch of keys, known or not, by many orders") {
  for (const std::uint32_t knowing : {1u, kNobody}) {
    for (const Script& writer :
         {Script{put(0, kShort), put(1, kLong)}, Script{put_all(kLong), put_all(kShort)},
          Script{erase(0), put(0, kShort)}}) {
      explore_some({.knowing = knowing, .readers = {{get_many(), get_many()}}, .writer = writer},
                   3'000);
    }
  }
}

TEST_CASE("optimistic: keys that are read ahead, by many orders") {
  for (const std::uint32_t knowing : {1u, kNobody}) {
    for (const Script& writer :
         {Script{put(0, kShort), put(1, kLong)}, Script{put_all(kLong), erase(1)},
          Script{erase(0), put(0, kShort)}}) {
      const std::uint64_t ahead =
          explore_some(
              {.knowing = knowing, .readers = {{get_ahead(), get_ahead()}}, .writer = writer},
              3'000)
              .ahead;
      CHECK(ahead > 3'000);
    }
    explore_some({.knowing = knowing,
                  .readers = {{get_ahead(), tell(1)}, {await(), get_ahead()}},
                  .writer = {put(0, kLong), put(0, kShort)}},
                 4'000);
  }
}

TEST_CASE("optimistic: several keys change as one, by many orders") {
  explore_some({.readers = {{get(0), get(1)}}, .writer = {put_all(kLong)}}, 10'000);
}

// The writer works on both stripes at the same time.
TEST_CASE("optimistic: keys of two stripes change as one, by many orders") {
  for (const Script& writer :
       {Script{put_all(kShort)}, Script{put_all(kLong)}, Script{erase_all()}}) {
    explore_some(
        {.readers = {{get(0), get(1)}, {get(1), get(0)}}, .writer = writer, .parted = true},
        20'000);
  }
}

TEST_CASE("optimistic: several keys are read as one, of one bucket") {
  explore_some({.readers = {{read_all()}}, .writer = {put_all(kShort)}}, 20'000);
  explore_some({.readers = {{read_all()}}, .writer = {put(1, kShort), put(0, kShort)}}, 20'000);
}

TEST_CASE("optimistic: several keys are read as one, by many orders") {
  for (const bool parted : {false, true}) {
    for (const std::uint32_t knowing : {~0u, kNobody}) {
      for (const Script& writer :
           {Script{put_all(kLong), put_all(kShort)}, Script{put(0, kShort), put(1, kLong)},
            Script{erase(0), put(1, kShort), put(0, kShort)}}) {
        explore_some({.knowing = knowing,
                      .readers = {{read_all(), read_all()}},
                      .writer = writer,
                      .parted = parted},
                     3'000);
      }
    }
  }
}

// From and to states that are never read without the lock. A reader that had read an absent key
// before would read the next ones under the lock at once.
TEST_CASE("optimistic: absent and inline keys change as one, by many orders") {
  constexpr std::size_t kInline = 3;
  for (const std::size_t first : {std::size_t{0}, kInline}) {
    for (const Script& writer : {Script{put_all(kShort)}, Script{put_all(kInline), put_all(kShort)},
                                 Script{put_all(kShort), erase_all(), put_all(kLong)}}) {
      explore_some({.bytes = first,
                    .knowing = kNobody,
                    .readers = {{get(0), get(1)}, {get(1), read_all(), get(0)}},
                    .writer = writer},
                   3'000);
    }
  }
}

// Locks, marks, lines and counters are stores of the class that MPICH may make visible twice (O5).
TEST_CASE("optimistic: stores that happen twice, by many orders") {
  const StoreShape shapes[] = {
      {.knowing = 1,
       .readers = {{get(0)}, {get(0), get(0)}},
       .writer = {put(0, kLong), put(0, kShort)}},
      {.knowing = kNobody, .readers = {{get(0), get(0)}}, .writer = {erase(0), put(0, kShort)}},
      {.readers = {{get(0), get(1)}, {get_many()}}, .writer = {put_all(kLong), erase_all()}},
      {.readers = {{read_all(), read_all()}},
       .writer = {put_all(kLong), put_all(kShort)},
       .parted = true},
      {.knowing = 1,
       .readers = {{get(0)}, {get(0)}},
       .writer = {put(0, kShort)},
       .near = Near::kReaders}};
  for (const StoreShape& shape : shapes) explore_some(shape, 3'000, kTornAndTwice);
  for (const char* lock : kLocks) {
    explore_some({.lock = lock,
                  .knowing = 1,
                  .readers = {{get(0)}, {get(0), get(1)}},
                  .writer = {put(0, kLong), put_all(kShort)},
                  .stranger = {erase(2), put(2, kShort)}},
                 200, kTornAndTwice);
  }
}

TEST_CASE("optimistic: two writers of one bucket, by many orders") {
  explore_some({.knowing = 1,
                .readers = {{get(0), get(0)}, {get(0)}},
                .writer = {put(0, kLong), erase(0), put(0, kShort)},
                .stranger = {erase(2), put(2, kShort)}},
               5'000);
}

TEST_CASE("optimistic: beside every kind of lock, by many orders") {
  for (const char* lock : kLocks) {
    DYNAMIC_SECTION(lock) { explore_beside(lock, "", 400); }
  }
}

TEST_CASE("optimistic: while the kind of lock changes, by many orders") {
  for (const char* lock : kLocks) {
    DYNAMIC_SECTION(lock) { explore_beside(lock, "gbh:lockall=off,versions=on", 400); }
  }
}

TEST_CASE("optimistic: every order of larger programs", "[.long][far-all]") {
  explore({.knowing = kNobody, .readers = {{get(0)}}, .writer = {erase(0), put(0, kShort)}});
}

TEST_CASE("optimistic: a million orders beside the kinds of locks", "[.long][kinds]") {
  explore_million(explore_beside);
}

TEST_CASE("optimistic: a million orders", "[.long][far]") {
  constexpr std::uint64_t kEach = 125'000;
  for (const char* lock : {"gbh:lockall=off,versions=on", "d-mcs"}) {
    explore_some({.lock = lock,
                  .knowing = 1,
                  .readers = {{get(0)}, {get(0), get(0)}},
                  .writer = {put(0, kLong), put(0, kShort)}},
                 kEach);
    explore_some({.lock = lock,
                  .knowing = 1,
                  .readers = {{get(0), get(1)}, {get(1), get(0)}},
                  .writer = {put_all(kShort), put_all(kLong), erase_all()},
                  .stranger = {erase(2), put(2, kShort)}},
                 kEach);
  }
}
