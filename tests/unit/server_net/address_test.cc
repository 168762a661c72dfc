// Addresses: as text, and which may be bound.
#include "keyway/server/net/address.h"

#include <catch2/catch.hpp>

namespace keyway::server {
namespace {

TEST_CASE("address: without a password only this host may be listened to") {
  for (const char* here : {"127.0.0.1", "127.1.2.3", "::1"}) {
    CAPTURE(here);
    CHECK(check_bind(here, false).ok());
    CHECK(check_bind(here, true).ok());
  }
  for (const char* elsewhere : {"0.0.0.0", "::", "10.1.2.3", "2001:db8::1", "::ffff:10.1.2.3"}) {
    CAPTURE(elsewhere);
    CHECK(check_bind(elsewhere, true).ok());
    const Status refused = check_bind(elsewhere, false);
    CHECK(refused == Code::kInvalidArgument);
    CHECK(refused.message().find("--requirepass") != std::string_view::npos);
  }
}

TEST_CASE("address: what is none is refused with an example") {
  for (const char* none : {"", "localhost", "127.0.0", "127.0.0.1:7400", "::g", "1.2.3.4.5"}) {
    CAPTURE(none);
    CHECK(check_bind(none, true) == Code::kInvalidArgument);
    CHECK(tcp_endpoint(none, 1).code() == Code::kInvalidArgument);
  }
  CHECK(path_endpoint(std::string(200, 'x')).code() == Code::kInvalidArgument);
}

TEST_CASE("address: text and port, as Redis writes them") {
  CHECK(text_of(*tcp_endpoint("127.0.0.1", 7400)) == "127.0.0.1:7400");
  CHECK(text_of(*tcp_endpoint("::1", 7400)) == "[::1]:7400");
  CHECK(text_of(*path_endpoint("/run/keyway.sock")) == "/run/keyway.sock:0");
  CHECK(port_of(*tcp_endpoint("::1", 65535)) == 65535);
  CHECK(port_of(*path_endpoint("/run/keyway.sock")) == 0);
}

}  // namespace
}  // namespace keyway::server
