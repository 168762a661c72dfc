// The command line: defaults, words that parse to the same run again, plans.
#include "tools/lockbench/options.h"

#include <catch2/catch.hpp>

#include "tools/lockbench/plan.h"

using namespace keyway::lockbench;

namespace {

RunOptions run_of(const std::vector<std::string>& words) {
  const Parsed parsed = parse_words(words);
  INFO(parsed.error);
  REQUIRE(parsed.options);
  return parsed.options->run;
}

std::string refusal(const std::vector<std::string>& words) {
  const Parsed parsed = parse_words(words);
  CHECK(parsed.exit_code == kExitUsage);
  return parsed.error;
}

}  // namespace

TEST_CASE("options: the words of a run parse to the same run") {
  const std::vector<std::string> words = {"--lock=gbh:backoff_max_ns=20000,lockall=off",
                                          "--bench=wcsb",
                                          "--fabric=sim",
                                          "--machine=piz-daint",
                                          "--set=card.atomic_ns=50",
                                          "--set=card.read_ns=7",
                                          "--topology=nodes=4",
                                          "--ranks=64",
                                          "--threads=3",
                                          "--locks=20",
                                          "--home=5",
                                          "--stride=16",
                                          "--locality=0.85",
                                          "--draws=published",
                                          "--fw=0.002",
                                          "--roles=process",
                                          "--acquires=77",
                                          "--warmup=0.25",
                                          "--work-min-ns=5",
                                          "--work-max-ns=9",
                                          "--seed=11",
                                          "--sample=3",
                                          "--counts",
                                          "--check=every"};
  CHECK(words_of(run_of(words)) == words);
}

TEST_CASE("options: defaults are the papers'") {
  const RunOptions run = run_of({"--lock", "d-mcs"});
  CHECK(run.bench == "ecsb");
  CHECK(run.fabric == "shm");
  CHECK(run.warmup == 0.1);
  CHECK(run.work_min_ns == 1000);
  CHECK(run.work_max_ns == 4000);
  const auto plan = make_plan(run, 2);
  REQUIRE(plan.ok());
  CHECK(plan->warm_up + plan->measured == 100'000);
  CHECK(plan->warm_up == 10'000);
}

TEST_CASE("options: what contradicts itself is refused") {
  CHECK(refusal({}).find("--lock") != std::string::npos);
  CHECK(refusal({"--lock", "padlock"}).find("padlock") != std::string::npos);
  CHECK(refusal({"--lock", "gbh", "--acquires", "5", "--seconds", "1"}) != "");
  CHECK(refusal({"--lock", "gbh", "--set", "card.atomic_ns=1"}).find("--fabric sim") !=
        std::string::npos);
  RunOptions run = run_of({"--lock", "d-mcs", "--home", "4"});
  CHECK_FALSE(make_plan(run, 4).ok());
  CHECK(make_plan(run, 5).ok());
  run.work_min_ns = run.work_max_ns + 1;
  CHECK_FALSE(make_plan(run, 5).ok());
}

TEST_CASE("plan: at least one acquire is warm-up and at least one is measured") {
  RunOptions run = run_of({"--lock", "d-mcs", "--acquires", "2", "--warmup", "0"});
  CHECK(make_plan(run, 1)->warm_up == 1);
  CHECK(make_plan(run, 1)->measured == 1);
  run.warmup = 0.99;
  CHECK(make_plan(run, 1)->measured == 1);
}

TEST_CASE("plan: a share of writers that is no writer is said") {
  RunOptions run = run_of({"--lock", "gbh", "--fw", "0.002", "--roles", "process"});
  CHECK(make_plan(run, 256)->warnings.size() == 1);
  CHECK(make_plan(run, 512)->warnings.empty());
}

TEST_CASE("plan: agents draw from seeds of their own") {
  const RunOptions run = run_of({"--lock", "gbh"});
  const auto plan = make_plan(run, 4);
  CHECK(plan->agent_seed(0) != plan->agent_seed(1));
  RunOptions other = run;
  other.seed = 2;
  CHECK(plan->agent_seed(0) != make_plan(other, 4)->agent_seed(0));
}
