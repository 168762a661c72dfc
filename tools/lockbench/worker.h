// Worker: one agent of a run: it acquires and releases locks of the table as the bench says.
//
// *What.* First the warm-up, with acquires that are discarded; each of them also works on the
// record that the lock guards, for the check at the end. Then the measured part, with the critical
// sections of the bench and nothing else (unless --check every). The same source runs on every
// fabric; only the Host differs: it does the work and defines order stamps.
// *Thread safety.* Belongs to its agent.
// *Source.* HPDC'16 section 5; SPAA'24 section 6.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "keyway/kvstore/atomic_table.h"
#include "keyway/locks/base/rng.h"
#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/fabric/endpoint.h"
#include "lock_draw.h"
#include "lock_table.h"
#include "measured.h"
#include "plan.h"

namespace keyway::lockbench {

/// The functions of the environment that a worker needs.
template <class H>
concept Host = requires(H& host, std::uint64_t ns, std::uint32_t lock, bool exclusive) {
  { host.work(ns) } -> std::same_as<void>;
  // A stamp of an order that all agents of the run share; `ns` is the time of its endpoint.
  { host.order(ns) } -> std::same_as<std::uint64_t>;
  // Called right after a grant and right before the release. entered() returns whether an excluded
  // agent is inside, if the host can see that at no cost.
  { host.entered(lock, exclusive) } -> std::same_as<bool>;
  { host.left(lock, exclusive) } -> std::same_as<void>;
  { host.deadline() } -> std::same_as<Deadline>;
};

template <class L, fabric::Endpoint E, Host H>
class Worker {
 public:
  Worker(const Plan& plan, const LockTable& table, const L& lock, locks::LockAgent<E>& agent,
         H& host, std::uint32_t number, Latencies& latencies)
      : plan_(plan),
        table_(table),
        lock_(lock),
        agent_(agent),
        host_(host),
        latencies_(latencies),
        rng_(plan.agent_seed(number)),
        draw_(plan, table, agent.ep.topology(), agent.ep.rank()),
        number_(number),
        takes_part_(plan.takes_part(agent.ep.rank())) {
    result_.use.resize(table.size());
    const double fw = plan.options.fw;
    const auto writers_before = [fw](double n) { return std::floor(n * fw + 1e-9); };
    writer_ = writers_before(number + 1) > writers_before(number);
    if (plan.has_volume()) volume_.emplace(agent.ep, table.volume(), plan.volume);
  }

  void warm_up() {
    filling_ = plan_.has_volume();
    const auto fill = [this] {
      if (filling_) use_volume();
    };
    for (std::uint64_t i = 0; takes_part_ && i < plan_.warm_up && result_.trouble.empty(); ++i) {
      visit(false, true, false, fill);
    }
    filling_ = false;
  }

  template <class Bench>
  void measure(const Bench&) {
    begin_measured();
    const auto span = static_cast<std::uint64_t>(plan_.options.seconds * 1e9);
    const std::uint32_t sample = plan_.options.sample;
    const auto inside = [this] { Bench::inside(*this); };
    for (std::uint64_t i = 0; takes_part_ && result_.trouble.empty(); ++i) {
      if (plan_.measured != 0 ? i == plan_.measured
                              : agent_.ep.now_ns() - result_.begin_ns >= span) {
        break;
      }
      visit(sample != 0 && i % sample == 0, plan_.check_every, Bench::kEmptySection, inside);
      Bench::after(*this);
    }
    end_measured();
  }

  AgentResult take_result() { return std::move(result_); }

  // --- Operations for benches. One access to memory that the lock guards.
  void touch() {
    const fabric::Address word = table_.record(at_) + kTouchedOffset;
    if (exclusive_) return store(word, rng_());
    seen_ ^= load(word);
  }
  /// Adds one to a counter that the lock guards; a reader reads it.
  void increment() {
    const fabric::Address word = table_.record(at_) + kCounterOffset;
    const std::uint64_t value = load(word);
    if (!exclusive_) return;
    store(word, value + 1);
    ++result_.use[at_].increments;
  }
  /// Inserts one integer into the volume, or looks up one from the warm-up.
  void use_volume() {
    if (mode_ == locks::Mode::kRead) {
      if (!volume_->find(draw_key())) ++result_.missed;
      return;
    }
    const std::uint64_t key = volume_key(number_, result_.inserted);
    const Status placed = plan_.atomics_only ? volume_->insert(key) : volume_->insert_alone(key);
    if (placed.ok()) {
      ++result_.inserted;
    } else {
      result_.trouble = placed.message();
    }
  }
  /// As much local work as the plan's random time.
  void work() {
    const auto& options = plan_.options;
    host_.work(options.work_min_ns + rng_.below(options.work_max_ns - options.work_min_ns + 1));
  }

 private:
  template <class Inside>
  void visit(bool timed, bool checked, bool empty, const Inside& inside) {
    choose();
    if (plan_.atomics_only) {
      inside();
      ++(mode_ == locks::Mode::kWrite ? result_.exclusive : result_.shared);
      return;
    }
    const locks::LockSite site = table_.site(at_);
    E& ep = agent_.ep;
    const std::uint64_t asked = timed ? ep.now_ns() : 0;
    const std::uint64_t request = timed ? host_.order(asked) : 0;
    auto grant = lock_.acquire(agent_, site, mode_, host_.deadline());
    if (!grant.ok()) {
      result_.trouble = grant.status().message();
      return;
    }
    const std::uint64_t granted = timed ? ep.now_ns() : 0;
    if (timed) record({request, host_.order(granted), at_, exclusive_});
    if (host_.entered(at_, exclusive_)) ++result_.overlap;
    inside();
    if (checked) use_record();
    const std::uint64_t leaving = timed && !(empty && !checked) ? ep.now_ns() : granted;
    host_.left(at_, exclusive_);
    lock_.release(agent_, site, *grant);
    if (timed) count_times(granted - asked, ep.now_ns() - leaving);
    if (exclusive_) ++result_.use[at_].exclusive;
    ++(exclusive_ ? result_.exclusive : result_.shared);
  }

  /// Draws the lock and the mode of the next acquire.
  void choose() {
    const RunOptions& options = plan_.options;
    if (table_.size() > 1) at_ = draw_.next(rng_);
    const bool drawn = options.roles == "process" ? writer_ : rng_.unit() < options.fw;
    const bool write = filling_ || drawn;
    mode_ = write ? locks::Mode::kWrite : locks::Mode::kRead;
    exclusive_ = write || !lock_.traits().readers_share;
  }
  std::uint64_t draw_key() {
    const std::uint32_t threads = plan_.threads;
    auto agent = static_cast<std::uint32_t>(rng_.below(plan_.agents() - threads));
    if (agent >= plan_.options.home * threads) agent += threads;  // not of the volume's own rank
    return volume_key(agent, rng_.below(plan_.warm_up));
  }

  /// Work that goes wrong when the lock does: a lost update, or two words that differ.
  void use_record() {
    const fabric::Address record = table_.record(at_);
    if (exclusive_) {
      increment();
      const std::uint64_t next = result_.use[at_].increments ^ rng_();
      store(record + kFirstOffset, next);
      store(record + kSecondOffset, next);
    } else if (load(record + kFirstOffset) != load(record + kSecondOffset)) {
      ++result_.torn;
    }
  }
  /// Plain operations: by the processor if allowed. A store is complete when the lock has been
  /// released (L3).
  std::uint64_t load(fabric::Address a) {
    if (agent_.ep.is_local(a.rank())) return agent_.ep.load(fabric::cpu, a);
    return agent_.ep.load(fabric::rma, a);
  }
  void store(fabric::Address a, std::uint64_t value) {
    if (agent_.ep.is_local(a.rank())) return agent_.ep.store(fabric::cpu, a, value);
    agent_.ep.post_store(fabric::rma, a, value);
  }

  void begin_measured() {
    result_.exclusive = result_.shared = 0;
    agent_.stats = {};
    if constexpr (requires { agent_.ep.clear_counts(); }) agent_.ep.clear_counts();
    result_.begin_ns = agent_.ep.now_ns();
  }
  void end_measured() {
    result_.end_ns = agent_.ep.now_ns();
    if (result_.accesses.size() < AgentResult::kMaxAccesses) {
      result_.end_order = host_.order(result_.end_ns);
    } else {
      result_.end_order = result_.accesses.back().grant;  // nothing is known of what came after
    }
    result_.stats = agent_.stats;
    if constexpr (requires { agent_.ep.counts(); }) result_.counts = agent_.ep.counts();
  }
  void record(const Access& access) {
    if (result_.accesses.size() < AgentResult::kMaxAccesses) result_.accesses.push_back(access);
  }
  void count_times(std::uint64_t acquire_ns, std::uint64_t release_ns) {
    latencies_.acquire.record(acquire_ns);
    latencies_.release.record(release_ns);
    latencies_.both.record(acquire_ns + release_ns);
  }

  const Plan& plan_;
  const LockTable& table_;
  const L& lock_;
  locks::LockAgent<E>& agent_;
  H& host_;
  Latencies& latencies_;
  Rng rng_;
  AgentResult result_;
  LockDraw draw_;
  std::uint32_t number_;
  bool takes_part_;
  std::optional<store::AtomicTable<E>> volume_;  // for bench dht
  bool filling_ = false;                         // the volume, in the warm-up
  bool writer_ = true;                           // under --roles process
  std::uint32_t at_ = 0;                         // the lock of this visit
  locks::Mode mode_ = locks::Mode::kWrite;
  bool exclusive_ = true;   // whether this visit is exclusive
  std::uint64_t seen_ = 0;  // so that what readers load is used
};

}  // namespace keyway::lockbench
