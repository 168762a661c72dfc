// The analysis of waiting in a state graph: on graphs made by hand, and on small programs.
#include <catch2/catch.hpp>

#include "keyway/locks/fabric/sim/explorer_fairness.h"
#include "tests/sim/scripted.h"

using namespace keyway;
using namespace keyway::test;
using namespace keyway::fabric::sim;
using fabric::rma;

namespace {

// A graph of two agents, A and B, of which B waits unless a state says otherwise.
class Made {
 public:
  static constexpr std::uint16_t kA = 1, kB = 2;

  std::uint32_t state(Standing a, Standing b, std::uint16_t can_go, std::uint16_t in_flight = 0) {
    Moment moment;
    moment.set(0, a);
    moment.set(1, b);
    moment.can_go = can_go;
    moment.in_flight = in_flight;
    const Choice by{};
    const std::uint32_t parent = graph_.size() == 0 ? StateGraph::kNone : graph_.size() - 1;
    const auto id = graph_.insert(graph_.size() + 1, moment, parent, by).first;
    edges_.emplace_back();
    return id;
  }
  void edge(std::uint32_t from, std::uint32_t to, std::uint8_t agent,
            Action::Kind kind = Action::Kind::kOwn) {
    edges_[from].push_back({to, {{agent, kind, 0}, 0}});
  }
  const StateGraph& graph() {
    for (std::uint32_t id = 0; id < graph_.size(); ++id) {
      for (const auto& edge : edges_[id]) graph_.add_edge(id, edge.to, edge.by);
    }
    graph_.sort_edges();
    return graph_;
  }

 private:
  StateGraph graph_;
  std::vector<std::vector<StateGraph::Edge>> edges_;
};

constexpr auto kOut = Standing::kOutside;
constexpr auto kIn = Standing::kInside;
constexpr auto kWaits = Standing::kWaiting;

}  // namespace

TEST_CASE("fairness: a cycle that gives its turn to nobody else is no starvation") {
  Made made;  // A goes in and out; B could go all the time and is never let
  const auto out = made.state(kOut, kWaits, Made::kA | Made::kB);
  const auto in = made.state(kIn, kWaits, Made::kA | Made::kB);
  made.edge(out, in, 0);
  made.edge(in, out, 0);
  const StateGraph& graph = made.graph();
  CHECK_FALSE(fair_cycle_without(graph, 1, Exclusion::kThisAgent));
  CHECK(bypass_of(graph, 1).unbounded);  // which requires no fairness
  CHECK_FALSE(bypass_of(graph, 0).unbounded);
}

TEST_CASE("fairness: who can go only now and then may be left out, and so may who goes in vain") {
  for (const bool in_vain : {false, true}) {
    Made made;
    const std::uint16_t always = in_vain ? Made::kB : 0;
    const auto out = made.state(kOut, kWaits, Made::kA | Made::kB);
    const auto in = made.state(kIn, kWaits, Made::kA | always);
    made.edge(out, in, 0);
    made.edge(in, out, 0);
    if (in_vain) made.edge(in, in, 1);
    const StateGraph& graph = made.graph();
    const auto cycle = fair_cycle_without(graph, 1, Exclusion::kThisAgent);
    REQUIRE(cycle);
    CHECK(cycle->loop.size() == (in_vain ? 3 : 2));
    CHECK(cycle->stem.empty());
    CHECK_FALSE(fair_cycle_without(graph, 1, Exclusion::kEverybody));  // A does enter
  }
}

TEST_CASE("fairness: a posted operation under way happens in the end") {
  for (const bool happens : {false, true}) {
    Made made;
    const auto one = made.state(kOut, kWaits, 0, Made::kA);
    const auto two = made.state(kOut, kWaits, Made::kB, Made::kA);
    made.edge(one, two, 1);
    made.edge(two, one, 1);
    if (happens) made.edge(two, one, 0, Action::Kind::kPosted);
    CHECK(fair_cycle_without(made.graph(), 1, Exclusion::kEverybody).has_value() == happens);
  }
}

TEST_CASE("fairness: bypass is counted along the worst order, from the doorway on") {
  Made made;  // B waits; A enters once on one way and twice on the other; then B enters
  const auto door = made.state(kOut, kWaits, 3);
  const auto in_1 = made.state(kIn, kWaits, 3);
  const auto out_1 = made.state(kOut, kWaits, 3);
  const auto in_2 = made.state(kIn, kWaits, 3);
  const auto last = made.state(kOut, kWaits, 3);
  const auto done = made.state(kOut, kIn, 3);
  const auto after = made.state(kIn, kOut, 3);  // does not count any more
  made.edge(door, in_1, 0);
  made.edge(in_1, out_1, 0);
  made.edge(out_1, last, 1);
  made.edge(out_1, in_2, 0);
  made.edge(in_2, last, 0);
  made.edge(last, done, 1);
  made.edge(done, after, 0);
  const Bypass bypass = bypass_of(made.graph(), 1);
  CHECK(bypass.most == 2);
  CHECK_FALSE(bypass.unbounded);
  CHECK(bypass.witness.size() == 3);
}

namespace {

// Agents that contend for a word by compare-and-swap, again and again.
class Contenders final : public Program {
 public:
  Contenders(std::uint32_t agents, bool backs_out) : agents_(agents), backs_out_(backs_out) {}

  std::uint32_t agents() const override { return agents_; }
  std::uint32_t ranks() const override { return 1; }
  std::uint64_t segment_bytes() const override { return fabric::kReservedBytes + 64; }
  void reset(Execution& execution) override {
    execution_ = &execution;
    endpoints_.clear();
    standings_.assign(agents_, Standing::kOutside);
    for (std::uint32_t i = 0; i < agents_; ++i) {
      endpoints_.push_back(
          std::make_unique<fabric::SimEndpoint>(execution, i, fabric::AgentId{0, i}, topology_));
    }
  }
  void run(std::uint32_t i) override {
    auto& ep = *endpoints_[i];
    while (true) {
      execution_->rest(i, 0);
      standings_[i] = Standing::kComing;
      ep.retry_until([&] { return enters(i); }, fabric::Backoff::none(), Deadline::never());
      standings_[i] = Standing::kInside;
      ep.load(rma, kLock);
      standings_[i] = Standing::kOutside;
      backs_out_ ? ep.fetch_add(rma, kLock, ~0ULL) : ep.swap(rma, kLock, 0);
    }
  }
  std::string verdict() override { return {}; }
  std::string name(fabric::Address) const override { return "the word"; }
  Standing standing(std::uint32_t i) const override { return standings_[i]; }
  std::string observe(std::uint32_t i, const Operation&, std::uint64_t) override {
    if (standings_[i] == Standing::kComing) standings_[i] = Standing::kWaiting;
    return {};
  }

 private:
  static constexpr fabric::Address kLock{0, fabric::kReservedBytes};

  bool enters(std::uint32_t i) {
    auto& ep = *endpoints_[i];
    if (!backs_out_) return ep.compare_swap(rma, kLock, 0, 1) == 0;
    if (ep.fetch_add(rma, kLock, 1) == 0) return true;
    ep.fetch_add(rma, kLock, ~0ULL);
    return false;
  }

  std::uint32_t agents_;
  bool backs_out_;
  Topology topology_ = Topology::from_nodes({0});
  Execution* execution_ = nullptr;
  std::vector<std::unique_ptr<fabric::SimEndpoint>> endpoints_;
  std::vector<Standing> standings_;
};

}  // namespace

TEST_CASE("fairness: a word of compare-and-swap starves, and the cycle replays") {
  Contenders program(2, false);
  Explorer explorer(program);
  const auto report = explorer.exhaust(10'000);
  CHECK(report.complete);
  CHECK_FALSE(report.violation);
  REQUIRE(report.waiting);
  REQUIRE(report.waiting->starvation);
  CHECK_THAT(report.waiting->starvation->what, Catch::StartsWith("starvation: agent"));
  CHECK_FALSE(report.waiting->bypass);
  const auto again = explorer.replay(report.waiting->starvation->schedule);
  REQUIRE(again.waiting);
  CHECK(again.waiting->starvation->what == report.waiting->starvation->what);
  CHECK(again.waiting->starvation->trace == report.waiting->starvation->trace);
  // A loop that does not come round is not taken for one.
  std::string broken = report.waiting->starvation->schedule;
  broken.erase(broken.size() - 2, 1);
  CHECK_THAT(explorer.replay(broken).violation.value().what,
             Catch::Contains("does not end where it began"));
}

TEST_CASE("fairness: agents whose attempts get in each other's way are a livelock") {
  Contenders pair(3, true);
  Explorer explorer(pair);
  const auto report = explorer.exhaust(200'000);
  REQUIRE(report.violation);
  CHECK_THAT(report.violation->what, Catch::StartsWith("livelock: agent"));
  const auto again = explorer.replay(report.violation->schedule);
  CHECK(again.violation.value().trace == report.violation->trace);
}
