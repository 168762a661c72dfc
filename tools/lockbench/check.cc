#include "check.h"

#include <fmt/core.h>

#include <algorithm>

namespace keyway::lockbench {
namespace {

/// Lock by lock, so that what one lock lost another cannot make up for.
std::string wrong_counters(const std::vector<AgentResult>& agents,
                           const std::vector<std::uint64_t>& counters) {
  for (std::size_t k = 0; k < counters.size(); ++k) {
    std::uint64_t increments = 0;
    for (const AgentResult& agent : agents) increments += agent.use[k].increments;
    if (counters[k] != increments) {
      return fmt::format(
          "lock {}: {} exclusive increments left its counter at {}: updates were "
          "lost, so two were inside at once",
          k, increments, counters[k]);
    }
  }
  return {};
}

std::string wrong_volume(const Check& check, const std::vector<AgentResult>& agents,
                         std::vector<std::uint64_t> volume) {
  if (check.missed != 0) {
    return fmt::format("{} reads did not find an integer that is in the volume", check.missed);
  }
  std::vector<std::uint64_t> expected;
  for (std::uint32_t agent = 0; agent < agents.size(); ++agent) {
    for (std::uint64_t i = 0; i < agents[agent].inserted; ++i) {
      expected.push_back(volume_key(agent, i));
    }
  }
  std::sort(expected.begin(), expected.end());
  std::sort(volume.begin(), volume.end());
  if (volume == expected) return {};
  return fmt::format(
      "{} integers were inserted and {} are in the volume, or others than these: inserts were lost",
      expected.size(), volume.size());
}

}  // namespace

Check check_run(const std::vector<AgentResult>& agents, const std::vector<std::uint64_t>& counters,
                std::vector<std::uint64_t> volume) {
  Check check;
  check.found = volume.size();
  for (const AgentResult& agent : agents) {
    check.torn += agent.torn;
    check.overlap += agent.overlap;
    check.inserted += agent.inserted;
    check.missed += agent.missed;
    for (const LockUse& use : agent.use) {
      check.exclusive += use.exclusive;
      check.increments += use.increments;
    }
  }
  for (const std::uint64_t counter : counters) check.counter += counter;
  if (check.overlap != 0) {
    check.failure =
        fmt::format("{} times an agent was granted while another was inside", check.overlap);
  } else if (check.torn != 0) {
    check.failure = fmt::format("{} times a reader saw a writer's unfinished work", check.torn);
  } else {
    check.failure = wrong_counters(agents, counters);
  }
  if (check.failure.empty()) check.failure = wrong_volume(check, agents, std::move(volume));
  for (const AgentResult& agent : agents) {
    if (check.failure.empty() && !agent.trouble.empty()) check.failure = agent.trouble;
  }
  return check;
}

}  // namespace keyway::lockbench
