#include "check.h"

#include <fmt/format.h>

namespace keyway::lockbench {
namespace {

/// Lock by lock, so that what one lock lost another cannot make up for.
std::string wrong_words(const std::vector<AgentResult>& agents,
                        const std::vector<LockWords>& words) {
  for (std::size_t k = 0; k < words.size(); ++k) {
    LockUse use;
    for (const AgentResult& agent : agents) {
      use.exclusive += agent.use[k].exclusive;
      use.increments += agent.use[k].increments;
    }
    if (words[k].counter != use.increments) {
      return fmt::format(
          "lock {}: {} exclusive increments left its counter at {}: updates were "
          "lost, so two were inside at once",
          k, use.increments, words[k].counter);
    }
    if (words[k].token != use.exclusive) {
      return fmt::format("lock {}: {} exclusive grants left its fencing token at {}", k,
                         use.exclusive, words[k].token);
    }
  }
  return {};
}

}  // namespace

Check check_run(const std::vector<AgentResult>& agents, const std::vector<LockWords>& words) {
  Check check;
  for (const AgentResult& agent : agents) {
    check.torn += agent.torn;
    check.overlap += agent.overlap;
    for (const LockUse& use : agent.use) {
      check.exclusive += use.exclusive;
      check.increments += use.increments;
    }
  }
  for (const LockWords& lock : words) {
    check.counter += lock.counter;
    check.token += lock.token;
  }
  if (check.overlap != 0) {
    check.failure =
        fmt::format("{} times somebody was let in while another was inside", check.overlap);
  } else if (check.torn != 0) {
    check.failure = fmt::format("{} times a reader saw a writer's half-done work", check.torn);
  } else {
    check.failure = wrong_words(agents, words);
  }
  for (const AgentResult& agent : agents) {
    if (check.failure.empty() && !agent.trouble.empty()) check.failure = agent.trouble;
  }
  return check;
}

}  // namespace keyway::lockbench
