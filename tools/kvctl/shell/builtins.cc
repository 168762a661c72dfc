#include "shell/builtins.h"

namespace keyway::kvctl {
namespace {

constexpr Builtin kBuiltins[] = {
    {"HELP", "[command | @group]", "Shows the syntax of a command, or the commands of a group."},
    {"CONNECT", "host port", "Connects to another server."},
    {"CLUSTER", "",
     "Shows a table of the ranks with their keys, memory and load (without a subcommand)."},
    {"LOCKS", "[count]", "Shows the locks of the store's stripes, the most contended first."},
    {"CLEAR", "", "Empties the screen."},
    {"EXIT", "", "Exits the shell, as QUIT and Ctrl-D do."},
    {"QUIT", "", "Exits the shell."},
};

}  // namespace

std::span<const Builtin> builtins() { return kBuiltins; }

}  // namespace keyway::kvctl
