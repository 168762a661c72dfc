// Store URIs: the meaning of each parameter, and a sentence for everything malformed.
#include <catch2/catch.hpp>
#include <string>

#include "keyway/client/client.h"

using namespace keyway;

namespace {

StoreOptions options_of(std::string_view uri) {
  auto parsed = parse_store_uri(uri);
  INFO(uri << ": " << parsed.status().message());
  REQUIRE(parsed.ok());
  return parsed->options;
}

void check_not_parsed(std::string_view uri, std::string_view says) {
  const auto parsed = parse_store_uri(uri);
  CAPTURE(uri);
  REQUIRE_FALSE(parsed.ok());
  CHECK(parsed.code() == Code::kInvalidArgument);
  const std::string message(parsed.status().message());
  CAPTURE(message);
  CHECK(message.find(uri) != std::string::npos);  // names what it speaks of
  CHECK(message.find(says) != std::string::npos);
}

}  // namespace

TEST_CASE("uri: without parameters the defaults hold") {
  for (const std::string_view uri : {"local:", "local:?", "mpi:", "mpi:?"}) {
    const StoreOptions options = options_of(uri);
    CHECK(options.memory_bytes == 1ULL << 30);
    CHECK(options.lock == "default");
    CHECK(options.ranks == 1);
  }
  CHECK(parse_store_uri("local:")->scheme == "local");
  CHECK(parse_store_uri("mpi:?stripes=3")->scheme == "mpi");
}

TEST_CASE("uri: every parameter lands in its option") {
  const StoreOptions o = options_of(
      "local:?memory=3MiB&element_bytes=2KiB&buckets=77&stripes=5&sessions=6&locks_per_session=7&"
      "lock=gbh:lockall=off,backoff_max_ns=900000&timeout=250ms&ranks=4&topology=nodes=2&"
      "hash_secret=0123456789abcdef0123456789ABCDEF");
  CHECK(o.memory_bytes == 3u << 20);
  CHECK(o.element_bytes == 2048);
  CHECK(o.buckets == 77);
  CHECK(o.stripes == 5);
  CHECK(o.sessions == 6);
  CHECK(o.locks_per_session == 7);
  CHECK(o.lock == "gbh:lockall=off,backoff_max_ns=900000");
  CHECK(o.timeout == std::chrono::milliseconds(250));
  CHECK(o.ranks == 4);
  CHECK(o.topology == "nodes=2");
  CHECK(o.hash_secret == "0123456789abcdef0123456789ABCDEF");
  const StoreOptions m = options_of("mpi:?force_rma=on&ranks_per_node=2&addresses=1MiB");
  CHECK(m.force_rma);
  CHECK(m.ranks_per_node == 2);
  CHECK(m.address_bytes == 1 << 20);
  CHECK_FALSE(options_of("mpi:?force_rma=off").force_rma);
  CHECK(options_of("mpi:?path=owner").path == EditPath::kOwner);
  CHECK(options_of("mpi:?path=onesided").path == EditPath::kOneSided);
  CHECK(options_of("mpi:?path=auto").path == EditPath::kAuto);
  CHECK(options_of("mpi:").path == EditPath::kAuto);
  CHECK(options_of("mpi:?patience=20ms").patience == std::chrono::milliseconds(20));
}

TEST_CASE("uri: sizes and times have units") {
  CHECK(options_of("local:?memory=1048576").memory_bytes == 1u << 20);
  CHECK(options_of("local:?memory=64KiB").memory_bytes == 64u << 10);
  CHECK(options_of("local:?memory=2GiB").memory_bytes == 2ULL << 30);
  CHECK(options_of("local:?timeout=10s").timeout == std::chrono::seconds(10));
}

TEST_CASE("uri: it wins over the options that came with it, which hold elsewhere") {
  const auto parsed = parse_store_uri("local:?stripes=9", {.buckets = 5, .stripes = 1});
  REQUIRE(parsed.ok());
  CHECK(parsed->options.stripes == 9);
  CHECK(parsed->options.buckets == 5);
}

TEST_CASE("uri: each mistake has its sentence") {
  check_not_parsed("", "no scheme");
  check_not_parsed("memory=1GiB", "no scheme");
  check_not_parsed("http://localhost", "'http:' is not a scheme");
  check_not_parsed("LOCAL:", "'LOCAL:' is not a scheme");
  check_not_parsed("local:x", "parameters follow a '?'");
  check_not_parsed("local://?memory=1MiB", "parameters follow a '?'");
  check_not_parsed("local:?color=red", "no parameter 'color'; there are memory");
  check_not_parsed("local:?=1", "no parameter ''");
  check_not_parsed("local:?memory=1MiB&&stripes=1", "no parameter ''");
  check_not_parsed("local:?memory", "memory='' is not a size");
  check_not_parsed("local:?memory=", "memory='' is not a size");
  check_not_parsed("local:?memory=1GB", "memory='1GB' is not a size such as");
  check_not_parsed("local:?memory=-1", "memory='-1' is not a size");
  check_not_parsed("local:?memory=1.5GiB", "is not a size");
  check_not_parsed("local:?memory=99999999999GiB", "is not a size");  // beyond 64 bits
  check_not_parsed("local:?stripes=4294967296", "stripes='4294967296' is not a whole number");
  check_not_parsed("local:?stripes=four", "is not a whole number");
  check_not_parsed("local:?timeout=10", "timeout='10' is not a time");
  check_not_parsed("local:?timeout=0s", "is not a time");
  check_not_parsed("local:?timeout=99999999999s", "is not a time");
  check_not_parsed("local:?lock=", "is not a lock kind");
  check_not_parsed("local:?topology=", "is not a topology");
  check_not_parsed("local:?hash_secret=", "is not 32 hexadecimal digits");
  check_not_parsed("local:?hash_secret=12345", "is not 32 hexadecimal digits");
  check_not_parsed("mpi:?force_rma=yes", "force_rma='yes' is not on or off");
  check_not_parsed("local:?ranks=2&path=owner", "for mpi: only");
  check_not_parsed("mpi:?path=shortest", "path='shortest' is not auto, onesided or owner");
  check_not_parsed("mpi:?patience=long", "patience='long' is not a time");
  check_not_parsed("mpi:?ranks=2", "ranks= is for local: only");
  check_not_parsed("local:?force_rma=on", "for mpi: only");
  check_not_parsed("local:?ranks_per_node=1", "for mpi: only");
}

TEST_CASE("uri: of a server, its own parameters") {
  CHECK(parse_store_uri("redis://localhost:7400")->scheme == "redis");
  CHECK(options_of("unix:/run/kw.sock?timeout=250ms").timeout == std::chrono::milliseconds(250));
  CHECK(options_of("rediss://:secret@h").password == "secret");
  StoreOptions defaults;
  defaults.timeout = std::chrono::seconds(3);
  CHECK(parse_store_uri("redis://h", defaults)->options.timeout == std::chrono::seconds(3));
  check_not_parsed("redis://h?memory=1GiB", "there is no parameter 'memory'");
  check_not_parsed("redis://", "not a host");
}
