// How the explorer makes random schedules by a seed.
#include <algorithm>
#include <map>
#include <unordered_set>

#include "keyway/locks/fabric/sim/explorer.h"
#include "keyway/locks/fabric/sim/explorer_hash.h"

namespace keyway::fabric::sim {

struct Explorer::RandomChoice {
  virtual ~RandomChoice() = default;
  /// Before execution `number`; `length` steps is the longest one so far, 0 before the first.
  virtual void begin(std::uint64_t number, std::uint64_t length) = 0;
  /// The place in `actions` of the next step.
  virtual std::size_t pick(const Execution& execution, const std::vector<Action>& actions) = 0;
};

ExploreReport Explorer::run_random(std::uint64_t executions, RandomChoice& choice) {
  ExploreReport report;
  const std::uint64_t before = execution_.steps();
  std::unordered_set<std::uint64_t> met;
  std::vector<Action> actions;
  while (report.executions < executions && !report.violation) {
    choice.begin(report.executions++, report.longest);
    Schedule path;
    execution_.start();
    while (execution_.next(actions), !actions.empty() && path.size() < options_.most_steps) {
      if (met.size() < options_.most_counted) met.insert(execution_.key());
      const std::size_t taken = choice.pick(execution_, actions);
      path.push_back({actions[taken], static_cast<std::uint16_t>(taken)});
      execution_.step(actions[taken]);
    }
    report.cut += actions.empty() ? 0 : 1;
    report.longest = std::max<std::uint64_t>(report.longest, path.size());
    const bool wrong = execution_.wrong().has_value();
    execution_.abandon();
    if (wrong) report.violation = explained(schedule_of(path));
  }
  report.states = met.size();
  report.steps = execution_.steps() - before;
  return report;
}

ExploreReport Explorer::random(std::uint64_t seed, std::uint64_t executions) {
  struct Evenly final : RandomChoice {
    explicit Evenly(std::uint64_t seed) : seed_(seed) {}
    void begin(std::uint64_t number, std::uint64_t) override { rng_ = Rng(mixed(seed_, number)); }
    std::size_t pick(const Execution&, const std::vector<Action>& actions) override {
      return rng_.below(actions.size());
    }
    std::uint64_t seed_;
    Rng rng_{0};
  };
  Evenly evenly(seed);
  return run_random(executions, evenly);
}

ExploreReport Explorer::pct(std::uint64_t seed, std::uint64_t executions, std::uint32_t depth) {
  struct ByPriority final : RandomChoice {
    ByPriority(std::uint64_t seed, std::uint32_t depth) : seed_(seed), depth_(depth) {}

    void begin(std::uint64_t number, std::uint64_t length) override {
      rng_ = Rng(mixed(seed_, number));
      priorities_.clear();
      changes_.clear();
      step_ = 0;
      // The first execution only measures.
      for (std::uint32_t i = 1; i < depth_ && length != 0; ++i) changes_[rng_.below(length)] = i;
    }
    std::size_t pick(const Execution& execution, const std::vector<Action>& actions) override {
      const auto change = changes_.find(step_++);
      std::size_t taken = highest(execution, actions);
      if (change != changes_.end()) {
        priorities_[execution.thread(actions[taken])] = change->second;  // below all random ones
        taken = highest(execution, actions);
      }
      return taken;
    }
    std::size_t highest(const Execution& execution, const std::vector<Action>& actions) {
      std::size_t best = 0;
      std::uint64_t most = 0;
      for (std::size_t k = 0; k < actions.size(); ++k) {
        const auto [found, is_new] = priorities_.try_emplace(execution.thread(actions[k]));
        if (is_new) found->second = depth_ + (rng_() >> 1);
        if (found->second > most) {
          most = found->second;
          best = k;
        }
      }
      return best;
    }

    std::uint64_t seed_;
    std::uint32_t depth_;
    Rng rng_{0};
    std::map<std::uint64_t, std::uint64_t> priorities_;
    std::map<std::uint64_t, std::uint64_t> changes_;  // by step: the priority that it sets
    std::uint64_t step_ = 0;
  };
  ByPriority by_priority(seed, depth);
  return run_random(executions, by_priority);
}

}  // namespace keyway::fabric::sim
