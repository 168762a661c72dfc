#include "result.h"

#include <algorithm>

namespace keyway::lockbench {
namespace {

std::vector<std::string> level_names(const Topology& topology) {
  std::vector<std::string> names;
  for (std::uint32_t i = 1; i <= topology.levels(); ++i) names.push_back(topology.level(i).name);
  names.emplace_back("self");
  return names;
}

void measure_fairness(RunResult& result, const std::vector<AgentResult>& agents) {
  if (result.plan.options.sample == 0) return;
  std::uint64_t window = kEndOfOrder;
  std::uint64_t recorded = kEndOfOrder;  // beyond it accesses are missing
  for (const AgentResult& agent : agents) {
    if (agent.exclusive + agent.shared == 0) continue;  // took no part
    window = std::min(window, agent.end_order);
    if (agent.accesses.size() >= AgentResult::kMaxAccesses) {
      recorded = std::min(recorded, agent.end_order);
    }
  }
  std::vector<std::uint64_t> shares;
  std::vector<std::vector<Access>> accesses;
  for (const AgentResult& agent : agents) {
    if (agent.exclusive + agent.shared == 0) continue;
    shares.push_back(granted_until(agent.accesses, window));
    accesses.push_back(agent.accesses);
  }
  result.jain = jain_index(shares);
  if (result.plan.options.sample == 1) {
    result.bypass = longest_bypass(accesses, result.plan.locks, recorded);
  }
}

}  // namespace

RunResult combine(const Plan& plan, const Topology& topology, Team team,
                  const std::vector<std::uint64_t>& counters, std::vector<std::uint64_t> volume,
                  Clocks clocks) {
  RunResult result{.plan = plan, .topology = topology.describe(), .levels = level_names(topology)};
  std::uint64_t begin = kEndOfOrder;
  std::uint64_t end = 0;
  for (const AgentResult& agent : team.agents) {
    result.exclusive += agent.exclusive;
    result.shared += agent.shared;
    result.stats += agent.stats;
    if (agent.counts.levels() != 0) result.counts += agent.counts;
    begin = std::min(begin, agent.begin_ns);
    end = std::max(end, agent.end_ns);
  }
  result.check = check_run(team.agents, counters, std::move(volume));
  if (clocks == Clocks::kShared) {
    if (end > begin) result.seconds = static_cast<double>(end - begin) / 1e9;
    measure_fairness(result, team.agents);
  }
  result.latencies = std::move(team.latencies);
  return result;
}

}  // namespace keyway::lockbench
