// Reads of the own node without locks, by the real sessions, with bytes that move word by word in
// any order: every order of a few agents, and many orders of more.
#include <array>
#include <catch2/catch.hpp>

#include "tests/store/sim/explore_stores.h"

using namespace keyway;
using namespace keyway::test;
using namespace keyway::test::steps;

namespace {

/// Keys and values of one byte lie in the line: two of these fill it, so that the third is in an
/// overflow line.
constexpr std::size_t kTiny = 1;

StoreShape near(StoreShape shape) {
  shape.near = Near::kAll;
  return shape;
}

/// The same in a store of several nodes: the writer is on the keys' node as well, or on another.
/// The stranger is on another one.
std::array<StoreShape, 2> among_others(StoreShape shape) {
  std::array<StoreShape, 2> both = {shape, shape};
  both[0].near = Near::kReaders;
  both[1].near = Near::kReadersAndWriter;
  return both;
}

void explore_among(const StoreShape& shape) {
  for (const StoreShape& each : among_others(shape)) explore(each);
}

void explore_some_among(const StoreShape& shape, std::uint64_t executions) {
  for (const StoreShape& each : among_others(shape)) explore_some(each, executions);
}

const std::vector<Script> kWriters = {{put(0, kShort), put(0, kLong), erase(0)},
                                      {put_all(kLong), put_all(kShort)}};

/// Readers of changes in place, of moves, and of changes of both keys.
std::uint64_t explore_near(const char* lock, const char* other_lock, std::uint64_t executions) {
  return explore_kinds(near({.lock = lock, .other_lock = other_lock}), kWriters, executions);
}

std::uint64_t explore_kinds_among(const char* lock, const char* other_lock,
                                  std::uint64_t executions) {
  std::uint64_t orders = 0;
  for (const StoreShape& each : among_others({.lock = lock, .other_lock = other_lock})) {
    orders += explore_kinds(each, kWriters, executions);
  }
  return orders;
}

}  // namespace

TEST_CASE("local reads: a value that changes in place is read whole") {
  explore(near({.readers = {{get(0)}}, .writer = {put(0, kShort)}}));
  explore(near({.readers = {{get(0)}}, .writer = {put(0, kShort - 1)}}));  // another length
  explore(near({.readers = {{get(0)}}, .writer = {set_range(0, kShort)}}));
}

// Both elements take as many bytes, so the key moves within its block by those of the expiry.
TEST_CASE("local reads: an element that gains and loses an expiry in place") {
  constexpr std::size_t kAsLong = kShort - store::kExpiryBytes;
  explore(near({.readers = {{get(0)}}, .writer = {put_expiring(0, kAsLong)}}));
  explore(near({.readers = {{get(0)}}, .writer = {put_expiring(0, kAsLong), put(0, kShort)}}));
  explore(near({.readers = {{info(0)}}, .writer = {put_expiring(0, kAsLong), put(0, kShort)}}));
  explore(near(
      {.readers = {{info(0)}}, .writer = {put_expiring(0, kAsLong), put_expiring(0, kAsLong)}}));
}

TEST_CASE("local reads: an element that moves is read where it is") {
  explore(near({.readers = {{get(0)}}, .writer = {put(0, kLong)}}));
  explore_some(near({.readers = {{get(0), get(0)}}, .writer = {put(0, kLong), put(0, kShort)}}),
               10'000);
}

TEST_CASE("local reads: a block that is freed and filled again") {
  explore(near({.readers = {{get(0)}}, .writer = {erase(0), put(0, kShort)}}));
  explore(near({.readers = {{get(0)}}, .writer = {erase(0), put(2, kShort)}, .apart = true}));
}

TEST_CASE("local reads: new keys") {
  explore(near({.bytes = 0, .readers = {{get(0), get(0)}}, .writer = {put(0, kShort)}}));
}

TEST_CASE("local reads: values in the line, and in one behind it") {
  explore(near({.bytes = kTiny, .readers = {{get(0)}}, .writer = {put(0, kTiny)}}));
  for (const Script& writer :
       {Script{put(0, kTiny), put(1, kTiny)}, Script{erase(0), put(0, kTiny)},
        Script{put(1, kLong), put(1, kTiny)}, Script{put_all(kTiny), erase_all()}}) {
    explore_some(near({.bytes = kTiny,
                       .readers = {{get(0), get(1)}, {get(1)}},
                       .writer = writer,
                       .stranger = {erase(2), put(2, kTiny)}}),
                 2'000);
  }
}

TEST_CASE("local reads: what a session does alone is one step") {
  explore(near({.readers = {{get(0)}}, .writer = {alone(kShort)}}));
}

TEST_CASE("local reads: several keys change as one") {
  for (const bool parted : {false, true}) {
    for (const Script& writer : {Script{put_all(kShort)}, Script{put_all(kLong), put_all(kShort)},
                                 Script{erase_all()}, Script{alone(kShort), alone(kLong)}}) {
      explore_some(near({.readers = {{get(0), get(1)}, {get(1), get(0)}},
                         .writer = writer,
                         .parted = parted}),
                   2'000);
    }
  }
}

TEST_CASE("local reads: a single read beside reads of both") {
  explore_some(near({.readers = {{read_all(), get(0)}, {get(1), read_all()}},
                     .writer = {put_all(kShort), put(0, kLong)}}),
               2'000);
}

TEST_CASE("local reads: beside every kind of lock, by many orders") {
  for (const char* lock : kLocks) {
    DYNAMIC_SECTION(lock) { explore_near(lock, "", 300); }
  }
}

TEST_CASE("local reads: while the kind of lock changes, by many orders") {
  for (const char* lock : kLocks) {
    DYNAMIC_SECTION(lock) { explore_near(lock, "gbh:lockall=off,versions=on", 300); }
  }
}

TEST_CASE("local reads: every order of a change of two keys") {
  explore(near({.readers = {{get(0), get(1)}}, .writer = {put_all(kShort)}}));
}

TEST_CASE("local reads among several nodes: a value that changes in place is read whole") {
  explore_among({.readers = {{get(0)}}, .writer = {put(0, kShort)}});
  explore_among({.readers = {{get(0)}}, .writer = {put(0, kShort - 1)}});
}

TEST_CASE("local reads among several nodes: an element that moves is read where it is") {
  explore_among({.readers = {{get(0)}}, .writer = {put(0, kLong)}});
  explore_some_among({.readers = {{get(0), get(0)}}, .writer = {put(0, kLong), put(0, kShort)}},
                     5'000);
}

TEST_CASE("local reads among several nodes: a block that is freed and filled again") {
  const StoreShape refilled = {
      .readers = {{get(0)}}, .writer = {erase(0), put(2, kShort)}, .apart = true};
  explore(among_others(refilled)[1]);
  explore_some_among(refilled, 5'000);
  explore_some_among({.readers = {{get(0)}},
                      .writer = {put(0, kLong), put(0, kShort), erase(0), put(0, kShort)},
                      .stranger = {erase(2), put(2, kShort)}},
                     5'000);
}

TEST_CASE("local reads among several nodes: new keys, and those in the line") {
  explore_some_among({.bytes = 0, .readers = {{get(0), get(0)}}, .writer = {put(0, kShort)}},
                     2'000);
  explore_some_among({.bytes = kTiny,
                      .readers = {{get(0), get(1)}, {get(1)}},
                      .writer = {put(1, kLong), put(1, kTiny), put(0, kLong)}},
                     2'000);
}

TEST_CASE("local reads among several nodes: several keys change as one") {
  for (const bool parted : {false, true}) {
    for (const Script& writer : {Script{put_all(kShort)}, Script{put_all(kLong), put_all(kShort)},
                                 Script{erase_all(), put_all(kShort)}}) {
      explore_some_among(
          {.readers = {{get(0), get(1)}, {get(1), get(0)}}, .writer = writer, .parted = parted},
          2'000);
    }
  }
}

TEST_CASE("local reads among several nodes: beside every kind of lock, by many orders") {
  for (const char* lock : kLocks) {
    DYNAMIC_SECTION(lock) { explore_kinds_among(lock, "", 200); }
  }
}

TEST_CASE("local reads: every order of larger programs", "[.long][near-all]") {
  explore(near({.readers = {{get(0), get(0)}}, .writer = {put(0, kLong), put(0, kShort)}}));
}

TEST_CASE("local reads: a million orders", "[.long][near]") { explore_million(explore_near); }

TEST_CASE("local reads among several nodes: a million orders", "[.long][among]") {
  explore_million(explore_kinds_among);
}
