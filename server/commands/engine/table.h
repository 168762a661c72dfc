// Table: the commands of all files, by name and by number.
//
// *What.* The table holds the rows of all files of handlers (command.h), sorted by name, with the
// subcommands of a container next to each other. It is built before main(). If the rows do not fit
// together, the program ends with a message that names the command.
// *Thread safety.* Constant after it is built. Static initializers must not use it.
// *Invariants.*
//   D2  Names are unique, each subcommand has its container, and each container has subcommands.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "keyway/locks/base/status.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {

class Table {
 public:
  /// The table of all these rows, or kInvalidArgument with the reason (D1, D2).
  static Result<Table> of(std::span<const CommandRows> files);
  Table(Table&&) = default;
  Table& operator=(Table&&) = default;

  /// The command of this name in any case; null when there is none.
  [[gnu::hot]] const Command* find(std::string_view name) const;
  /// All rows that are not subcommands.
  CommandRows commands() const { return CommandRows(rows_).first(commands_); }
  /// Commands, then subcommands: the index is the number.
  CommandRows rows() const { return rows_; }

 private:
  explicit Table(std::vector<Command> rows);

  static constexpr std::size_t kSlots = 256;  // at least twice the number of commands
  [[gnu::hot]] static std::size_t slot_of(std::string_view name);
  Status give_subcommands();
  Status add_to_index();

  std::vector<Command> rows_;  // commands, then subcommands
  std::size_t commands_ = 0;
  std::array<const Command*, kSlots> index_ = {};  // the commands: open addressing
};

// The table of all commands of the server:

CommandRows all_commands();
const Command* find_command(std::string_view name);
/// The subcommand of this name, which is without the command's; null when there is none.
const Command* find_subcommand(const Command& command, std::string_view name);
/// The row of "get", or of "client|id"; null when there is none.
const Command* find_full_command(std::string_view name);
/// The row of a number below command_numbers().
const Command& command_of(std::size_t number);

}  // namespace keyway::server
