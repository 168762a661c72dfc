// Edits that owners make, and reads, under exploration: real sessions and a real service, with the
// bytes of messages that move word by word in any order, and stores that happen twice.
#include <fmt/core.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/layout/location.h"
#include "keyway/kvstore/owner/call_slots.h"
#include "keyway/kvstore/sim/session_sim.h"
#include "keyway/locks/base/topology.h"
#include "keyway/locks/distributed/any_lock.h"
#include "keyway/locks/distributed/stripe_lock.h"
#include "keyway/locks/fabric/sim/explorer.h"
#include "keyway/locks/fabric/sim/sim_endpoint.h"

using namespace keyway;

namespace {

struct CallShape {
  std::vector<std::uint32_t> increments;  // by each caller
  bool timed = false;                     // callers may take calls back, and give up
  bool reads = false;                     // callers read after each increment
};

/// A caller adds this each time: both halves of the result change.
constexpr std::int64_t kStep = (1LL << 32) + 1;

/// Callers, each alone on its node, add to an integer of rank 0. The only agent there serves them.
class ExploredCalls final : public fabric::sim::Program {
 public:
  explicit ExploredCalls(CallShape shape)
      : shape_(std::move(shape)),
        topology_(Topology::from_nodes(each_alone(ranks()))),
        geometry_(*store::Geometry::plan({.memory_bytes = store::kMinMemoryBytes,
                                          .buckets = 1,
                                          .stripes = 1,
                                          .agents_per_rank = 1,
                                          .nodes_per_agent = 8,
                                          .call_slots = 1,
                                          .ranks = ranks(),
                                          .hash_secret = {1, 1}})),
        lock_({*locks::AnyLock::make("gbh:lockall=off")}) {
    for (int i = 0; key_.empty(); ++i) {
      const std::string key = fmt::format("n{}", i);
      if (store::location_of(geometry_, key, ranks()).rank == 0) key_ = key;
    }
  }

  std::uint32_t agents() const override { return callers() + 1; }
  std::uint32_t ranks() const override { return callers() + 1; }
  std::uint64_t segment_bytes() const override { return geometry_.segment_bytes(); }

  void reset(fabric::sim::Execution& execution) override {
    execution_ = &execution;
    close();
    execution.memory().clear();
    results_.assign(callers(), {});
    in_doubt_ = 0;
    seen_.assign(callers(), 0);
    service_ = std::make_unique<store::OwnerService<fabric::SimEndpoint>>(
        fabric::SimEndpoint(execution, callers(), {0, 0}, topology_), geometry_, lock_);
    const std::chrono::nanoseconds timeout =
        shape_.timed ? std::chrono::milliseconds(1) : std::chrono::seconds(10);
    for (std::uint32_t i = 0; i < callers(); ++i) {
      slots_.push_back(std::make_unique<store::CallSlots>(ranks(), 1));
      sessions_.push_back(std::make_unique<Session>(
          fabric::SimEndpoint(execution, i, {i + 1, 0}, topology_), geometry_, lock_,
          store::SessionOptions{
              .timeout = timeout,
              .calls = slots_.back().get(),
              .patience = std::chrono::microseconds(shape_.timed ? 500 : kNever)}));
    }
  }

  void run(std::uint32_t agent) override {
    if (agent == callers()) return serve();
    for (std::uint32_t i = 0; i < shape_.increments[agent]; ++i) {
      increment(agent);
      if (shape_.reads) read(agent);
    }
    sessions_[agent]->endpoint().fetch_add(fabric::rma, kDone, 1);
  }

  std::string verdict() override {
    std::vector<std::int64_t> all;
    for (const auto& each : results_) all.insert(all.end(), each.begin(), each.end());
    std::sort(all.begin(), all.end());
    if (std::adjacent_find(all.begin(), all.end()) != all.end()) return "O1: a result twice";
    // A call without an answer may be carried out still.
    while (service_->serve() > 0) {
    }
    std::string text = "0";
    Session alone(fabric::SimEndpoint(*execution_, 0, {1, 0}, topology_), geometry_, lock_, {});
    const Status status = alone.get(key_, text);
    if (!status.ok() && status != Code::kNotFound) return "O2: the integer cannot be read";
    const std::int64_t last = std::stoll(text);
    const auto answered = static_cast<std::int64_t>(all.size());
    if (last % kStep != 0 || last < answered * kStep || last > (answered + in_doubt_) * kStep) {
      return fmt::format("O3: {} after {} answers and {} in doubt", last, answered, in_doubt_);
    }
    return {};
  }
  bool foreseeable() const override { return true; }
  void close() {
    sessions_.clear();
    slots_.clear();
    service_.reset();
  }
  std::string name(fabric::Address a) const override {
    for (std::uint32_t i = 0; i < callers(); ++i) {
      const fabric::Address request = geometry_.call_request(0, i + 1, 0);
      const fabric::Address answer = geometry_.call_answer(i + 1, 0, 0);
      if (is_within(a, request, store::kCallBytes)) return part_of("request", i, a, request);
      if (is_within(a, answer, fabric::kCacheLine)) return part_of("answer", i, a, answer);
      if (a == geometry_.call_claim(0, i + 1, 0)) return fmt::format("claim of {}", i);
    }
    return fmt::format("rank {} +{:#x}", a.rank(), a.offset());
  }
  std::uint64_t remembered() const override {
    std::uint64_t hash = in_doubt_;
    for (const auto& each : results_) {
      for (const std::int64_t result : each) {
        hash = (hash ^ static_cast<std::uint64_t>(result)) * 0x9e3779b97f4a7c15;
      }
      hash = (hash ^ each.size()) * 0x9e3779b97f4a7c15;
    }
    for (const std::int64_t seen : seen_) {
      hash = (hash ^ static_cast<std::uint64_t>(seen)) * 0x9e3779b97f4a7c15;
    }
    return hash;
  }
  /// But for messages and the word that counts callers, rank 0 is the service's, unless callers go
  /// there by themselves after they have given up.
  fabric::sim::Sight sight(std::uint32_t agent, const fabric::sim::Operation& op) const override {
    using fabric::sim::Sight;
    if (shape_.timed || agent != callers() || op.at == kDone) return Sight::kSeen;
    const bool message = op.at.rank() != 0 || is_within(op.at, geometry_.call_request(0, 0, 0),
                                                        std::uint64_t{ranks()} * store::kCallBytes);
    return message ? Sight::kSeen : Sight::kOwn;
  }

 private:
  using Session = store::Session<fabric::SimEndpoint>;
  static constexpr fabric::Address kDone{0, 8};
  static constexpr int kNever = 5'000'000;  // us; see explorer_execution.h

  static std::vector<std::uint32_t> each_alone(std::uint32_t ranks) {
    std::vector<std::uint32_t> nodes(ranks);
    for (std::uint32_t i = 0; i < ranks; ++i) nodes[i] = i;
    return nodes;
  }
  static bool is_within(fabric::Address a, fabric::Address begin, std::uint64_t bytes) {
    return a.rank() == begin.rank() && a.offset() >= begin.offset() &&
           a.offset() < begin.offset() + bytes;
  }
  static std::string part_of(const char* what, std::uint32_t caller, fabric::Address a,
                             fabric::Address begin) {
    return fmt::format("{} of {} +{}", what, caller, a.offset() - begin.offset());
  }
  std::uint32_t callers() const { return static_cast<std::uint32_t>(shape_.increments.size()); }

  void increment(std::uint32_t agent) {
    const auto result = sessions_[agent]->increment(key_, kStep);
    auto& mine = results_[agent];
    if (result.ok()) {
      const std::int64_t before = mine.empty() ? 0 : mine.back();
      if (*result <= before || *result % kStep != 0) execution_->fail(agent, "O4: a wrong result");
      mine.push_back(*result);
    } else if (result.code() == Code::kInDoubt) {
      ++in_doubt_;
    } else if (result.code() != Code::kTimeout) {
      execution_->fail(agent, fmt::format("O5: {}", result.status().message()));
    }
  }
  void read(std::uint32_t agent) {
    std::string text = "0";
    const Status status = sessions_[agent]->get(key_, text);
    const auto& mine = results_[agent];
    std::int64_t& seen = seen_[agent];
    if (!mine.empty()) seen = std::max(seen, mine.back());
    if (status.ok() || status == Code::kNotFound) {
      const std::int64_t found = std::stoll(text);
      if (found < seen || found % kStep != 0) execution_->fail(agent, "O6: a wrong value: " + text);
      seen = found;
    } else if (status != Code::kTimeout) {
      execution_->fail(agent, fmt::format("O7: {}", status.message()));
    }
  }
  void serve() {
    auto& ep = service_->endpoint();
    bool ended = false;
    const auto look = [&] {
      if (service_->serve() > 0) return true;
      return ended = ep.load(fabric::cpu, kDone) == callers();
    };
    while (!ended) ep.retry_until(look, {}, Deadline::never());
  }

  CallShape shape_;
  Topology topology_;
  store::Geometry geometry_;
  locks::StripeLock lock_;
  std::string key_;
  fabric::sim::Execution* execution_ = nullptr;
  std::unique_ptr<store::OwnerService<fabric::SimEndpoint>> service_;
  std::vector<std::unique_ptr<store::CallSlots>> slots_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<std::vector<std::int64_t>> results_;
  std::vector<std::int64_t> seen_;  // the last value that each caller knows
  std::int64_t in_doubt_ = 0;
};

struct Exploration {
  Exploration(const CallShape& shape, bool double_stores)
      : program(shape),
        explorer(program,
                 {.double_stores = double_stores, .torn_bytes = true, .most_steps = 4000}) {}
  Exploration(const Exploration&) = delete;
  Exploration& operator=(const Exploration&) = delete;
  ~Exploration() { program.close(); }

  static void require_clean(const fabric::sim::ExploreReport& report) {
    INFO((report.violation ? report.violation->what + ", schedule " + report.violation->schedule
                           : ""));
    CAPTURE(report.states, report.executions, report.longest);
    CHECK_FALSE(report.violation);
  }

  ExploredCalls program;
  fabric::sim::Explorer explorer;
};

constexpr std::uint64_t kMaxStates = 20'000'000;

void explore(const CallShape& shape) {
  Exploration all(shape, false);
  const auto report = all.explorer.exhaust(kMaxStates);
  Exploration::require_clean(report);
  CHECK(report.complete);
}

void explore_some(const CallShape& shape, std::uint64_t executions) {
  for (const bool double_stores : {false, true}) {
    Exploration some(shape, double_stores);
    Exploration::require_clean(some.explorer.random(1, executions));
    Exploration::require_clean(some.explorer.pct(1, executions, 4));
  }
}

}  // namespace

TEST_CASE("calls: one caller, every order of the words of its messages") {
  explore({.increments = {1}});
}

TEST_CASE("calls: reads, by many orders of the words of their values") {
  explore_some({.increments = {2}, .reads = true}, 5'000);
  explore_some({.increments = {2, 1}, .reads = true}, 5'000);
  explore_some({.increments = {2, 1}, .timed = true, .reads = true}, 5'000);
}

TEST_CASE("calls: a slot is used again") { explore_some({.increments = {3}}, 5'000); }

TEST_CASE("calls: two callers") { explore_some({.increments = {2, 2}}, 5'000); }

TEST_CASE("calls: callers that take calls back, or give up, and go on by themselves") {
  explore_some({.increments = {3}, .timed = true}, 5'000);
  explore_some({.increments = {2, 2}, .timed = true}, 5'000);
}

TEST_CASE("calls: many orders", "[.long]") {
  explore_some({.increments = {3, 3}}, 100'000);
  explore_some({.increments = {3, 3}, .timed = true}, 100'000);
}
