// What an exploration concludes without an execution is what an execution shows.
#include <catch2/catch.hpp>
#include <chrono>
#include <utility>
#include <vector>

#include "tests/sim/explored.h"

using namespace keyway;
using namespace keyway::test;
using fabric::sim::ExploreOptions;
using fabric::sim::Explorer;
using fabric::sim::ExploreReport;
using lockcheck::LockShape;

namespace {

constexpr std::uint64_t kEveryState = 5'000'000;

ExploreReport report_with(std::string_view kind, const LockShape& shape, ExploreOptions options) {
  lockcheck::LockProgram<locks::AnyLock> program(lock_of<locks::AnyLock>(kind), shape);
  return Explorer(program, options).exhaust(kEveryState);
}

void same_if_foreseen(std::string_view kind, const LockShape& shape, ExploreOptions options = {}) {
  INFO(replay_of(kind, shape, options, {}));
  ExploreOptions blind = options;
  blind.foresee = false;
  const ExploreReport executed = report_with(kind, shape, blind);
  const ExploreReport foreseen = report_with(kind, shape, options);
  CHECK(executed.complete);
  CHECK(foreseen.complete);
  CHECK(foreseen.states == executed.states);
  CHECK(foreseen.edges == executed.edges);
  CHECK(executed.foreseen == 0);
  CHECK(foreseen.foreseen > 0);
  REQUIRE(executed.waiting);
  REQUIRE(foreseen.waiting);
  CHECK(foreseen.waiting->bypass == executed.waiting->bypass);
  CHECK(foreseen.waiting->starving == executed.waiting->starving);
  // And each step ends where it was expected to.
  options.check_foreseen = true;
  const ExploreReport checked = report_with(kind, shape, options);
  INFO((checked.violation ? checked.violation->what : ""));
  CHECK_FALSE(checked.violation);
  CHECK(checked.edges == executed.edges);
}

/// Adds to words, so that it is clear which steps are independent. The checks may remember which
/// agent was the last.
class Adders final : public fabric::sim::Program {
 public:
  /// The words to which each agent adds, one after another.
  Adders(std::vector<std::vector<std::uint32_t>> words, bool remembers, bool awaited = false)
      : words_(std::move(words)), remembers_(remembers), awaited_(awaited) {}
  std::uint32_t agents() const override {
    return static_cast<std::uint32_t>(words_.size()) + (awaited_ ? 1 : 0);
  }
  std::uint32_t ranks() const override { return 1; }
  std::uint64_t segment_bytes() const override { return fabric::kReservedBytes + 64; }
  void reset(fabric::sim::Execution& execution) override {
    execution_ = &execution;
    last_ = 0;
  }
  void run(std::uint32_t agent) override {
    if (agent == words_.size()) return await(agent);
    for (const std::uint32_t word : words_[agent]) {
      execution_->perform(agent, {.kind = fabric::sim::OpKind::kAdd,
                                  .access = fabric::sim::OpClass::kRma,
                                  .at = {0, fabric::kReservedBytes + 8 * word},
                                  .operand = 1});
    }
  }
  std::string verdict() override { return {}; }
  std::string name(fabric::Address) const override { return "a word"; }
  std::string observe(std::uint32_t agent, const fabric::sim::Operation&, std::uint64_t) override {
    if (remembers_) last_ = agent + 1;
    return {};
  }
  std::uint64_t remembered() const override { return last_; }
  bool foreseeable() const override { return true; }

 private:
  /// Word 0, for a value that it never has; the result tells the one that it had at the end.
  void await(std::uint32_t agent) {
    const auto never = [](std::uint64_t) { return false; };
    execution_->wait(agent, {0, fabric::kReservedBytes}, fabric::sim::PredicateRef::to(never),
                     Deadline::within(std::chrono::microseconds(1)));
  }

  std::vector<std::vector<std::uint32_t>> words_;
  bool remembers_;
  bool awaited_;
  std::uint64_t last_ = 0;
  fabric::sim::Execution* execution_ = nullptr;
};

ExploreReport add_to(std::vector<std::vector<std::uint32_t>> words, bool remembers = false) {
  Adders program(std::move(words), remembers);
  return Explorer(program).exhaust(kEveryState);
}

}  // namespace

TEST_CASE("foresight: steps on different words need one order, and on one word both") {
  const ExploreReport apart = add_to({{0, 1}, {2, 3}});
  CHECK(apart.states == 9);
  CHECK(apart.edges == 12);
  CHECK(apart.foreseen >= 2);  // of four: each of four states has two ways into it
  // The results, and so the states, tell which of the two came first.
  const ExploreReport together = add_to({{0}, {0}});
  CHECK(together.states == 5);
  CHECK(together.foreseen == 0);
}

TEST_CASE("foresight: steps that the checks remember in their order need both orders") {
  const ExploreReport report = add_to({{0, 1}, {2, 3}}, true);
  CHECK(report.states == 13);  // nine by their sums, and four of them by the last agent as well
  CHECK(report.foreseen == 0);
}

TEST_CASE("foresight: the end of a wait depends on the word that it waits for") {
  std::vector<ExploreReport> reports;
  for (const bool foresee : {false, true}) {
    Adders program({{0}, {0}}, false, true);
    reports.push_back(Explorer(program, {.foresee = foresee}).exhaust(kEveryState));
  }
  CHECK(reports[0].states == reports[1].states);
  CHECK(reports[0].edges == reports[1].edges);
  Adders program({{0}, {0}}, false, true);
  CHECK_FALSE(Explorer(program, {.check_foreseen = true}).exhaust(kEveryState).violation);
}

TEST_CASE("foresight: locks have the same states, steps and verdicts") {
  same_if_foreseen("fompi-spin", {.writers = 3});
  same_if_foreseen("d-mcs", {.writers = 2, .rounds = 2});
  same_if_foreseen("d-mcs", {.writers = 2, .forever = true});
  same_if_foreseen("fompi-rw", {.readers = 2, .writers = 1});
  same_if_foreseen("gbh:lockall=off", {.readers = 1, .writers = 1, .ask_token = true});
  same_if_foreseen("rma-rw:t_dc=1,t_r=1", {.readers = 2, .writers = 1});
  same_if_foreseen("alock", {.writers = 2});
}

TEST_CASE("foresight: with deadlines, split atomics, store buffers and stores that happen twice") {
  same_if_foreseen("d-mcs", {.writers = 2, .manner = kTimed});
  same_if_foreseen("fompi-rw", {.readers = 1, .writers = 1}, kSplitRma);
  same_if_foreseen("alock-rw", {.readers = 1, .writers = 1}, kBuffers);
  same_if_foreseen("d-mcs", {.writers = 2}, kTwice);
  same_if_foreseen("d-mcs", {.writers = 2}, {.reduce = false});
}
