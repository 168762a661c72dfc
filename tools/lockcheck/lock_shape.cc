#include "keyway/tools/lockcheck/lock_shape.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace keyway::lockcheck {

std::string_view name_of(Manner manner) {
  switch (manner) {
    case Manner::kWait: return "wait";
    case Manner::kTimed: return "timed";
    case Manner::kTry: return "try";
  }
  return "?";
}

std::string flags_of(const LockShape& shape) {
  std::string text = " --agents ";
  if (shape.readers != 0) text += fmt::format("{}r", shape.readers);
  if (shape.alls != 0) text += fmt::format("{}a", shape.alls);
  if (shape.writers != 0) text += fmt::format("{}w", shape.writers);
  text += shape.forever ? " --rounds forever" : fmt::format(" --rounds {}", shape.rounds);
  text += fmt::format(" --ranks {}", shape.ranks);
  if (!shape.homes.empty()) text += fmt::format(" --homes {}", fmt::join(shape.homes, ","));
  if (!shape.topology.empty()) text += " --topology " + shape.topology;
  if (shape.nodes != LockShape().nodes) text += fmt::format(" --nodes {}", shape.nodes);
  if (!shape.manners.empty()) {
    std::vector<std::string_view> names;
    for (const Manner manner : shape.manners) names.push_back(name_of(manner));
    text += fmt::format(" --manners {}", fmt::join(names, ","));
  } else if (shape.manner != Manner::kWait) {
    text += shape.manner == Manner::kTimed ? " --timed" : " --try";
  }
  if (shape.ask_token) text += " --ask-token";
  return text;
}

std::vector<fabric::AgentId> ids_of(const LockShape& shape) {
  std::vector<fabric::AgentId> ids;
  std::vector<std::uint32_t> slots(shape.ranks, 0);
  for (std::uint32_t i = 0; i < shape.agents(); ++i) {
    const std::uint32_t home = shape.homes.empty() ? i % shape.ranks : shape.homes[i];
    ids.push_back({home, slots[home]++});
  }
  return ids;
}

}  // namespace keyway::lockcheck
