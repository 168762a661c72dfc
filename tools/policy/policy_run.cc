#include "keyway/tools/policy/policy_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/sim/machine_costs.h"
#include "keyway/kvstore/sim/session_sim.h"
#include "keyway/kvstore/stripes/kind_policy.h"
#include "keyway/locks/base/rng.h"
#include "keyway/locks/distributed/stripe_lock.h"
#include "keyway/locks/fabric/sim/sim_fabric.h"

namespace keyway::policy {
namespace {

using Session = store::Session<fabric::SimEndpoint>;

constexpr std::string_view kAutomatic = "auto";
constexpr std::uint32_t kKeysOfStripe = 4;
constexpr std::uint32_t kKeyBytes = 16;
constexpr std::uint32_t kValueBytes = 100;
constexpr std::uint32_t kBucketsOfStripe = 4;
// The time between two polls of an agent that waits for the others' warm-up.
constexpr double kPauseNs = 1000;
// The default hint of client.h.
constexpr double kHintedReads = 0.95;

Result<store::KindPolicy> policy_of(const Plan& plan) {
  const locks::PrimitiveCosts costs = store::machine_costs(plan.machine, plan.nodes);
  if (plan.lock == kAutomatic) {
    return store::automatic_policy({.reads = kHintedReads, .local = 1.0 / plan.nodes}, costs,
                                   plan.nodes);
  }
  auto lock = locks::AnyLock::make(plan.lock);
  if (!lock.ok()) return lock.status();
  return store::KindPolicy{.lock = locks::StripeLock(*lock),
                           .satellite_kinds = lock->traits().satellites ? 1u : 0u};
}

/// The store on the machine, filled, and its agents' counters.
class Experiment {
 public:
  Experiment(const Plan& plan, store::KindPolicy policy, const store::Geometry& geometry,
             fabric::SimFabric fabric)
      : plan_(plan),
        policy_(std::move(policy)),
        geometry_(geometry),
        fabric_(std::move(fabric)),
        keys_(fabric_.ranks() * geometry.stripes()) {}

  std::uint32_t ranks() const { return fabric_.ranks(); }
  std::uint32_t ranks_per_node() const { return ranks() / plan_.nodes; }

  /// Keys for every stripe. Operations outside of a run take no time.
  Status fill() {
    const auto session = open(0);
    std::size_t full = 0;
    for (std::uint64_t n = 0; full < keys_.size(); ++n) {
      std::string key = fmt::format("key-{:0{}}", n, kKeyBytes - 4);
      const std::uint64_t stripe = geometry_.stripe_of(geometry_.bucket_of(geometry_.hash_of(key)));
      auto& of_stripe = keys_[session->owner_of(key) * geometry_.stripes() + stripe];
      if (of_stripe.size() == kKeysOfStripe) continue;
      if (auto status = session->put(key, value_, {}); !status.ok()) return status;
      of_stripe.push_back(std::move(key));
      full += of_stripe.size() == kKeysOfStripe;
    }
    return {};
  }

  Result<Outcome> measure() {
    std::vector<std::uint32_t> homes(ranks());
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) homes[rank] = rank;
    fabric_.run(homes, [&](std::uint32_t me) { visit_on(me); });
    if (!trouble_.ok()) return trouble_;
    outcome_.throughput_per_s = static_cast<double>(plan_.measured) / (ended_ns_ - began_ns_) * 1e9;
    count_kinds();
    return outcome_;
  }

 private:
  std::unique_ptr<Session> open(std::uint32_t rank) {
    return std::make_unique<Session>(
        std::move(*fabric_.endpoint(rank)), geometry_, policy_.lock,
        store::SessionOptions{.choice = plan_.lock == kAutomatic ? &policy_.choice : nullptr});
  }

  /// The visits of one agent: its own of the warm-up, then some of those that all make together.
  void visit_on(std::uint32_t me) {
    const auto session = open(me);
    Rng rng(plan_.seed * 1'000'003 + me);
    for (std::uint64_t i = 0; i < plan_.warm_up && trouble_.ok(); ++i) visit(*session, rng, me);
    ++warm_;
    while (warm_ < ranks() && trouble_.ok()) fabric_.spend(me, kPauseNs);
    if (!measuring_) began_ns_ = fabric_.time_ns();
    measuring_ = true;
    while (measured_ < plan_.measured && trouble_.ok()) {
      visit(*session, rng, me);
      if (++measured_ == plan_.measured) ended_ns_ = fabric_.time_ns();
    }
  }

  void visit(Session& session, Rng& rng, std::uint32_t me) {
    const Part& part = drawn_part(rng);
    const std::string& key = drawn_key(rng, part, me);
    const std::uint64_t switches = session.switches();
    if (rng.unit() < part.reads) {
      std::string out;
      note(session.get(key, out));
      if (out != value_) note({Code::kCorruption, "a get found another value"});
    } else {
      note(session.put(key, value_, {}));
    }
    if (!measuring_) ++learning_;
    if (session.switches() != switches) note_switch();
  }

  void note_switch() {
    ++outcome_.switches;
    if (measuring_) {
      ++outcome_.late_switches;
    } else {
      outcome_.learned = learning_;
      outcome_.learned_ns = fabric_.time_ns();
    }
  }
  void note(const Status& status) {
    if (!status.ok() && trouble_.ok()) trouble_ = status;
  }

  const Part& drawn_part(Rng& rng) const {
    double left = rng.unit();
    for (const Part& part : plan_.parts) {
      if ((left -= part.visits) < 0) return part;
    }
    return plan_.parts.back();
  }

  const std::string& drawn_key(Rng& rng, const Part& part, std::uint32_t me) const {
    const std::uint32_t mine = me / ranks_per_node();
    const auto others = static_cast<std::uint32_t>(1 + rng.below(plan_.nodes - 1));
    const std::uint32_t node = rng.unit() < part.local ? mine : (mine + others) % plan_.nodes;
    const std::uint64_t rank = node * ranks_per_node() + rng.below(ranks_per_node());
    const std::uint64_t of_part = rng.below(geometry_.stripes() / plan_.parts.size());
    const auto number = static_cast<std::uint64_t>(&part - plan_.parts.data());
    const std::uint64_t stripe = of_part * plan_.parts.size() + number;
    return keys_[rank * geometry_.stripes() + stripe][rng.below(kKeysOfStripe)];
  }

  void count_kinds() {
    const auto session = open(0);
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      for (std::uint64_t stripe = 0; stripe < geometry_.stripes(); ++stripe) {
        const auto part = static_cast<std::uint32_t>(stripe % plan_.parts.size());
        const std::string kind = session->stripe_report(rank, stripe).kind;
        const auto found =
            std::find_if(outcome_.kinds.begin(), outcome_.kinds.end(),
                         [&](const KindCount& c) { return c.part == part && c.kind == kind; });
        if (found == outcome_.kinds.end()) {
          outcome_.kinds.push_back({part, kind, 1});
        } else {
          ++found->stripes;
        }
      }
    }
  }

  const Plan& plan_;
  store::KindPolicy policy_;
  const store::Geometry& geometry_;
  fabric::SimFabric fabric_;
  std::vector<std::vector<std::string>> keys_;  // by rank and stripe
  const std::string value_ = std::string(kValueBytes, 'v');
  std::uint32_t warm_ = 0;  // agents that have made their warm-up
  bool measuring_ = false;
  std::uint64_t learning_ = 0;  // visits of the warm-up
  std::uint64_t measured_ = 0;
  double began_ns_ = 0;
  double ended_ns_ = 0;
  Status trouble_;
  Outcome outcome_;
};

Status check(const Plan& plan) {
  if (plan.nodes < 2 || plan.parts.empty() || plan.warm_up == 0 || plan.measured == 0 ||
      plan.stripes % plan.parts.size() != 0) {
    return {Code::kInvalidArgument,
            "a run of the lock policy takes 2 nodes or more, visits to warm up and to measure, and "
            "stripes that its parts can share evenly"};
  }
  return {};
}

}  // namespace

Result<Outcome> run(const Plan& plan) {
  if (auto status = check(plan); !status.ok()) return status;
  auto policy = policy_of(plan);
  if (!policy.ok()) return policy.status();
  const std::uint32_t ranks = plan.nodes * plan.machine.shape.ranks_per_node;
  const store::GeometryOptions asked{
      .memory_bytes = store::kMinMemoryBytes + ranks * plan.stripes * 256ULL,
      .buckets = plan.stripes * kBucketsOfStripe,
      .stripes = plan.stripes,
      .agents_per_rank = 2,
      .nodes_per_agent = 8,
      .lock_kinds = static_cast<std::uint32_t>(policy->lock.kinds()),
      .satellite_kinds = policy->satellite_kinds,
      .ranks = ranks,
      .proofs = plan.nodes > 1};
  auto geometry = store::Geometry::plan(asked);
  if (!geometry.ok()) return geometry.status();
  auto fabric = fabric::SimFabric::create({.machine = plan.machine,
                                           .ranks = ranks,
                                           .segment_bytes = geometry->segment_bytes(),
                                           .agents_per_rank = 2,
                                           .seed = plan.seed});
  if (!fabric.ok()) return fabric.status();
  Experiment experiment(plan, std::move(*policy), *geometry, std::move(*fabric));
  if (auto status = experiment.fill(); !status.ok()) return status;
  return experiment.measure();
}

}  // namespace keyway::policy
