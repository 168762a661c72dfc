#include "shell/builtins.h"

namespace keyway::kvctl {
namespace {

constexpr Builtin kBuiltins[] = {
    {"HELP", "[command | @group]", "Says how a command is called, or what a group has."},
    {"CONNECT", "host port", "Talks to another server."},
    {"CLUSTER", "", "Without a subcommand: the ranks, their keys, memory and load, as a table."},
    {"LOCKS", "[count]", "The locks of the store's stripes, the most contended first."},
    {"CLEAR", "", "Empties the screen."},
    {"EXIT", "", "Ends the shell; so do QUIT and Ctrl-D."},
    {"QUIT", "", "Ends the shell."},
};

}  // namespace

std::span<const Builtin> builtins() { return kBuiltins; }

}  // namespace keyway::kvctl
