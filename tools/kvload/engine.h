// Runs a job on a store: each phase on all threads and ranks, then one report for all.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "interrupt.h"
#include "job.h"
#include "keyway/locks/base/bytes.h"
#include "output.h"
#include "phase.h"
#include "store.h"
#include "watch.h"
#include "worker.h"

namespace keyway::kvload {

/// Part `index` of `total` split among `parts` as evenly as it goes: [begin, end).
struct Share {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t size() const { return end - begin; }
};
inline Share share_of(std::uint64_t total, std::uint64_t parts, std::uint64_t index) {
  const std::uint64_t each = total / parts;
  const std::uint64_t rest = total % parts;
  const std::uint64_t begin = each * index + std::min(index, rest);
  return {begin, begin + each + (index < rest ? 1 : 0)};
}

/// The processes of the job, as the watch sees them.
template <class Store>
class StorePeers final : public Peers {
 public:
  explicit StorePeers(Store& store) : store_(store) {}
  void ask_all_to_end() override { store_.ask_all_to_end(); }
  bool asked_to_end() const override { return store_.asked_to_end(); }

 private:
  Store& store_;
};

/// Records that a warm-up reads at a time.
inline constexpr std::uint32_t kWarmUpBatch = 64;

/// A separate seed for every phase, rank and thread.
inline std::uint64_t seed_of(std::uint64_t seed, std::uint64_t phase, std::uint64_t rank,
                             std::uint64_t thread) {
  for (const std::uint64_t part : {phase, rank, thread}) seed = splitmix64(seed) ^ part;
  return splitmix64(seed);
}

/// One phase on one rank. Local to a call of run(); not reused.
template <class Store>
class PhaseRun {
 public:
  PhaseRun(Store& store, const Job& job, const Phase& phase, std::uint64_t phase_number,
           std::shared_ptr<const std::string> pool)
      : store_(store),
        job_(job),
        phase_(phase),
        phase_number_(phase_number),
        pool_(std::move(pool)),
        place_{store.rank(), store.ranks()},
        state_(phase.spec.threads),
        shared_(std::make_unique<workloads::RunShared>()) {
    if (phase.kind != Phase::Kind::kRun) {
      records_ = phase.loads() ? share_of(phase.spec.insert_count, place_.ranks, place_.rank)
                               : Share{0, phase.spec.insert_count};
      operations_ = records_.size();
      endless_ = false;
    } else if (phase.spec.operation_count > 0) {
      operations_ = share_of(phase.spec.operation_count, place_.ranks, place_.rank).size();
      endless_ = false;
    }
    if (job.options.locality && store.owners() > 1) {
      for (std::uint32_t i = 0; i < phase.spec.threads; ++i) {
        localities_.push_back({*job.options.locality, store.home_of(i),
                               [this](std::string_view key) { return store_.owner_of(key); }});
      }
    }
  }

  /// Collective. The result of the whole job on rank 0, of this rank elsewhere.
  PhaseOutcome run() {
    for (std::uint32_t i = 0; i < phase_.spec.threads; ++i) {
      slots_.push_back(std::make_unique<WorkerSlot>(phase_.spec));
    }
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 0; i < phase_.spec.threads; ++i) {
      threads.emplace_back([this, i] { work(i); });
    }
    state_.wait_until_ready();
    store_.barrier();
    const std::uint64_t begin_ns = steady_ns();
    store_.barrier();
    state_.start();
    StorePeers<Store> peers(store_);
    const PhaseEnd end = watch(state_, slots_, job_, phase_, endless_ ? 0 : operations_, peers);
    threads.clear();  // joins
    store_.barrier();
    PhaseOutcome outcome = own_outcome();
    outcome.end = end;
    // Ranks leave a barrier at different times, and their clocks cannot be compared: only from
    // barrier to barrier is it sure that all of their work lies in between.
    if (place_.ranks > 1) outcome.result.runtime_ns = steady_ns() - begin_ns;
    return merge_ranks(std::move(outcome));
  }

 private:
  void work(std::uint32_t index) {
    WorkerSlot& slot = *slots_[index];
    try {
      auto session = store_.session(index);
      if (session.ok()) {
        work_on(*session, index);
        return state_.finished();
      }
      slot.error = session.status().message();
    } catch (const std::exception& error) {
      slot.error = error.what();
    }
    state_.stop();
    if (!slot_started(slot)) state_.wait_for_start();
    state_.finished();
  }

  static bool slot_started(const WorkerSlot& slot) { return slot.end_ns != 0; }

  template <class Session>
  void work_on(Session& session, std::uint32_t index) {
    const WorkerPlan plan = plan_of(index);
    const std::uint64_t seed = seed_of(job_.options.seed, phase_number_, place_.rank, index);
    WorkerSlot& slot = *slots_[index];
    Worker<Session> worker(session, phase_, plan, state_, slot, *shared_, stream_of(index, seed),
                           workloads::Values(phase_.spec, pool_, ~seed));
    worker.prepare();
    slot.end_ns = state_.wait_for_start();
    worker.run(slot.end_ns);
  }

  WorkerPlan plan_of(std::uint32_t index) const {
    const workloads::Spec& spec = phase_.spec;
    WorkerPlan plan;
    if (!endless_) plan.operations = share_of(operations_, spec.threads, index).size();
    plan.pregenerate_bytes = (job_.options.pregenerate_mib << 20) / spec.threads;
    plan.batch = phase_.warms_up() ? kWarmUpBatch : job_.options.batch;
    // The latency of a record in a batch is no latency that anybody asked for.
    plan.sample_every = phase_.warms_up() ? 0 : job_.options.sample_every;
    if (spec.target_per_s > 0) {
      const std::uint64_t threads = std::uint64_t{spec.threads} * place_.ranks;
      plan.pacer =
          Pacer(spec.target_per_s, threads, std::uint64_t{index} * place_.ranks + place_.rank);
    }
    return plan;
  }

  std::unique_ptr<workloads::OpStream> stream_of(std::uint32_t index, std::uint64_t seed) {
    if (phase_.kind != Phase::Kind::kRun) {
      const Share part = share_of(records_.size(), phase_.spec.threads, index);
      const auto what = phase_.loads() ? workloads::OpKind::kInsert : workloads::OpKind::kRead;
      return std::make_unique<workloads::RecordStream>(
          phase_.spec, what, records_.begin + part.begin, records_.begin + part.end, seed);
    }
    return std::make_unique<workloads::RunStream>(
        phase_.spec, place_, endless_ ? 0 : operations_, *shared_,
        localities_.empty() ? nullptr : &localities_[index], seed);
  }

  PhaseOutcome own_outcome() {
    PhaseOutcome outcome;
    outcome.result.name = phase_.name();
    outcome.result.write_percent = phase_.write_percent;
    for (const auto& slot : slots_) {
      outcome.result.runtime_ns = std::max(
          outcome.result.runtime_ns, slot->end_ns - std::min(slot->end_ns, state_.start_ns()));
      outcome.result.operations += slot->done.load(std::memory_order_relaxed);
      outcome.result.failed += slot->failed.load(std::memory_order_relaxed);
      outcome.result.measured.merge(slot->measured);
      if (outcome.error.empty()) outcome.error = slot->error;
      if (outcome.trouble.empty()) outcome.trouble = slot->trouble;
      outcome.remote += slot->remote;
    }
    return outcome;
  }

  /// In the order in which ranks send them.
  static std::array<std::uint64_t*, 10> words_of(store::RemoteWork& remote) {
    auto& reads = remote.reads;
    return {&reads.warm,
            &reads.cold,
            &reads.refused,
            &reads.by_owners,
            &remote.edits_by_owners,
            &remote.messages,
            &remote.round_trips,
            &remote.loopbacks,
            &reads.repeated,
            &remote.flushes};
  }

  PhaseOutcome merge_ranks(PhaseOutcome own) {
    std::string bytes;
    append_word(bytes, static_cast<std::uint64_t>(own.end));
    append_word(bytes, own.result.operations);
    append_word(bytes, own.result.failed);
    for (std::uint64_t* const word : words_of(own.remote)) append_word(bytes, *word);
    own.result.measured.serialize(bytes);
    append_word(bytes, own.error.size());
    bytes += own.error + own.trouble;
    const std::vector<std::string> all = store_.gather(std::move(bytes));
    if (all.empty()) return own;
    PhaseOutcome merged;
    merged.result.name = own.result.name;
    merged.result.write_percent = own.result.write_percent;
    merged.result.runtime_ns = own.result.runtime_ns;
    for (std::string_view in : all) {
      std::uint64_t end = 0;
      std::uint64_t operations = 0;
      std::uint64_t failed = 0;
      std::uint64_t error_bytes = 0;
      store::RemoteWork remote;
      const auto words = words_of(remote);
      if (!take_word(in, end) || !take_word(in, operations) || !take_word(in, failed) ||
          !std::all_of(words.begin(), words.end(),
                       [&](std::uint64_t* word) { return take_word(in, *word); }) ||
          !merged.result.measured.deserialize(in) || !take_word(in, error_bytes) ||
          error_bytes > in.size()) {
        merged.error = "a rank's measurements did not arrive whole: run it again";
        return merged;
      }
      merged.end = std::max(merged.end, static_cast<PhaseEnd>(end));
      merged.result.operations += operations;
      merged.result.failed += failed;
      merged.remote += remote;
      if (merged.error.empty()) merged.error = in.substr(0, error_bytes);
      if (merged.trouble.empty()) merged.trouble = in.substr(error_bytes);
    }
    return merged;
  }

  Store& store_;
  const Job& job_;
  const Phase& phase_;
  const std::uint64_t phase_number_;
  const std::shared_ptr<const std::string> pool_;
  const workloads::Place place_;
  PhaseState state_;
  std::unique_ptr<workloads::RunShared> shared_;
  std::vector<workloads::Locality> localities_;  // by thread; empty: any key will do
  Share records_{0, 0};
  std::uint64_t operations_ = 0;
  bool endless_ = true;
  WorkerSlots slots_;
};

/// Whether all ranks were started alike and rank 0 can write its files. Collective: the same answer
/// on every rank.
template <class Store>
Status agree(Store& store, const Job& job) {
  std::string verdict;
  const std::string mine = fingerprint(job);
  for (const std::string& other : store.gather(mine)) {
    if (other != mine) {
      verdict =
          "the ranks disagree on the configuration: start all of them with the same options "
          "and the same workload files";
    }
  }
  if (verdict.empty() && store.rank() == 0) {
    if (const Status files = check_files(job); !files.ok()) verdict = files.message();
  }
  const auto agreed = store.broadcast(verdict);
  if (!agreed) return Status(Code::kUnavailable, "the ranks cannot reach each other's memory");
  return agreed->empty() ? Status() : Status(Code::kInvalidArgument, *agreed);
}

/// Opens the store that the job names and runs the job on it. Returns the exit code.
template <class Store>
int run_job(Job& job) {
  auto opened = Store::open(job);
  if (!opened.ok()) return report_failure(job, opened.status());
  Store& store = **opened;
  job.show = job.show && store.rank() == 0;
  take_interrupts();
  if (const Status status = agree(store, job); !status.ok()) return report_failure(job, status);
  if (const Status status = plan_phases(job, Store::traits(job), store.owners()); !status.ok()) {
    return report_failure(job, status);
  }
  Output output(job, Store::traits(job).way, store.ranks());
  const auto pool = workloads::make_value_pool(workloads::RecordLayout(job.spec), job.options.seed);
  std::uint64_t measured = 0;  // phases; with a warm-up the others make the same operations
  for (std::size_t i = 0; i < job.phases.size(); ++i) {
    const Phase& phase = job.phases[i];
    const std::uint64_t number = phase.warms_up() ? job.phases.size() : measured++;
    PhaseOutcome outcome = PhaseRun<Store>(store, job, phase, number, pool).run();
    outcome.forgets = Store::traits(job).forgets;
    const bool load_failed = phase.loads() && outcome.failed();
    const bool stop = load_failed || outcome.end != PhaseEnd::kCompleted;
    output.add(phase, std::move(outcome));
    if (i + 1 == job.phases.size()) continue;
    // Only rank 0 has the whole outcome; a broadcast that does not arrive is a "stop" as well.
    if (store.broadcast(stop ? "stop" : "go") != "go") {
      output.fail(load_failed ? "the run is skipped, because the load failed"
                              : "the following phases are skipped");
      break;
    }
  }
  if constexpr (requires { store.lock_report(); }) {
    std::string mine;
    for (const std::string& line : store.lock_report()) mine += line + "\n";
    for (const std::string& lines : store.gather(mine)) output.note_locks(lines);
  }
  return output.finish();
}

}  // namespace keyway::kvload
