// Store URIs: what each parameter means, and a sentence for whatever makes no sense.
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

void check_refused(std::string_view uri, std::string_view says) {
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
    CHECK(options.lock == "gbh:lockall=off");
    CHECK(options.ranks == 1);
  }
  CHECK(parse_store_uri("local:")->scheme == "local");
  CHECK(parse_store_uri("mpi:?stripes=3")->scheme == "mpi");
}

TEST_CASE("uri: every parameter lands in its option") {
  const StoreOptions o = options_of(
      "local:?memory=3MiB&element_bytes=2KiB&buckets=77&stripes=5&sessions=6&locks_per_session=7&"
      "lock=gbh:lockall=off,backoff_max_ns=900000&timeout=250ms&ranks=4&topology=nodes=2");
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
  const StoreOptions m = options_of("mpi:?force_rma=on&ranks_per_node=2");
  CHECK(m.force_rma);
  CHECK(m.ranks_per_node == 2);
  CHECK_FALSE(options_of("mpi:?force_rma=off").force_rma);
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
  check_refused("", "no scheme");
  check_refused("memory=1GiB", "no scheme");
  check_refused("http://localhost", "'http:' is not a scheme");
  check_refused("LOCAL:", "'LOCAL:' is not a scheme");
  check_refused("local:x", "parameters follow a '?'");
  check_refused("local://?memory=1MiB", "parameters follow a '?'");
  check_refused("local:?color=red", "no parameter 'color'; there are memory");
  check_refused("local:?=1", "no parameter ''");
  check_refused("local:?memory=1MiB&&stripes=1", "no parameter ''");
  check_refused("local:?memory", "memory='' is not a size");
  check_refused("local:?memory=", "memory='' is not a size");
  check_refused("local:?memory=1GB", "memory='1GB' is not a size such as");
  check_refused("local:?memory=-1", "memory='-1' is not a size");
  check_refused("local:?memory=1.5GiB", "is not a size");
  check_refused("local:?memory=99999999999GiB", "is not a size");  // beyond 64 bits
  check_refused("local:?stripes=4294967296", "stripes='4294967296' is not a whole number");
  check_refused("local:?stripes=four", "is not a whole number");
  check_refused("local:?timeout=10", "timeout='10' is not a time");
  check_refused("local:?timeout=0s", "is not a time");
  check_refused("local:?timeout=99999999999s", "is not a time");
  check_refused("local:?lock=", "is not a lock kind");
  check_refused("local:?topology=", "is not a topology");
  check_refused("mpi:?force_rma=yes", "force_rma='yes' is not on or off");
  check_refused("mpi:?ranks=2", "ranks= is for local: only");
  check_refused("local:?force_rma=on", "for mpi: only");
  check_refused("local:?ranks_per_node=1", "for mpi: only");
}

TEST_CASE("uri: of a server, its own parameters") {
  CHECK(parse_store_uri("redis://localhost:7400")->scheme == "redis");
  CHECK(options_of("unix:/run/kw.sock?timeout=250ms").timeout == std::chrono::milliseconds(250));
  CHECK(options_of("rediss://:secret@h").password == "secret");
  StoreOptions defaults;
  defaults.timeout = std::chrono::seconds(3);
  CHECK(parse_store_uri("redis://h", defaults)->options.timeout == std::chrono::seconds(3));
  check_refused("redis://h?memory=1GiB", "there is no parameter 'memory'");
  check_refused("redis://", "not a host");
}
