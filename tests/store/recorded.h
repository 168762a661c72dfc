// One recorded run of a team, of this process or of a simulation: the history of all its agents.
#pragma once

#include <catch2/catch.hpp>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "record.h"
#include "team.h"

namespace keyway::test {

struct Recorded {
  History history;
  std::string failure;  // the first thing that an agent found broken, or nothing
};

/// open(agent) gives the agent's session, or a pointer that owns it.
template <class C, class Open>
Recorded record_with(const C& team, const RecordPlan& plan, Open&& open) {
  auto barrier = team.barrier();
  std::vector<History> histories(team.agents());
  team.run([&](std::uint32_t me) {
    auto opened = open(me);
    const auto run_session = [&](auto& session) {
      Recorder<std::remove_reference_t<decltype(session)>> recorder(session, me, plan);
      for (std::uint32_t round = 0; round < plan.rounds && barrier.arrive_and_wait(me); ++round) {
        if (auto wrong = recorder.round(round, [&] { return barrier.now(); })) barrier.fail(*wrong);
      }
      histories[me] = recorder.history();
    };
    if constexpr (requires { *opened; }) {
      run_session(*opened);
    } else {
      run_session(opened);
    }
  });
  Recorded all{.failure = barrier.failure()};
  for (const History& history : histories) {
    all.history.insert(all.history.end(), history.begin(), history.end());
  }
  return all;
}

/// Fails the test when an agent found something broken.
template <class C, class Open>
History recorded(const C& team, const RecordPlan& plan, Open&& open) {
  Recorded all = record_with(team, plan, open);
  REQUIRE(all.failure == "");
  return std::move(all.history);
}

}  // namespace keyway::test
