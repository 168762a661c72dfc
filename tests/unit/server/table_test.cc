// The table of commands: how it is searched, and that each row counts its words.
#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "keyway/server/commands/engine/table.h"
#include "tests/unit/server/peer.h"

namespace keyway::server {
namespace {

std::vector<Command> every_row() {
  std::vector<Command> rows;
  for (const Command& command : all_commands()) {
    rows.push_back(command);
    for (const Command& sub : command.subcommands) rows.push_back(sub);
  }
  return rows;
}

/// The command and its arguments, this many words in all.
std::vector<std::string_view> request_of(const Command& command, std::size_t words) {
  const std::size_t bar = command.name.find('|');
  std::vector<std::string_view> request = {command.name.substr(0, bar)};
  if (bar != std::string_view::npos) request.push_back(command.name.substr(bar + 1));
  while (request.size() < words) request.push_back("1");
  request.resize(words);
  return request;
}

TEST_CASE("table: every command is found by its name in any case, and nothing else is") {
  std::set<std::string_view> names;
  for (const Command& command : all_commands()) {
    INFO(command.name);
    CHECK(names.insert(command.name).second);
    CHECK(find_command(command.name) == &command);
    std::string upper(command.name);
    for (char& c : upper) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    CHECK(find_command(upper) == &command);
    CHECK(find_command(upper + "x") == nullptr);
    CHECK(defect_of(command) == "");
    for (const Command& sub : command.subcommands) {
      CHECK(find_subcommand(command, sub.name.substr(command.name.size() + 1)) == &sub);
      CHECK(find_command(sub.name) == nullptr);
    }
  }
  CHECK(names.size() >= 57);
  CHECK(find_command("") == nullptr);
  CHECK(find_command("incr@") == nullptr);
  CHECK(find_command(std::string(1000, 'a')) == nullptr);
}

void run_nothing(const Call&) {}

constexpr Command kGood = {
    .name = "good", .arity = 1, .run = run_nothing, .summary = "Does nothing."};
constexpr Command kFamily = {.name = "family", .arity = -2, .flags = kContainer};
constexpr Command kMember = {
    .name = "family|member", .arity = 2, .run = run_nothing, .summary = "Does nothing."};

/// A row with one thing changed.
template <class Change>
Command but(Command row, Change&& change) {
  change(row);
  return row;
}

std::string_view sentence_of(const Result<Table>& table) {
  return table.ok() ? "" : table.status().message();
}

TEST_CASE("table: D1: a row that cannot run, or that nobody can read about, has a defect") {
  CHECK(defect_of(kGood) == "");
  CHECK(defect_of(kFamily) == "");
  const Command defects[] = {
      but(kGood, [](Command& row) { row.run = nullptr; }),
      but(kGood, [](Command& row) { row.summary = ""; }),
      but(kGood, [](Command& row) { row.summary = "No sentence"; }),
      but(kGood, [](Command& row) { row.name = "Good"; }),
      but(kGood, [](Command& row) { row.name = ""; }),
      but(kGood, [](Command& row) { row.arity = 0; }),
      but(kGood,
          [](Command& row) {
            row.keys = {1, 1, 1, ""};
          }),
      but(kGood,
          [](Command& row) {
            row.keys = {0, 0, 0, "RO"};
          }),
      but(kMember, [](Command& row) { row.flags = kContainer; }),
      but(kGood,
          [](Command& row) {
            row.keys = {1, 1, 1, "RO"};
            row.flags = kWholeStore;
          }),
  };
  for (const Command& row : defects) {
    CAPTURE(row.name, row.summary, row.arity, row.keys.first, row.flags);
    CHECK(defect_of(row) != "");
    const CommandRows file(&row, 1);
    CHECK_FALSE(Table::of(std::span(&file, 1)).ok());
  }
}

TEST_CASE("table: D2: rows of several files make a table, or a sentence says why not") {
  const auto table_of = [](std::vector<Command> first, std::vector<Command> second) {
    const CommandRows files[] = {first, second};
    return Table::of(files);
  };
  const Command longer = but(kGood, [](Command& row) { row.name = "familyb"; });
  const auto table = table_of({kMember, longer}, {kGood, kFamily});
  REQUIRE(table.ok());
  CHECK(table->commands().size() == 3);
  REQUIRE(table->find("FAMILY") != nullptr);
  REQUIRE(table->find("family")->subcommands.size() == 1);
  CHECK(table->find("family")->subcommands[0].name == "family|member");
  CHECK(table->find("good")->subcommands.empty());
  CHECK(table->find("family|member") == nullptr);

  CHECK(sentence_of(table_of({kGood}, {kGood})) == "command 'good': the name is defined twice");
  CHECK(sentence_of(table_of({kFamily, kMember}, {kMember})) ==
        "command 'family|member': the name is defined twice");
  CHECK(sentence_of(table_of({kGood}, {kMember})) ==
        "command 'family|member': its container is not defined");
  const Command orphan = but(kMember, [](Command& row) { row.name = "a|member"; });
  CHECK(sentence_of(table_of({kFamily, kMember}, {orphan})) ==
        "command 'a|member': its container is not defined");
  CHECK(sentence_of(table_of({but(kGood, [](Command& row) { row.name = "family"; })}, {kMember})) ==
        "command 'family|member': its container is not defined");
  CHECK(sentence_of(table_of({kFamily}, {kGood})) ==
        "command 'family': a container needs subcommands");
}

/// The reply to a refused command: EXEC has its own text.
std::string refusal_of(const Command& command, std::string_view kind, std::string_view why) {
  if (command.name != "exec") return fmt::format("-{} {}\r\n", kind, why);
  const std::string reason = kind == "ERR" ? std::string(why) : fmt::format("{} {}", kind, why);
  return fmt::format("-EXECABORT Transaction discarded because of: {}\r\n", reason);
}

TEST_CASE("table: a request of too few or too many words is refused, by name") {
  Store store = small_store();
  Peer peer(store);
  for (const Command& command : every_row()) {
    const auto least = static_cast<std::size_t>(std::abs(command.arity));
    const std::string refusal = refusal_of(
        command, "ERR", fmt::format("wrong number of arguments for '{}' command", command.name));
    const bool is_sub = command.name.find('|') != std::string_view::npos;
    INFO(command.name);
    if (least > (is_sub ? 2U : 1U)) CHECK(peer.ask(request_of(command, least - 1)) == refusal);
    if (command.arity > 0) CHECK(peer.ask(request_of(command, least + 1)) == refusal);
    if (command.run == nullptr) continue;
    CHECK(peer.ask(request_of(command, least)) != refusal);
  }
}

TEST_CASE("table: without the password only what logs in is done") {
  Store store = small_store();
  for (const Command& command : every_row()) {
    if (command.run == nullptr) continue;
    Peer peer(store);
    peer.service.password.set("secret");
    peer.client.authenticated = false;
    const bool refused =
        peer.ask(request_of(command, static_cast<std::size_t>(std::abs(command.arity)))) ==
        refusal_of(command, "NOAUTH", "Authentication required.");
    INFO(command.name);
    const std::set<std::string_view> before = {"auth", "hello", "quit", "reset"};
    CHECK(refused == !before.contains(command.name));
    CHECK_FALSE(peer.client.authenticated);
  }
}

TEST_CASE("table: COMMAND counts, lists and tells all of it") {
  Store store = small_store();
  Peer peer(store);
  const std::string count = std::to_string(all_commands().size());
  CHECK(peer.ask("command count") == ":" + count + "\r\n");
  const std::string listed = peer.ask("command list");
  CHECK(listed.starts_with("*" + std::to_string(every_row().size()) + "\r\n"));
  const std::string reply = peer.ask("command");
  CHECK(reply.starts_with("*" + count + "\r\n"));
  CHECK(peer.ask("command info") == reply);
  for (const Command& command : every_row()) {
    const std::string name = "\r\n" + std::string(command.name) + "\r\n";
    INFO(command.name);
    CHECK(listed.find(name) != std::string::npos);
    CHECK(reply.find(name) != std::string::npos);
  }
}

}  // namespace
}  // namespace keyway::server
