// LockParams and the construction of kinds: levers, bounds, unknown names.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "keyway/locks/distributed/any_lock.h"

namespace keyway::locks {
namespace {

void refused(std::string_view text, std::string_view part) {
  const auto made = AnyLock::make(text);
  INFO(text << ": " << (made.ok() ? "accepted" : made.status().message()));
  REQUIRE_FALSE(made.ok());
  CHECK(made.code() == Code::kInvalidArgument);
  CHECK(made.status().message().find(part) != std::string_view::npos);
}

TEST_CASE("text is parsed into a kind and its levers") {
  auto params = LockParams::parse("gbh:backoff_max_ns=20000,lockall=off");
  REQUIRE(params.ok());
  CHECK(params->kind() == "gbh");
  CHECK(*params->take_number("backoff_max_ns", 1) == 20000);
  CHECK(*params->take_number("backoff_max_ns", 1) == 1);  // a lever is taken once
  CHECK_FALSE(params->require_all_taken().ok());
  CHECK_FALSE(*params->take_switch("lockall", true));
  CHECK(params->require_all_taken().ok());
}

TEST_CASE("text that is no lever=value pair is refused") {
  for (const auto text : {"gbh:lockall", "gbh:=on", "gbh:lockall=on,,", "gbh:lockall=on,x"}) {
    CHECK(LockParams::parse(text).code() == Code::kInvalidArgument);
  }
  CHECK(LockParams::parse("gbh:").ok());
}

TEST_CASE("every name makes its kind") {
  for (const auto name : AnyLock::kNames) {
    const auto made = AnyLock::make(name);
    REQUIRE(made.ok());
    CHECK(made->traits().name == name);
  }
}

TEST_CASE("an unknown kind's error lists the known ones") {
  for (const auto name : AnyLock::kNames) refused("no-such-lock", name);
  refused("", "d-mcs");
}

TEST_CASE("levers are validated when a kind is made") {
  refused("fompi-spin:backoff_min_ns=0", "at least 1");
  refused("fompi-rw:backoff_max_ns=0", "at least 1");
  refused("gbh:backoff_min_ns=100,backoff_max_ns=99", "not below");
  refused("gbh:backoff_min_ns=60000", "not below");  // above the default maximum
  refused("gbh:backoff_min_ns=many", "whole number");
  refused("gbh:backoff_min_ns=-1", "whole number");
  refused("gbh:backoff_min_ns=", "whole number");
  refused("gbh:backoff_min_ns=99999999999999999999", "whole number");
  refused("gbh:lockall=yes", "on or off");
  refused("gbh:no_such_lever=1", "no lever 'no_such_lever'");
  refused("d-mcs:backoff_min_ns=1", "no lever 'backoff_min_ns'");
  CHECK(AnyLock::make("gbh:backoff_min_ns=100,backoff_max_ns=100").ok());
  CHECK(AnyLock::make("fompi-spin:backoff_min_ns=5").ok());
}

}  // namespace
}  // namespace keyway::locks
