// The command line and the environment.
#include "tools/kvctl/options.h"

#include <catch2/catch.hpp>
#include <cstdlib>

using namespace keyway;
using namespace keyway::kvctl;

namespace {

Parsed parse(std::vector<const char*> words) {
  ::unsetenv("KVCTL_PASSWORD");
  ::unsetenv("REDISCLI_AUTH");
  words.insert(words.begin(), "kvctl");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

Options options(const std::vector<const char*>& words) {
  Parsed parsed = parse(words);
  INFO(parsed.error);
  REQUIRE(parsed.options);
  return *parsed.options;
}

}  // namespace

TEST_CASE("kvctl: what stands behind the options is the command, whatever it looks like") {
  const Options given = options({"-p", "7401", "-3", "--json", "set", "k", "-1", "--raw", "-p"});
  CHECK(given.words == std::vector<std::string>{"set", "k", "-1", "--raw", "-p"});
  CHECK(given.server.port == 7401);
  CHECK(given.server.version == resp::Version::kResp3);
  CHECK(given.style == Style::kJson);
  CHECK(options({"--json", "-2", "ping"}).server.version == resp::Version::kResp2);
  CHECK(options({}).server.port == kPort);
  CHECK_FALSE(options({}).style);
}

TEST_CASE("kvctl: a URI says where the server is; what it leaves out stays") {
  const Options given = options({"-p", "7401", "-u", "rediss://ada:secret@example/3", "ping"});
  CHECK(given.server.host == "example");
  CHECK(given.server.port == 7401);
  CHECK(given.server.user == "ada");
  CHECK(given.server.password == "secret");
  CHECK(given.server.tls.on);
  CHECK(given.server.database == 3);
  CHECK(given.password_seen);
  CHECK(options({"-u", "unix:/run/k.sock"}).server.path == "/run/k.sock");
  CHECK(options({"-a", "first", "-u", "redis://:second@h"}).server.password == "first");
}

TEST_CASE("kvctl: times of waiting") {
  CHECK(options({"-t", "0.5"}).server.request_timeout.count() == 500);
  CHECK(options({"-t", "0.5"}).server.connect_timeout.count() == 500);
  CHECK(options({"-t", "60"}).server.connect_timeout.count() == 5000);
  CHECK(options({"-t", "0"}).server.request_timeout > std::chrono::hours(1000));
  CHECK(options({"-t", "1e300"}).server.request_timeout > std::chrono::hours(1000));
}

TEST_CASE("kvctl: what contradicts itself is refused in one sentence") {
  using Line = std::vector<const char*>;
  for (const Line& line : {Line{"--nothing"},
                           {"-Z", "get", "k"},
                           {"--raw", "--json"},
                           {"-2", "-3"},
                           {"-p", "x"},
                           {"-p", "70000"},
                           {"--scan", "--stat"},
                           {"--scan", "get"},
                           {"-x"},
                           {"-X", "t"},
                           {"-t", "-1"},
                           {"-u", "http://h"},
                           {"-r", "x"},
                           {"-x", "-X", "t", "set", "k", "t"}}) {
    CAPTURE(line);
    const Parsed parsed = parse(line);
    CHECK_FALSE(parsed.options);
    CHECK(parsed.exit_code == kExitUsage);
    CHECK_FALSE(parsed.error.empty());
    CHECK(parsed.error.find('\n') == std::string::npos);
  }
  CHECK(parse({"--help"}).out.find("Examples:") != std::string::npos);
  CHECK(parse({"--version"}).out.starts_with("kvctl "));
}
