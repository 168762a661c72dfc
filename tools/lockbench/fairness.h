// Fairness: Jain's index over agents, and the longest bypass, from recorded accesses.
//
// *What.* An access has two stamps of one order that all agents share: its request and its grant.
// The order is the simulator's own, or the host's clock.
// *Thread safety.* Free functions without state.
// *Source.* Jain, Chiu, Hawe, DEC-TR-301 (1984), for the index. Bypass: ours, after the "bounded
// bypass" of mutual exclusion (Peterson and Fischer, 1977).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace keyway::lockbench {

inline constexpr std::uint64_t kEndOfOrder = std::numeric_limits<std::uint64_t>::max();

struct Access {
  std::uint64_t request = 0;
  std::uint64_t grant = 0;
  std::uint32_t lock = 0;
  bool exclusive = true;
};

/// (sum x)^2 / (n sum x^2): 1 if all shares are equal, 1/n if one has all; 1 if all are 0.
double jain_index(std::span<const std::uint64_t> shares);

/// How many of an agent's accesses were granted up to `until`.
std::uint64_t granted_until(std::span<const Access> accesses, std::uint64_t until);

/// The most exclusive grants of a lock to others between an agent's request of it and its grant,
/// or `until`, if that comes first. Accesses that are missing make it smaller, never larger.
std::uint64_t longest_bypass(const std::vector<std::vector<Access>>& by_agent, std::uint32_t locks,
                             std::uint64_t until = kEndOfOrder);

}  // namespace keyway::lockbench
