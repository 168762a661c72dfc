#include "keyway/server/commands/engine/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "keyway/locks/base/words.h"
#include "keyway/server/command_files.h"

namespace keyway::server {
namespace {

/// "client" for "client|id", and for "client" itself.
std::string_view family_of(const Command& row) { return row.name.substr(0, row.name.find('|')); }

bool is_subcommand(const Command& row) { return family_of(row) != row.name; }

Status invalid_row(std::string_view name, std::string_view why) {
  return {Code::kInvalidArgument, fmt::format("command '{}': {}", name, why)};
}

}  // namespace

Table::Table(std::vector<Command> rows) : rows_(std::move(rows)) {
  const auto place = [](const Command& row) {
    return std::tuple(is_subcommand(row), family_of(row), row.name);
  };
  std::sort(rows_.begin(), rows_.end(),
            [&](const Command& a, const Command& b) { return place(a) < place(b); });
  commands_ = rows_.size() -
              static_cast<std::size_t>(std::count_if(rows_.begin(), rows_.end(), is_subcommand));
  for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].number = static_cast<std::uint16_t>(i);
}

Result<Table> Table::of(std::span<const CommandRows> files) {
  std::vector<Command> rows;
  for (const CommandRows file : files) {
    for (const Command& row : file) {
      const std::string_view defect = defect_of(row);
      if (!defect.empty()) return invalid_row(row.name, defect);
      rows.push_back(row);
    }
  }
  Table table(std::move(rows));
  for (std::size_t i = 1; i < table.rows_.size(); ++i) {
    const std::string_view name = table.rows_[i].name;
    if (name == table.rows_[i - 1].name) return invalid_row(name, "the name is defined twice");
  }
  if (Status status = table.give_subcommands(); !status.ok()) return status;
  if (Status status = table.add_to_index(); !status.ok()) return status;
  return table;
}

Status Table::give_subcommands() {
  const auto commands = std::span(rows_).first(commands_);
  for (std::size_t i = commands_; i < rows_.size(); ++i) {
    const std::string_view family = family_of(rows_[i]);
    const auto container =
        std::find_if(commands.begin(), commands.end(), [&](const Command& command) {
          return (command.flags & kContainer) != 0 && command.name == family;
        });
    if (container == commands.end())
      return invalid_row(rows_[i].name, "its container is not defined");
    const std::size_t before = container->subcommands.size();
    container->subcommands = CommandRows(rows_).subspan(i - before, before + 1);
  }
  for (const Command& command : commands) {
    if ((command.flags & kContainer) != 0 && command.subcommands.empty()) {
      return invalid_row(command.name, "a container needs subcommands");
    }
  }
  return {};
}

Status Table::add_to_index() {
  if (commands_ > kSlots / 2)
    return invalid_row(rows_[0].name, "the index is too small for the number of commands");
  for (const Command& row : commands()) {
    std::size_t slot = slot_of(row.name);
    while (index_[slot] != nullptr) slot = (slot + 1) % kSlots;
    index_[slot] = &row;
  }
  return {};
}

std::size_t Table::slot_of(std::string_view name) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<std::uint8_t>(lower(c))) * 16777619U;
  return (hash ^ (hash >> 16)) % kSlots;
}

const Command* Table::find(std::string_view name) const {
  if (name.size() > kMaxCommandName) return nullptr;  // without reading all of it
  for (std::size_t slot = slot_of(name); index_[slot] != nullptr; slot = (slot + 1) % kSlots) {
    if (is_word(name, index_[slot]->name)) return index_[slot];
  }
  return nullptr;
}

namespace {

// Rows are constant-initialized, so the order of static initializers does not matter.
const Table kTable = [] {
  std::vector<CommandRows> files;
  for (const auto rows_of_file : kCommandFiles) files.push_back(rows_of_file());
  return Table::of(files).value();
}();

}  // namespace

CommandRows all_commands() { return kTable.commands(); }

const Command* find_command(std::string_view name) { return kTable.find(name); }

const Command* find_subcommand(const Command& command, std::string_view name) {
  for (const Command& row : command.subcommands) {
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

std::size_t command_numbers() { return kTable.rows().size(); }

const Command& command_of(std::size_t number) {
  KW_CHECK(number < command_numbers());
  return kTable.rows()[number];
}

}  // namespace keyway::server
