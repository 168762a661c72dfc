// Completions, hints, and what never enters the history.
#include "tools/kvctl/shell/complete.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tools/kvctl/shell/repl.h"
#include "tools/kvctl/shell/secrets.h"

using namespace keyway::kvctl;

namespace {

using Words = std::vector<std::string>;

bool offers(std::string_view line, std::string_view word) {
  const Words words = complete(line).words;
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

TEST_CASE("kvctl: the first word is completed to commands, in the case in which it was begun") {
  CHECK(complete("ge").words == Words{"get", "getbit", "getdel", "getex", "getrange", "getset"});
  CHECK(complete("GETD").words == Words{"GETDEL"});
  CHECK(complete("  getd").from == 2);
  CHECK(offers("", "GET"));
  CHECK(offers("c", "cluster"));
  CHECK(offers("ex", "exit"));
  CHECK(complete("nothing").words.empty());
}

TEST_CASE("kvctl: subcommands and options are completed") {
  CHECK(complete("client get").words == Words{"getname"});
  CHECK(complete("CLUSTER ").words.size() == 26);
  CHECK(complete("CLUSTER k").words == Words{"keyslot"});
  CHECK(complete("set k v k").words == Words{"keepttl"});
  CHECK(complete("set k v EX 10 ").words == Words{"GET", "IFEQ", "NX", "XX"});
  CHECK(complete("set k ").words.empty());
  CHECK(complete("3 kw.lock l r").words == Words{"read"});
  CHECK(complete("set \"a b\" v g").words == Words{"get"});
  CHECK(complete("help @str").words == Words{"@string"});
  CHECK(offers("help ", "@locks"));
  CHECK(complete("help client i").words == Words{"id", "info"});
}

TEST_CASE("kvctl: hints say what is to come") {
  CHECK(hint("get").empty() == false);
  CHECK(hint("get") == "key");
  CHECK(hint("get ") == "key");
  CHECK(hint("get k").empty());
  CHECK(hint("get k x").empty());
  CHECK(hint("expire k 5 ") == "[NX | XX | GT | LT]");
  CHECK(hint("client").starts_with("GETNAME | ID"));
  CHECK(hint("help") == "[command | @group]");
  CHECK(hint("").empty());
  CHECK(hint("nothing of ours").empty());
}

TEST_CASE("kvctl: help knows commands, their subcommands, groups and itself") {
  CHECK(help_text({"set"}).find("SET key value") != std::string::npos);
  CHECK(help_text({"client"}).find("CLIENT SETNAME name") != std::string::npos);
  CHECK(help_text({"Client", "id"}).find("CLIENT ID") != std::string::npos);
  CHECK(help_text({"@locks"}).find("KW.UNLOCK") != std::string::npos);
  CHECK(help_text({"@locks"}).find("GETEX") == std::string::npos);
  CHECK(help_text({"@nothing"}).find("There is no group") == 0);
  CHECK(help_text({"nothing"}).find("kvctl has no help for nothing;") == 0);
  CHECK(help_text({}).find("Ctrl-R") != std::string::npos);
}

TEST_CASE("kvctl: lines with a password are told from others") {
  for (const char* line :
       {"auth x", "AUTH u x", "\"auth\" x", "  5 auth x", "hello 3 auth u x",
        "HELLO 2 SETNAME n AUTH u x", "config set requirepass x",
        "CONFIG SET maxclients 5 REQUIREPASS x", "config set masterauth x", "acl setuser u >x",
        "migrate h 1 k 0 5 AUTH x", "auth \"x", "config set requirepass \"x y", "'auth' x"}) {
    CAPTURE(line);
    CHECK(holds_password(line));
  }
  for (const char* line : {"get auth", "set k requirepass", "hello 3", "config get requirepass",
                           "config set maxclients 5", "acl list", "", "set \"a", "5"}) {
    CAPTURE(line);
    CHECK_FALSE(holds_password(line));
  }
}
