// How the explorer goes through one schedule, and what it finds there.
#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "keyway/locks/base/check.h"
#include "keyway/locks/fabric/sim/explorer.h"
#include "keyway/locks/fabric/sim/explorer_fairness.h"

namespace keyway::fabric::sim {
namespace {

constexpr std::string_view kDigits =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// Before a digit: as many more as there are digits.
constexpr char kAllDigits = '~';

}  // namespace

// The findings of one schedule so far.
struct Explorer::Replayed {
  explicit Replayed(std::uint32_t agents) : entries(agents), passed(agents), worst(agents) {}

  std::vector<Action> actions;
  Moment moment;
  std::vector<std::uint64_t> entries;  // by each agent, since the loop began
  std::vector<std::uint64_t> passed;   // times that others entered past it since its doorway
  std::vector<std::uint64_t> worst;
  // The loop, once it has begun.
  bool looping = false;
  std::uint64_t key = 0;
  std::uint64_t wanting = 0;  // agents that wanted in throughout
  std::uint64_t always_go = 0, always_fly = 0, gone = 0, flown = 0;

  void begin_loop(std::uint64_t at) {
    looping = true;
    key = at;
    std::fill(entries.begin(), entries.end(), 0);
    wanting = (entries.size() < 64 ? 1ULL << entries.size() : 0) - 1;
    always_go = always_fly = ~0ULL;
    gone = flown = 0;
    stay();
  }
  void stay() {
    always_go &= moment.can_go;
    always_fly &= moment.in_flight;
    wanting &= moment.wanting();
  }
  void took(const Action& action, const Moment& after) {
    const std::uint64_t bit = 1ULL << action.agent;
    (action.kind == Action::Kind::kPosted ? flown : gone) |= bit;
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      const bool entered = (moment.entering(after) >> i & 1) != 0;
      entries[i] += entered ? 1 : 0;
      for (std::uint32_t other = 0; entered && other < entries.size(); ++other) {
        if (!moment.waits(other) || other == i) continue;
        worst[other] = std::max(worst[other], ++passed[other]);
      }
      if (!after.waits(i)) passed[i] = 0;
    }
    moment = after;
    if (looping) stay();
  }
  bool fair() const { return !(always_go & ~gone) && !(always_fly & ~flown); }
};

namespace {

std::string entries_text(const std::vector<std::uint64_t>& entries) {
  std::string text;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i] == 0) continue;
    text += fmt::format("{} agent {} enters {} time{}", text.empty() ? "" : ",", i, entries[i],
                        entries[i] == 1 ? "" : "s");
  }
  return text;
}

}  // namespace

/// At the end of the loop: its finding, if it is a loop.
void Explorer::close_loop(const std::string& schedule, Replayed& replayed) {
  if (execution_.key() != replayed.key) {
    execution_.set_wrong(fmt::format(
        "the schedule is of another program: its loop does not end where it began: {}", schedule));
    return;
  }
  std::string left_out;
  for (std::uint32_t i = 0; i < program_.agents(); ++i) {
    if (replayed.wanting >> i & 1) {
      left_out += fmt::format("{}agent {}", left_out.empty() ? "" : " and ", i);
    }
  }
  if (left_out.empty()) return;
  const std::string entries = entries_text(replayed.entries);
  if (replayed.fair() && entries.empty()) {
    execution_.set_wrong(fmt::format("livelock: {} waits for ever, and no agent enters", left_out));
  } else if (replayed.fair()) {
    execution_.set_wrong(fmt::format("starvation: {} waits for ever; in each round of the loop,{}",
                                     left_out, entries));
  } else {
    execution_.set_wrong(fmt::format(
        "bypass: no bound; while {} waits, in each round of the loop,{}", left_out, entries));
  }
}

void Explorer::replay_steps(const std::string& schedule, Replayed& replayed) {
  std::size_t at = 0;
  std::size_t more = 0;
  for (; at < schedule.size(); ++at) {
    const char c = schedule[at];
    execution_.next(replayed.actions);
    if (execution_.wrong()) return;
    if (c == '(') {
      replayed.begin_loop(execution_.key());
      continue;
    }
    if (c == ')' && replayed.looping) return close_loop(schedule, replayed);
    if (c == kAllDigits) {
      more += kDigits.size();
      continue;
    }
    const std::size_t digit = kDigits.find(c);
    const std::size_t taken = digit == kDigits.npos ? digit : digit + std::exchange(more, 0);
    if (taken >= replayed.actions.size()) {
      execution_.set_wrong(fmt::format(
          "the schedule is of another program: there is no choice '{}' at step {}", c, at));
      return;
    }
    execution_.step(replayed.actions[taken]);
    replayed.took(replayed.actions[taken], execution_.moment());
  }
  execution_.next(replayed.actions);
  const auto most = program_.promises().most_bypass;
  const auto worst = std::max_element(replayed.worst.begin(), replayed.worst.end());
  if (!execution_.wrong() && most && *worst > *most) {
    execution_.set_wrong(fmt::format("bypass: others enter {} times past agent {}, {} are allowed",
                                     *worst, worst - replayed.worst.begin(), *most));
  }
}

ExploreReport Explorer::replay(const std::string& schedule) {
  ExploreReport report;
  report.executions = 1;
  const std::uint64_t before = execution_.steps();
  std::vector<std::string> trace;
  Replayed replayed(program_.agents());
  execution_.start();
  execution_.trace_into(&trace);
  replayed.moment = execution_.moment();
  replay_steps(schedule, replayed);
  execution_.trace_into(nullptr);
  const auto wrong = execution_.wrong();
  execution_.abandon();
  report.steps = report.longest = execution_.steps() - before;
  report.states = report.steps + 1;
  if (!wrong) return report;
  Finding finding{*wrong, schedule, std::move(trace)};
  const Promises promises = program_.promises();
  const bool promised =
      promises.starvation_freedom && replayed.wanting >> promises.promised_from != 0;
  if ((wrong->starts_with("livelock") && !promises.progress) ||
      (wrong->starts_with("starvation") && !promised) ||
      (wrong->starts_with("bypass: no bound") && !promises.most_bypass)) {
    Waiting& waiting = report.waiting.emplace();
    waiting.unbounded = finding;  // in addition to its other findings
    if (wrong->starts_with("livelock")) waiting.livelock = finding;
    if (wrong->starts_with("starvation")) waiting.starvation = finding;
  } else {
    report.violation = std::move(finding);
  }
  return report;
}

std::string Explorer::schedule_of(const Schedule& path) const {
  std::string schedule;
  for (const Choice& choice : path) {
    schedule.append(choice.taken / kDigits.size(), kAllDigits);
    schedule += kDigits[choice.taken % kDigits.size()];
  }
  return schedule;
}

/// A schedule that has shown something, once more for its trace.
Finding Explorer::explained(const std::string& schedule) {
  ExploreReport once_more = replay(schedule);
  if (once_more.violation) return std::move(*once_more.violation);
  KW_CHECK_MSG(once_more.waiting, "a replay", "it does not show what the search found");
  return std::move(*once_more.waiting->unbounded);
}

Finding Explorer::explained(const Lasso& lasso) {
  return explained(schedule_of(lasso.stem) + "(" + schedule_of(lasso.loop) + ")");
}

}  // namespace keyway::fabric::sim
