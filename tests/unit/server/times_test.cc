// Replies that depend on the clock: between the expected replies before and after, however long the
// request took.
#include <catch2/catch.hpp>
#include <string>

#include "keyway/locks/base/clock.h"
#include "tests/unit/server/peer.h"

namespace keyway::server {
namespace {

/// The integer of a reply ":n".
std::int64_t number_of(const std::string& reply) {
  REQUIRE(reply.starts_with(':'));
  return std::stoll(reply.substr(1));
}

TEST_CASE("times: every way to say a span sets the expiry that it says") {
  Store store = small_store();
  Peer peer(store);
  const auto sets = [&](const std::string& request, std::int64_t span_ms) {
    INFO(request);
    peer.ask("set k v");
    const auto before = static_cast<std::int64_t>(wall_ms());
    peer.ask(request);
    const auto after = static_cast<std::int64_t>(wall_ms());
    const std::int64_t expires = number_of(peer.ask("pexpiretime k"));
    CHECK(expires >= before + span_ms);
    CHECK(expires <= after + span_ms);
  };
  sets("set k v ex 1000", 1'000'000);
  sets("set k v px 1000000", 1'000'000);
  sets("set k v get ex 1000", 1'000'000);
  sets("setex k 1000 v", 1'000'000);
  sets("psetex k 1000000 v", 1'000'000);
  sets("getex k ex 1000", 1'000'000);
  sets("getex k px 1000000", 1'000'000);
  sets("expire k 1000", 1'000'000);
  sets("pexpire k 1000000", 1'000'000);
  sets("pexpire k 1000000 nx", 1'000'000);
}

TEST_CASE("times: what is left, in either unit") {
  Store store = small_store();
  Peer peer(store);
  const auto expires = static_cast<std::int64_t>(wall_ms()) + 1'000'000;
  peer.ask("set k v pxat " + std::to_string(expires));
  const auto before = static_cast<std::int64_t>(wall_ms());
  const std::int64_t left = number_of(peer.ask("pttl k"));
  const std::int64_t seconds = number_of(peer.ask("ttl k"));
  const auto after = static_cast<std::int64_t>(wall_ms());
  CHECK(left <= expires - before);
  CHECK(left >= expires - after);
  CHECK(seconds <= (expires - before + 500) / 1000);
  CHECK(seconds >= (expires - after + 500) / 1000);
}

TEST_CASE("times: TIME is the wall clock, in seconds and microseconds") {
  Store store = small_store();
  Peer peer(store);
  const std::uint64_t before = wall_ms();
  const std::string reply = peer.ask("time");
  const std::uint64_t after = wall_ms();
  REQUIRE(reply.starts_with("*2\r\n$10\r\n"));
  const std::uint64_t seconds = std::stoull(reply.substr(9, 10));
  const std::uint64_t micros = std::stoull(reply.substr(reply.find("\r\n", 21) + 2));
  CHECK(micros < 1'000'000);
  CHECK(seconds * 1000 + micros / 1000 >= before);
  CHECK(seconds * 1000 + micros / 1000 <= after);
}

}  // namespace
}  // namespace keyway::server
