// Reads of the own node without locks, by the real sessions, with bytes that move word by word in
// any order: every order of a few agents, and many orders of more.
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
  shape.near = true;
  return shape;
}

/// Readers of changes in place, of moves, and of changes of both keys.
std::uint64_t explore_near(const char* lock, const char* other_lock, std::uint64_t executions) {
  return explore_kinds(
      near({.lock = lock, .other_lock = other_lock}),
      {{put(0, kShort), put(0, kLong), erase(0)}, {put_all(kLong), put_all(kShort)}}, executions);
}

}  // namespace

TEST_CASE("local reads: a value that changes in place is read whole") {
  explore(near({.readers = {{get(0)}}, .writer = {put(0, kShort)}}));
  explore(near({.readers = {{get(0)}}, .writer = {put(0, kShort - 1)}}));  // another length
  explore(near({.readers = {{get(0)}}, .writer = {set_range(0, kShort)}}));
}

// Both elements take 40 bytes, so the key moves within its block by the bytes of the expiry.
TEST_CASE("local reads: an element that gains and loses an expiry in place") {
  constexpr std::size_t kAsLong = kShort - store::kExpiryBytes;
  explore(near({.readers = {{get(0)}}, .writer = {put_expiring(0, kAsLong)}}));
  explore(near({.readers = {{get(0)}}, .writer = {put_expiring(0, kAsLong), put(0, kShort)}}));
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

TEST_CASE("local reads: every order of larger programs", "[.long]") {
  explore(near({.readers = {{get(0), get(0)}}, .writer = {put(0, kLong), put(0, kShort)}}));
}

TEST_CASE("local reads: a million orders", "[.long]") { explore_million(explore_near); }
