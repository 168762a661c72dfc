// URIs of servers: the meaning of each part, and a sentence for everything malformed.
#include "keyway/client/wire/uri.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>

using namespace keyway;
using namespace keyway::wire;

namespace {

Options options_of(std::string_view uri) {
  auto parsed = parse_server_uri(uri);
  INFO(uri << ": " << parsed.status().message());
  REQUIRE(parsed.ok());
  return *parsed;
}

void check_refused(std::string_view uri, std::string_view says) {
  const auto parsed = parse_server_uri(uri);
  CAPTURE(uri);
  REQUIRE_FALSE(parsed.ok());
  CHECK(parsed.code() == Code::kInvalidArgument);
  const std::string message(parsed.status().message());
  CAPTURE(message);
  CHECK(message.find(says) != std::string::npos);
  CHECK(message.find("secret") == std::string::npos);
}

}  // namespace

TEST_CASE("server uri: host, port, password, database") {
  const Options plain = options_of("redis://db.example");
  CHECK(plain.host == "db.example");
  CHECK(plain.port == 6379);
  CHECK(plain.password.empty());
  CHECK(plain.database == 0);
  CHECK_FALSE(plain.tls.on);
  CHECK(plain.version == resp::Version::kResp2);

  const Options full = options_of("rediss://ada:se%40cret@[::1]:7400/3?protocol=3");
  CHECK(full.host == "::1");
  CHECK(full.port == 7400);
  CHECK(full.user == "ada");
  CHECK(full.password == "se@cret");
  CHECK(full.database == 3);
  CHECK(full.tls.on);
  CHECK(full.version == resp::Version::kResp3);
  CHECK(text_of(full) == "[::1]:7400");

  CHECK(options_of("redis://:a:b@h").password == "a:b");
  CHECK(options_of("redis://:a@b@h").password == "a@b");
  CHECK(options_of("redis://h/").database == 0);
}

TEST_CASE("server uri: a Unix socket") {
  for (const std::string_view uri : {"unix:/run/kw.sock", "unix:///run/kw.sock"}) {
    CHECK(options_of(uri).path == "/run/kw.sock");
  }
  const Options o = options_of("unix:/a%20b?user=ada&password=p%26q&client_name=loader");
  CHECK(o.path == "/a b");
  CHECK(o.user == "ada");
  CHECK(o.password == "p&q");
  CHECK(o.client_name == "loader");
  CHECK(text_of(o) == "/a b");
}

TEST_CASE("server uri: every parameter lands in its option") {
  const Options o = options_of(
      "rediss://h?tls_ca=/ca&tls_cert=/cert&tls_key=/key&tls_name=n&tls_verify=off&timeout=250ms&"
      "connect_timeout=2s&protocol=2");
  CHECK(o.tls.ca_file == "/ca");
  CHECK(o.tls.cert_file == "/cert");
  CHECK(o.tls.key_file == "/key");
  CHECK(o.tls.server_name == "n");
  CHECK_FALSE(o.tls.verify);
  CHECK(o.request_timeout == std::chrono::milliseconds(250));
  CHECK(o.connect_timeout == std::chrono::seconds(2));
}

TEST_CASE("server uri: what it does not say stays as it was") {
  Options defaults;
  defaults.port = 7400;
  defaults.password = "kept";
  defaults.request_timeout = std::chrono::seconds(3);
  const auto parsed = parse_server_uri("redis://h", defaults);
  REQUIRE(parsed.ok());
  CHECK(parsed->port == 7400);
  CHECK(parsed->password == "kept");
  CHECK(parsed->request_timeout == std::chrono::seconds(3));
}

TEST_CASE("server uri: each mistake has its sentence, and shows no password") {
  check_refused("", "write redis://host:port");
  check_refused("local:", "write redis://host:port");
  check_refused("redis:h", "two slashes");
  check_refused("redis://", "not a host");
  check_refused("redis://:7400", "not a host");
  check_refused("redis://a b", "not a host");
  check_refused("redis://h:0", "not a port");
  check_refused("redis://h:65536", "not a port");
  check_refused("redis://h:74x", "not a port");
  check_refused("redis://h:", "not a port");
  check_refused("redis://::1:7400", "brackets");
  check_refused("redis://[::1", "no ']'");
  check_refused("redis://[::1]7400", "not a port");
  check_refused("redis://h/x", "not a database");
  check_refused("redis://secret@h", "no password: write user:password@host");
  check_refused("redis://:@h", "is empty");
  check_refused("redis://:secret%2@h", "hexadecimal");
  check_refused("redis://:secret/more@h", "%2F");
  check_refused("redis://:12?secret@h", "%3F");
  check_refused("redis://ada:secret@h:port", "not a port");
  check_refused("unix:run/kw.sock", "begins with '/'");
  check_refused("unix:", "begins with '/'");
  check_refused("unix:/a%00b", "begins with '/'");
  check_refused("unix:/" + std::string(107, 'x'), "107 bytes");
  check_refused("redis://h?memory=1GiB", "there is no parameter 'memory'; there are protocol");
  check_refused("redis://h?protocol=4", "protocol='4' is not 2 or 3");
  check_refused("redis://h?timeout=10", "timeout='10' is not a time");
  check_refused("redis://h?timeout=0s", "is not a time");
  check_refused("redis://h?password=", "the password is empty");
  check_refused("redis://h?client_name=a b", "without blanks");
  check_refused("redis://h?client_name=%zz", "hexadecimal");
  check_refused("redis://h?tls_ca=/ca", "for rediss: only");
  check_refused("rediss://h?tls_cert=/cert", "go together");
  check_refused("unix:/x?password=secret&protocol=9", "password=***");
}

TEST_CASE("server uri: a URI for messages has no password") {
  CHECK(without_password("redis://ada:secret@h:1/0?x=1") == "redis://***@h:1/0?x=1");
  CHECK(without_password("unix:/x?password=se@cret&protocol=3") ==
        "unix:/x?password=***&protocol=3");
  CHECK(without_password("redis://h:1") == "redis://h:1");
}

// Mutations of valid URIs reach far into the parser; any result must be consistent.
TEST_CASE("server uri: what is mangled is refused with a sentence, or makes sense") {
  const std::string_view seeds[] = {
      "redis://ada:sec%72et@db.example:7400/3?protocol=3&timeout=5s",
      "rediss://:p@[fe80::1]:7400?tls_ca=/a&tls_name=b&tls_verify=off",
      "unix:///run/kw.sock?user=a&password=b&client_name=c&connect_timeout=3ms"};
  const std::string_view pieces[] = {":", "/",  "//",    "@",    "?",      "&",
                                     "=", "%",  "%0",    "%00",  "[",      "]",
                                     " ", "-1", "65536", "\xff", "redis:", "99999999999"};
  std::mt19937 random(1);
  int refused = 0;
  constexpr int kRounds = 20000;
  for (int round = 0; round < kRounds; ++round) {
    std::string uri(seeds[random() % std::size(seeds)]);
    for (unsigned edits = 1 + random() % 2; edits != 0; --edits) {
      const std::size_t at = random() % (uri.size() + 1);
      uri.replace(at, random() % 3, pieces[random() % std::size(pieces)]);
    }
    CAPTURE(uri);
    const auto parsed = parse_server_uri(uri);
    if (!parsed.ok()) {
      ++refused;
      REQUIRE(parsed.code() == Code::kInvalidArgument);
      REQUIRE(parsed.status().message().starts_with("server URI '"));
      continue;
    }
    REQUIRE(is_server_uri(uri));
    REQUIRE(parsed->path.empty() == !uri.starts_with("unix:"));
    REQUIRE(parsed->path.find('\0') == std::string::npos);
    REQUIRE_FALSE(parsed->host.empty());
    REQUIRE(parsed->port != 0);
    REQUIRE(parsed->request_timeout.count() > 0);
    REQUIRE(parsed->tls.on == uri.starts_with("rediss:"));
  }
  // Both happened, or the mutations are too tame or too wild to show anything.
  CHECK(refused > kRounds / 10);
  CHECK(refused < kRounds * 9 / 10);
}
