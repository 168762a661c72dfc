#include "fairness.h"

#include <algorithm>

namespace keyway::lockbench {

double jain_index(std::span<const std::uint64_t> shares) {
  double sum = 0;
  double squares = 0;
  for (const std::uint64_t share : shares) {
    const auto x = static_cast<double>(share);
    sum += x;
    squares += x * x;
  }
  return squares == 0 ? 1 : sum * sum / (static_cast<double>(shares.size()) * squares);
}

std::uint64_t granted_until(std::span<const Access> accesses, std::uint64_t until) {
  return static_cast<std::uint64_t>(std::count_if(
      accesses.begin(), accesses.end(), [&](const Access& a) { return a.grant <= until; }));
}

std::uint64_t longest_bypass(const std::vector<std::vector<Access>>& by_agent, std::uint32_t locks,
                             std::uint64_t until) {
  std::vector<std::vector<std::uint64_t>> grants(locks);
  for (const auto& accesses : by_agent) {
    for (const Access& access : accesses) {
      if (access.exclusive && access.grant <= until) grants[access.lock].push_back(access.grant);
    }
  }
  for (auto& order : grants) std::sort(order.begin(), order.end());
  std::uint64_t longest = 0;
  for (const auto& accesses : by_agent) {
    for (const Access& access : accesses) {
      const auto& order = grants[access.lock];
      const auto after = std::upper_bound(order.begin(), order.end(), access.request);
      // One past `until`, so that a grant at that very moment counts.
      const std::uint64_t end = access.grant <= until ? access.grant : until + 1;
      const auto before = std::lower_bound(after, order.end(), end);
      longest = std::max(longest, static_cast<std::uint64_t>(before - after));
    }
  }
  return longest;
}

}  // namespace keyway::lockbench
