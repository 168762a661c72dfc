// Command: one row with all that is known of a command, beside its handler.
//
// *What.* A file of handlers ends with a function commands_of_FOLDER_FILE(), which returns the rows
// of its commands: how a command is called, what COMMAND INFO reports to clients that route by
// keys, the help of COMMAND DOCS and kvctl, and which function runs it. CMakeLists.txt lists the
// file. The engine has no other list of commands, and handles special cases by flags of the row.
// *Thread safety.* Rows are constant.
// *Invariants.*
//   D1  A row has a handler or subcommands, and a summary. The compiler refuses a file with a row
//       that breaks this: checked().
// *Source.* Redis 7.0.15, src/commands/*.json; flags and categories in the order of its replies.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "keyway/server/commands/engine/call.h"

namespace keyway::server {

// Bits of Command::flags.
inline constexpr std::uint32_t kWrite = 1 << 0;
inline constexpr std::uint32_t kReadOnly = 1 << 1;
inline constexpr std::uint32_t kDenyOom = 1 << 2;
inline constexpr std::uint32_t kNoScript = 1 << 3;
inline constexpr std::uint32_t kLoading = 1 << 4;
inline constexpr std::uint32_t kStale = 1 << 5;
inline constexpr std::uint32_t kFast = 1 << 6;
inline constexpr std::uint32_t kNoAuth = 1 << 7;  // runs before the client has logged in
inline constexpr std::uint32_t kAllowBusy = 1 << 8;
inline constexpr std::uint32_t kDangerous = 1 << 9;  // a category only
inline constexpr std::uint32_t kSkipSlowLog = 1 << 10;
inline constexpr std::uint32_t kNoMulti = 1 << 11;  // refused after MULTI
inline constexpr std::uint32_t kAdmin = 1 << 12;
inline constexpr std::uint32_t kNoAsyncLoading = 1 << 13;
inline constexpr std::uint32_t kBlocking = 1 << 14;  // may be parked (execute.h)
// Not shown to clients:
inline constexpr std::uint32_t kContainer = 1 << 15;   // has subcommands
inline constexpr std::uint32_t kUnqueued = 1 << 16;    // runs at once after MULTI, too
inline constexpr std::uint32_t kRunsQueue = 1 << 17;   // runs what was queued: EXEC
inline constexpr std::uint32_t kWholeStore = 1 << 18;  // uses keys that its words do not name
inline constexpr std::uint32_t kShowsOld = 1 << 19;    // writes, and its reply has the old value

// Flags that many commands share: those about a connection, and those for operators.
inline constexpr std::uint32_t kOfClient = kNoScript | kLoading | kStale;
inline constexpr std::uint32_t kOfServer = kAdmin | kLoading | kStale;
inline constexpr std::uint32_t kOfConfig = kOfServer | kNoScript;

/// In the order in which kvctl lists them.
enum class Group : std::uint8_t {
  kString,
  kBitmap,
  kGeneric,
  kTransactions,
  kLocks,
  kConnection,
  kServer,
  kCluster
};

/// The name in COMMAND DOCS and in kvctl's help.
constexpr std::string_view name_of(Group group) {
  constexpr std::string_view kNames[] = {"string", "bitmap",     "generic", "transactions",
                                         "locks",  "connection", "server",  "cluster"};
  return kNames[static_cast<std::size_t>(group)];
}

/// The ACL category that no flag implies: for most commands that of the group.
enum class Category : std::uint8_t { kOfGroup, kKeyspace, kConnection };

/// The places of a command's keys among its words. A negative last counts from the end: -1 is the
/// last word. first is 0 if there are none.
struct Keys {
  int first = 0;
  int last = 0;
  int step = 0;
  // The access to the keys: words of COMMAND INFO's key specification; if a ';' separates them, the
  // first part is about the first key.
  std::string_view access;
  std::string_view note = {};
};

struct Command {
  std::string_view name;  // lower case; of a subcommand "client|id"
  int arity = 0;          // words, its name included; negative: at least
  Group group = Group::kServer;
  Category category = Category::kOfGroup;
  std::uint16_t number = 0;  // below command_numbers(); the table sets it
  std::uint32_t flags = 0;
  void (*run)(const Call& call) = nullptr;  // a container may have none
  Keys keys = {};
  std::string_view tips = {};  // for clients of a cluster, separated by blanks

  // For people. client/catalogue/syntax.h defines how arguments are written.
  std::string_view arguments = {};
  std::string_view summary = {};  // a sentence; empty for containers and HELP

  /// Hides passwords among the words of a request from SLOWLOG. Null: there are none.
  void (*hide_secrets)(std::span<std::string_view> words) = nullptr;
  /// Keys::access of one request, if it depends on the words. Null: it does not.
  std::string_view (*access_by)(std::span<const std::string_view> words) = nullptr;

  std::span<const Command> subcommands = {};  // the table sets them
};

using CommandRows = std::span<const Command>;

inline constexpr std::size_t kMaxCommandName = 32;  // bytes

/// D1: the defect of a row by itself, or nothing.
constexpr std::string_view defect_of(const Command& row) {
  const bool is_container = (row.flags & kContainer) != 0;
  const bool is_sub = row.name.find('|') != std::string_view::npos;
  if (row.name.empty() || row.name.size() > kMaxCommandName) return "a name needs 1 to 32 bytes";
  for (const char c : row.name) {
    if (c >= 'A' && c <= 'Z') return "a name is written in lower case";
  }
  if (row.arity == 0) return "an arity counts the name, too";
  if (row.run == nullptr && !is_container)
    return "a command that is not a container needs a handler";
  if (is_container && is_sub) return "a subcommand has no subcommands";
  if ((row.keys.first == 0) != row.keys.access.empty())
    return "keys need an access, and an access needs keys";
  if (row.keys.first != 0 && (row.flags & kWholeStore) != 0)
    return "a command that names its keys does not use the whole store";
  const bool needs_none = is_container || row.name.ends_with("|help");
  if (row.summary.empty() != needs_none)
    return "a command needs a summary; containers and HELP have none";
  if (!row.summary.empty() && !row.summary.ends_with('.')) return "a summary ends with a full stop";
  return {};
}

/// The rows of a file. A row with a defect does not compile.
template <std::size_t N>
consteval std::array<Command, N> checked(const Command (&rows)[N]) {
  for (const Command& row : rows) {
    if (const std::string_view defect = defect_of(row); !defect.empty()) throw defect;
  }
  return std::to_array(rows);
}

/// A value of Keys::access: the words lead to a rank as keys do, and name nothing in the store.
inline constexpr std::string_view kNotKey = "not_key";
constexpr bool has_keys(const Command& command) {
  return command.keys.first != 0 && command.keys.access != kNotKey;
}

/// The keys among a request's words, which have been counted: shows each of them, until show()
/// returns false.
template <class Show>
void for_each_key(const Command& command, std::span<const std::string_view> words, Show&& show) {
  if (!has_keys(command)) return;
  const Keys& keys = command.keys;
  const auto count = static_cast<int>(words.size());
  const int end = keys.last < 0 ? count + keys.last : keys.last;
  for (int i = keys.first; i <= end && i < count; i += keys.step) {
    if (!show(words[static_cast<std::size_t>(i)])) return;
  }
}

/// Whether the command accepts this many words.
constexpr bool fits_arity(const Command& command, std::size_t words) {
  const auto count = static_cast<std::int64_t>(words);
  return command.arity >= 0 ? count == command.arity : count >= -command.arity;
}

}  // namespace keyway::server
