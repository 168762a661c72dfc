#include <array>
#include <functional>

#include "keyway/locks/base/words.h"
#include "keyway/server/commands/admin/server_rows.h"
#include "keyway/server/commands/engine/command.h"
#include "keyway/server/commands/engine/handlers.h"
#include "keyway/server/commands/engine/table_rows.h"

namespace keyway::server {
namespace {

constexpr KeyWords kOne = {1, 1, 1};
constexpr KeyWords kBoth = {1, 2, 1};
constexpr KeyWords kAll = {1, -1, 1};
constexpr KeyWords kPairs = {1, -1, 2};
constexpr std::uint32_t kOfClient = kNoScript | kLoading | kStale;
constexpr std::uint32_t kAtLogin = kOfClient | kFast | kNoAuth | kAllowBusy;
constexpr std::uint32_t kOfMulti = kOfClient | kFast | kAllowBusy;
constexpr std::string_view kUnordered = "nondeterministic_output_order";

constexpr Command kClientRows[] = {
    {"client|getname", 2, Group::kConnection, kOfClient, {}, "", "", run_client_getname},
    {"client|help", 2, Group::kConnection, kLoading | kStale, {}, "", "", run_client_help},
    {"client|id", 2, Group::kConnection, kOfClient, {}, "", "", run_client_id},
    {"client|info", 2, Group::kConnection, kOfClient, {}, "", kVaries, run_client_info},
    {"client|kill", -3, Group::kConnection, kOfConfig, {}, "", "", run_client_kill},
    {"client|list", -2, Group::kConnection, kOfConfig, {}, "", kVaries, run_client_list},
    {"client|no-evict", 3, Group::kConnection, kOfConfig, {}, "", "", run_client_no_evict},
    {"client|pause", -3, Group::kConnection, kOfConfig, {}, "", "", run_client_pause},
    {"client|reply", 3, Group::kConnection, kOfClient, {}, "", "", run_client_reply},
    {"client|setname", 3, Group::kConnection, kOfClient, {}, "", "", run_client_setname},
    {"client|unblock", -3, Group::kConnection, kOfConfig, {}, "", "", run_client_unblock},
    {"client|unpause", 2, Group::kConnection, kOfConfig, {}, "", "", run_client_unpause},
};

constexpr Command kCommandRows[] = {
    {"command|count", 2, Group::kConnection, kLoading | kStale, {}, "", "", run_command_count},
    {"command|docs",
     -2,
     Group::kConnection,
     kLoading | kStale,
     {},
     "",
     kUnordered,
     run_command_docs},
    {"command|getkeys", -4, Group::kConnection, kLoading | kStale, {}, "", "", run_command_getkeys},
    {"command|getkeysandflags",
     -4,
     Group::kConnection,
     kLoading | kStale,
     {},
     "",
     "",
     run_command_getkeysandflags},
    {"command|help", 2, Group::kConnection, kLoading | kStale, {}, "", "", run_command_help},
    {"command|info",
     -2,
     Group::kConnection,
     kLoading | kStale,
     {},
     "",
     kUnordered,
     run_command_info},
    {"command|list",
     -2,
     Group::kConnection,
     kLoading | kStale,
     {},
     "",
     kUnordered,
     run_command_list},
};

constexpr Command object_row(std::string_view name, void (*run)(const Call&)) {
  return {name, 3, Group::kKeyspace, kReadOnly, {2, 2, 1}, "RO", kVaries, run};
}

constexpr Command kObjectRows[] = {
    object_row("object|encoding", run_object_encoding),
    object_row("object|freq", run_object_freq),
    {"object|help", 2, Group::kKeyspace, kLoading | kStale, {}, "", "", run_object_help},
    object_row("object|idletime", run_object_idletime),
    object_row("object|refcount", run_object_refcount),
};

constexpr Command kRows[] = {
    {"ping",
     -1,
     Group::kConnection,
     kFast,
     {},
     "",
     "request_policy:all_shards response_policy:all_succeeded",
     run_ping},
    {"echo", 2, Group::kConnection, kLoading | kStale | kFast, {}, "", "", run_echo},
    {"quit", -1, Group::kConnection, kAtLogin | kUnqueued, {}, "", "", run_quit},
    {"select", 2, Group::kConnection, kLoading | kStale | kFast, {}, "", "", run_select},
    {"auth", -2, Group::kConnection, kAtLogin, {}, "", "", run_auth},
    {"hello", -1, Group::kConnection, kAtLogin, {}, "", "", run_hello},
    {"reset", 1, Group::kConnection, kAtLogin | kUnqueued, {}, "", "", run_reset},
    {"client", -2, Group::kServer, kContainer, {}, "", "", nullptr},
    {"command",
     -1,
     Group::kConnection,
     kLoading | kStale | kContainer,
     {},
     "",
     kUnordered,
     run_command},
    {"cluster", -2, Group::kServer, kContainer, {}, "", "", nullptr},
    {"readonly", 1, Group::kConnection, kLoading | kStale | kFast, {}, "", "", run_cluster_mode},
    {"readwrite", 1, Group::kConnection, kLoading | kStale | kFast, {}, "", "", run_cluster_mode},
    {"asking", 1, Group::kConnection, kFast, {}, "", "", run_cluster_mode},
    {"get", 2, Group::kString, kReadOnly | kFast, kOne, "RO access", "", run_get},
    {"set", -3, Group::kString, kWrite | kDenyOom, kOne, "RW access update variable_flags", "",
     run_set, "RW and ACCESS due to the optional `GET` argument"},
    {"setnx", 3, Group::kString, kWrite | kDenyOom | kFast, kOne, "OW insert", "", run_setnx},
    {"setex", 4, Group::kString, kWrite | kDenyOom, kOne, "OW update", "", run_setex},
    {"psetex", 4, Group::kString, kWrite | kDenyOom, kOne, "OW update", "", run_psetex},
    {"getset", 3, Group::kString, kWrite | kDenyOom | kFast, kOne, "RW access update", "",
     run_getset},
    {"getdel", 2, Group::kString, kWrite | kFast, kOne, "RW access delete", "", run_getdel},
    {"getex", -2, Group::kString, kWrite | kFast, kOne, "RW access update", "", run_getex,
     "RW and UPDATE because it changes the TTL"},
    {"mget", -2, Group::kString, kReadOnly | kFast, kAll, "RO access", "request_policy:multi_shard",
     run_mget},
    {"mset", -3, Group::kString, kWrite | kDenyOom, kPairs, "OW update",
     "request_policy:multi_shard response_policy:all_succeeded", run_mset},
    {"msetnx", -3, Group::kString, kWrite | kDenyOom, kPairs, "OW insert",
     "request_policy:multi_shard response_policy:agg_min", run_msetnx},
    {"append", 3, Group::kString, kWrite | kDenyOom | kFast, kOne, "RW insert", "", run_append},
    {"strlen", 2, Group::kString, kReadOnly | kFast, kOne, "RO", "", run_strlen},
    {"getrange", 4, Group::kString, kReadOnly, kOne, "RO access", "", run_getrange},
    {"substr", 4, Group::kString, kReadOnly, kOne, "RO access", "", run_getrange},
    {"setrange", 4, Group::kString, kWrite | kDenyOom, kOne, "RW update", "", run_setrange},
    {"incr", 2, Group::kString, kWrite | kDenyOom | kFast, kOne, "RW access update", "", run_incr},
    {"decr", 2, Group::kString, kWrite | kDenyOom | kFast, kOne, "RW access update", "", run_decr},
    {"incrby", 3, Group::kString, kWrite | kDenyOom | kFast, kOne, "RW access update", "",
     run_incrby},
    {"decrby", 3, Group::kString, kWrite | kDenyOom | kFast, kOne, "RW access update", "",
     run_decrby},
    {"incrbyfloat", 3, Group::kString, kWrite | kDenyOom | kFast, kOne, "RW access update", "",
     run_incrbyfloat},
    {"del", -2, Group::kKeyspace, kWrite, kAll, "RM delete",
     "request_policy:multi_shard response_policy:agg_sum", run_del},
    {"unlink", -2, Group::kKeyspace, kWrite | kFast, kAll, "RM delete",
     "request_policy:multi_shard response_policy:agg_sum", run_del},
    {"exists", -2, Group::kKeyspace, kReadOnly | kFast, kAll, "RO",
     "request_policy:multi_shard response_policy:agg_sum", run_exists},
    {"touch", -2, Group::kKeyspace, kReadOnly | kFast, kAll, "RO",
     "request_policy:multi_shard response_policy:agg_sum", run_exists},
    {"rename", 3, Group::kKeyspace, kWrite, kBoth, "RW access delete;OW update", "", run_rename},
    {"renamenx", 3, Group::kKeyspace, kWrite | kFast, kBoth, "RW access delete;OW insert", "",
     run_renamenx},
    {"copy", -3, Group::kKeyspace, kWrite | kDenyOom, kBoth, "RO access;OW update", "", run_copy},
    {"object", -2, Group::kServer, kContainer, {}, "", "", nullptr},
    {"type", 2, Group::kKeyspace, kReadOnly | kFast, kOne, "RO", "", run_type},
    {"expire", -3, Group::kKeyspace, kWrite | kFast, kOne, "RW update", "", run_expire},
    {"pexpire", -3, Group::kKeyspace, kWrite | kFast, kOne, "RW update", "", run_pexpire},
    {"expireat", -3, Group::kKeyspace, kWrite | kFast, kOne, "RW update", "", run_expireat},
    {"pexpireat", -3, Group::kKeyspace, kWrite | kFast, kOne, "RW update", "", run_pexpireat},
    {"ttl", 2, Group::kKeyspace, kReadOnly | kFast, kOne, "RO access", kVaries, run_ttl},
    {"pttl", 2, Group::kKeyspace, kReadOnly | kFast, kOne, "RO access", kVaries, run_pttl},
    {"expiretime", 2, Group::kKeyspace, kReadOnly | kFast, kOne, "RO access", "", run_expiretime},
    {"pexpiretime", 2, Group::kKeyspace, kReadOnly | kFast, kOne, "RO access", "", run_pexpiretime},
    {"persist", 2, Group::kKeyspace, kWrite | kFast, kOne, "RW update", "", run_persist},
    {"dbsize",
     1,
     Group::kKeyspace,
     kReadOnly | kFast,
     {},
     "",
     "request_policy:all_shards response_policy:agg_sum",
     run_dbsize},
    {"flushdb",
     -1,
     Group::kKeyspace,
     kWrite | kDangerous,
     {},
     "",
     "request_policy:all_shards response_policy:all_succeeded",
     run_flush},
    {"flushall",
     -1,
     Group::kKeyspace,
     kWrite | kDangerous,
     {},
     "",
     "request_policy:all_shards response_policy:all_succeeded",
     run_flush},
    {"keys",
     2,
     Group::kKeyspace,
     kReadOnly | kDangerous,
     {},
     "",
     "request_policy:all_shards nondeterministic_output_order",
     run_keys},
    {"scan",
     -2,
     Group::kKeyspace,
     kReadOnly,
     {},
     "",
     "nondeterministic_output request_policy:special",
     run_scan},
    {"randomkey",
     1,
     Group::kKeyspace,
     kReadOnly,
     {},
     "",
     "request_policy:all_shards nondeterministic_output",
     run_randomkey},
    {"setbit", 4, Group::kBitmap, kWrite | kDenyOom, kOne, "RW access update", "", run_setbit},
    {"getbit", 3, Group::kBitmap, kReadOnly | kFast, kOne, "RO access", "", run_getbit},
    {"bitcount", -2, Group::kBitmap, kReadOnly, kOne, "RO access", "", run_bitcount},
    {"bitpos", -3, Group::kBitmap, kReadOnly, kOne, "RO access", "", run_bitpos},
    {"bitop",
     -4,
     Group::kBitmap,
     kWrite | kDenyOom,
     {2, -1, 1},
     "OW update;RO access",
     "",
     run_bitop},
    {"lcs", -3, Group::kString, kReadOnly, {1, 2, 1}, "RO access", "", run_lcs},
    {"kw.lock", -3, Group::kServer, kNoScript | kBlocking | kNoMulti, kOne, kNotKey, "",
     run_kw_lock},
    {"kw.unlock", 3, Group::kServer, kNoScript | kFast | kNoMulti, kOne, kNotKey, "",
     run_kw_unlock},
    {"kw.renew", -3, Group::kServer, kNoScript | kFast | kNoMulti, kOne, kNotKey, "", run_kw_renew},
    {"kw.lockinfo", 2, Group::kServer, kNoScript | kNoMulti, kOne, kNotKey, kVaries,
     run_kw_lockinfo},
    {"kw.help", 1, Group::kServer, kLoading | kStale | kAside, {}, "", "", run_kw_help},
    {"multi", 1, Group::kTransaction, kOfMulti | kUnqueued, {}, "", "", run_multi},
    {"exec", 1, Group::kTransaction, kOfClient | kSkipSlowLog | kUnqueued, {}, "", "", run_exec},
    {"discard", 1, Group::kTransaction, kOfMulti | kUnqueued, {}, "", "", run_discard},
    {"watch", -2, Group::kTransaction, kOfMulti | kUnqueued, kAll, "RO", "", run_watch},
    {"unwatch", 1, Group::kTransaction, kOfMulti, {}, "", "", run_unwatch},
    {"time", 1, Group::kServer, kLoading | kStale | kFast | kAside, {}, "", kVaries, run_time},
    {"info",
     -1,
     Group::kServer,
     kDangerous | kLoading | kStale,
     {},
     "",
     "nondeterministic_output request_policy:all_shards response_policy:special",
     run_info},
    {"config", -2, Group::kServer, kContainer, {}, "", "", nullptr},
    {"latency", -2, Group::kServer, kContainer, {}, "", "", nullptr},
    {"memory", -2, Group::kServer, kContainer, {}, "", "", nullptr},
    {"slowlog", -2, Group::kServer, kContainer, {}, "", "", nullptr},
    {"shutdown", -1, Group::kServer, kOfConfig | kNoMulti | kAllowBusy, {}, "", "", run_shutdown},
    {"kw.slowlog", -1, Group::kServer, kOfServer, {}, "", kVaries, run_kw_slowlog},
    {"kw.hotkeys", -1, Group::kServer, kOfServer, {}, "", kVaries, run_hotkeys},
    {"kw.hotstripes", -1, Group::kServer, kOfServer, {}, "", kVaries, run_hotstripes},
    {"kw.stripes",
     -1,
     Group::kServer,
     kNoScript | kLoading | kStale | kDangerous | kAside,
     {},
     "",
     kVaries,
     run_stripes},
};

// The rows by name: open addressing over slots, made by the compiler.
constexpr std::size_t kSlots = 256;
static_assert(std::size(kRows) < kSlots / 2);

constexpr std::size_t slot_of_name(std::string_view name) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<std::uint8_t>(lower(c))) * 16777619U;
  return (hash ^ (hash >> 16)) % kSlots;
}

constexpr auto kIndex = [] {
  std::array<std::uint8_t, kSlots> index{};  // 0: empty, else the row's number plus one
  for (std::size_t i = 0; i < std::size(kRows); ++i) {
    std::size_t slot = slot_of_name(kRows[i].name);
    while (index[slot] != 0) slot = (slot + 1) % kSlots;
    index[slot] = static_cast<std::uint8_t>(i + 1);
  }
  return index;
}();

}  // namespace

std::span<const Command> all_commands() { return kRows; }

const Command* find_command(std::string_view name) {
  constexpr std::size_t kLongest = 32;  // a longer word is no name: it need not be read
  if (name.size() > kLongest) return nullptr;
  for (std::size_t slot = slot_of_name(name); kIndex[slot] != 0; slot = (slot + 1) % kSlots) {
    const Command& row = kRows[kIndex[slot] - 1];
    if (is_word(name, row.name)) return &row;
  }
  return nullptr;
}

std::span<const Command> subcommands_of(const Command& command) {
  if ((command.flags & kContainer) == 0) return {};
  if (command.name == "client") return kClientRows;
  if (command.name == "object") return kObjectRows;
  if (command.name == "cluster") return cluster_rows();
  if (command.name == "config") return kConfigRows;
  if (command.name == "latency") return kLatencyRows;
  if (command.name == "memory") return kMemoryRows;
  if (command.name == "slowlog") return kSlowlogRows;
  return kCommandRows;
}

namespace {

/// Where `command` is among `rows`; their number when it is not.
std::size_t place_among(std::span<const Command> rows, const Command& command) {
  const std::less<> before;  // of pointers that may be into different arrays
  if (before(&command, rows.data()) || !before(&command, rows.data() + rows.size())) {
    return rows.size();
  }
  return static_cast<std::size_t>(&command - rows.data());
}

}  // namespace

// Rows first, so that those of most requests are found at once; then the subcommands of each.

std::size_t number_of(const Command& command) {
  std::size_t number = place_among(kRows, command);
  if (number < std::size(kRows)) return number;
  for (const Command& row : kRows) {
    const auto rows = subcommands_of(row);
    const std::size_t place = place_among(rows, command);
    number += place;
    if (place < rows.size()) return number;
  }
  KW_CHECK_MSG(false, "number_of", "a command that is not of the table");
}

std::size_t command_numbers() {
  std::size_t numbers = std::size(kRows);
  for (const Command& row : kRows) numbers += subcommands_of(row).size();
  return numbers;
}

const Command& command_of(std::size_t number) {
  if (number < std::size(kRows)) return kRows[number];
  number -= std::size(kRows);
  for (const Command& row : kRows) {
    const auto rows = subcommands_of(row);
    if (number < rows.size()) return rows[number];
    number -= rows.size();
  }
  KW_CHECK_MSG(false, "command_of", "no command has this number");
}

const Command* find_subcommand(const Command& command, std::string_view name) {
  for (const Command& row : subcommands_of(command)) {
    if (is_word(name, row.name.substr(command.name.size() + 1))) return &row;
  }
  return nullptr;
}

const Command* find_full_command(std::string_view name) {
  const std::size_t bar = name.find('|');
  const Command* command = find_command(name.substr(0, bar));
  if (command == nullptr || bar == std::string_view::npos) return command;
  return find_subcommand(*command, name.substr(bar + 1));
}

}  // namespace keyway::server
