// Writes the arguments and summaries of all commands as the entries of kvctl's catalogue, in C++
// (tools/kvctl/shell/catalogue.h).
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "keyway/locks/base/words.h"
#include "keyway/server/commands/engine/table.h"

using namespace keyway;
using namespace keyway::server;

int main() {
  std::vector<const Command*> rows;
  for (const Command& command : all_commands()) {
    rows.push_back(&command);
    for (const Command& sub : command.subcommands) rows.push_back(&sub);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Command* a, const Command* b) { return a->group < b->group; });
  for (const Command* row : rows) {
    if (row->summary.empty()) continue;
    std::string name = in_capitals(row->name);
    std::replace(name.begin(), name.end(), '|', ' ');
    fmt::print("{{R\"({})\", R\"({})\", R\"({})\", R\"({})\"}},\n", name, row->arguments,
               name_of(row->group), row->summary);
  }
}
