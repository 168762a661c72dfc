// Command: a row of the table of commands.
//
// *What.* One row says all that is known of a command without running it, as COMMAND INFO tells it
// to clients that route by keys.
// *Thread safety.* The table is constant.
// *Source.* Redis 7.0.15, src/commands/*.json; flags and categories in the order of its replies.
#pragma once

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
inline constexpr std::uint32_t kNoAuth = 1 << 7;  // runs before the client has said who it is
inline constexpr std::uint32_t kAllowBusy = 1 << 8;
inline constexpr std::uint32_t kDangerous = 1 << 9;   // a category only
inline constexpr std::uint32_t kContainer = 1 << 10;  // of subcommands; not shown
inline constexpr std::uint32_t kSkipSlowLog = 1 << 11;
inline constexpr std::uint32_t kNoMulti = 1 << 12;   // refused after MULTI
inline constexpr std::uint32_t kUnqueued = 1 << 13;  // runs at once after MULTI, too; not shown
inline constexpr std::uint32_t kAside = 1 << 14;     // does not look at the store; not shown
inline constexpr std::uint32_t kAdmin = 1 << 15;
inline constexpr std::uint32_t kNoAsyncLoading = 1 << 16;
inline constexpr std::uint32_t kBlocking = 1 << 17;  // may be parked (execute.h)

enum class Group : std::uint8_t { kConnection, kServer, kKeyspace, kString, kBitmap, kTransaction };

/// Where a command's keys are among its words. A negative last counts from the end: -1 is the last
/// word. first is 0 when there are none.
struct KeyWords {
  int first = 0;
  int last = 0;
  int step = 0;
};

struct Command {
  std::string_view name;  // lower case; of a subcommand "client|id"
  int arity = 0;          // words, its name included; negative: at least
  Group group = Group::kServer;
  std::uint32_t flags = 0;
  KeyWords keys;
  // What is done to the keys: words of COMMAND INFO's key specification; where a ';' parts them,
  // the first part is about the first key.
  std::string_view access;
  std::string_view tips;  // words
  void (*run)(const Call& call) = nullptr;
  std::string_view note = {};  // on the keys
};

/// The rows of the table, in the order of their groups.
std::span<const Command> all_commands();
/// The command of this name in any case; null when there is none.
const Command* find_command(std::string_view name);
/// The rows "client|..." of "client".
std::span<const Command> subcommands_of(const Command& command);
/// The subcommand of this name, which is without the command's; null when there is none.
const Command* find_subcommand(const Command& command, std::string_view name);

/// Of Command::access: the words lead to a rank as keys do, and name nothing in the store.
inline constexpr std::string_view kNotKey = "not_key";
constexpr bool has_keys(const Command& command) {
  return command.keys.first != 0 && command.access != kNotKey;
}

/// The keys among a request's words, which have been counted: shows each of them, until show()
/// returns false.
template <class Show>
void for_each_key(const Command& command, std::span<const std::string_view> words, Show&& show) {
  if (!has_keys(command)) return;
  const auto [first, last, step] = command.keys;
  const auto count = static_cast<int>(words.size());
  const int end = last < 0 ? count + last : last;
  for (int i = first; i <= end && i < count; i += step) {
    if (!show(words[static_cast<std::size_t>(i)])) return;
  }
}

/// The row of "get", or of "client|id"; null when there is none.
const Command* find_full_command(std::string_view name);

/// A row's own number, below command_numbers().
std::size_t number_of(const Command& command);
const Command& command_of(std::size_t number);

/// Whether so many words are enough, and not too many.
constexpr bool fits_arity(const Command& command, std::size_t words) {
  const auto count = static_cast<std::int64_t>(words);
  return command.arity >= 0 ? count == command.arity : count >= -command.arity;
}

}  // namespace keyway::server
