// One thread of a phase: takes its operations from a stream and does them on a session.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "interrupt.h"
#include "job.h"
#include "keyway/locks/base/clock.h"
#include "keyway/workloads/op_stream.h"
#include "keyway/workloads/record.h"
#include "pacer.h"
#include "phase.h"

namespace keyway::kvload {

/// The work of a worker. `operations` may be kEndless.
struct WorkerPlan {
  static constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t operations = kEndless;
  std::uint64_t pregenerate_bytes = 0;
  std::uint32_t batch = 1;
  std::uint32_t sample_every = 1;
  Pacer pacer;
};

/// Not thread-safe; the references outlive it.
template <class Session>
class Worker {
 public:
  Worker(Session& session, const Phase& phase, const WorkerPlan& plan, PhaseState& state,
         WorkerSlot& slot, workloads::RunShared& shared,
         std::unique_ptr<workloads::OpStream> stream, workloads::Values values)
      : session_(session),
        spec_(phase.spec),
        load_(phase.loads()),
        ends_(phase.kind != Phase::Kind::kRun),
        plan_(plan),
        state_(state),
        slot_(slot),
        shared_(shared),
        stream_(std::move(stream)),
        values_(std::move(values)),
        intended_(spec_.interval != workloads::Interval::kOp),
        whole_writes_(spec_.write_all_fields || spec_.field_count == 1),
        record_bytes_(values_.layout().record_bytes()),
        slot_bytes_(values_.layout().slot_bytes()),
        // The readable records depend on the inserts before: one operation at a time.
        block_ops_(!load_ && spec_.share(workloads::OpKind::kInsert) > 0 ? 1 : 1024),
        until_sample_(plan.sample_every) {
    batch_keys_.reserve(plan_.batch);
    batch_values_.resize(plan_.batch);
    batch_codes_.resize(plan_.batch);
  }

  /// Makes operations ahead of the clock, all of them if they fit.
  void prepare() {
    using workloads::OpBlock;
    blocks_.emplace_back();
    const std::uint64_t per_op = sizeof(workloads::Op) + spec_.keys.max_bytes();
    if (block_ops_ == 1 || plan_.operations > plan_.pregenerate_bytes / per_op) return;
    for (std::uint64_t made = 0; made < plan_.operations && !was_interrupted();) {
      const auto wanted = std::min<std::uint64_t>(plan_.operations - made, OpBlock::kMaxOps);
      const std::size_t got = stream_->append(blocks_.back(), wanted);
      made += got;
      if (got < wanted) break;
      if (made < plan_.operations) blocks_.emplace_back();
    }
  }

  void run(std::uint64_t start_ns) {
    std::uint64_t done = 0;
    while (done < plan_.operations && !state_.stopped()) {
      if (next_ == blocks_[block_].ops.size() && !refill(plan_.operations - done)) {
        if (ends_) break;
        std::this_thread::yield();  // another thread's insert is far behind
        continue;
      }
      const workloads::OpBlock& block = blocks_[block_];
      const workloads::Op& op = block.ops[next_++];
      if (plan_.pacer.on()) {
        intended_ns_ = start_ns + plan_.pacer.due_ns(done);
        if (!wait_for_turn(state_, intended_ns_)) break;
      }
      execute(op, block.key(op));
      // Relaxed, and no read-modify-write: one writer; readers only show it.
      slot_.done.store(++done, std::memory_order_relaxed);
    }
    flush_batch();
    slot_.end_ns = steady_ns();
    slot_.trouble = session_.trouble();
    if constexpr (requires { session_.remote_work(); }) slot_.remote = session_.remote_work();
  }

 private:
  using Metric = workloads::Metric;
  using OpKind = workloads::OpKind;
  using Return = workloads::Return;

  bool refill(std::uint64_t left) {
    next_ = 0;
    if (block_ + 1 < blocks_.size()) {
      ++block_;
      return true;
    }
    flush_batch();  // its keys lie in the block
    blocks_[block_].clear();
    return stream_->append(blocks_[block_], std::min<std::uint64_t>(left, block_ops_)) > 0;
  }

  /// Whether to take the latency of the operation that comes next.
  bool sample() {
    if (plan_.sample_every <= 1) return plan_.sample_every == 1;
    if (--until_sample_ != 0) return false;
    until_sample_ = plan_.sample_every;
    return true;
  }

  /// Does `operation`, which counts as `times` operations, and measures it.
  template <class Operation>
  Return timed(Metric metric, bool take, Operation&& operation) {
    if (!take) {
      const Return result = operation();
      slot_.measured.count(metric, result);
      return result;
    }
    const std::uint64_t begin_ns = steady_ns();
    const Return result = operation();
    note(metric, result, begin_ns, steady_ns(), 1);
    slot_.measured.count(metric, result);
    return result;
  }

  void note(Metric metric, Return result, std::uint64_t begin_ns, std::uint64_t end_ns,
            std::uint64_t times) {
    slot_.measured.latency(metric, result, end_ns - begin_ns, times);
    if (!intended_) return;
    const std::uint64_t from_ns = plan_.pacer.on() ? intended_ns_ : begin_ns;
    slot_.measured.intended_latency(metric, result, end_ns - from_ns, times);
  }

  void execute(const workloads::Op& op, std::string_view key) {
    switch (op.kind()) {
      case OpKind::kRead:
        return plan_.batch > 1 ? add_to_batch(key) : count_result(read(op, key, sample()));
      case OpKind::kUpdate: return count_result(update(op, key, sample()));
      case OpKind::kInsert: return count_result(insert(op, key));
      case OpKind::kScan: return count_result(scan(op, key));
      case OpKind::kReadModifyWrite: return count_result(read_modify_write(op, key));
    }
  }

  /// Takes the result of a whole operation with all its parts.
  void count_result(Return result) { slot_.count(result); }

  Return checked(Code code, std::uint64_t bytes) const {
    if (code == Code::kOk && value_.size() != bytes) return Return::kUnexpectedState;
    return workloads::return_of(code);
  }

  Return read(const workloads::Op& op, std::string_view key, bool take) {
    const Return result = timed(Metric::kRead, take, [&] {
      if (spec_.read_all_fields) return checked(session_.get(key, value_), record_bytes_);
      const std::uint64_t offset = values_.layout().offset_of(op.argument);
      return checked(session_.get_range(key, offset, slot_bytes_, value_), slot_bytes_);
    });
    if (spec_.data_integrity) verify(op, key, result, value_);
    return result;
  }

  void verify(const workloads::Op& op, std::string_view key, Return result,
              std::string_view value) {
    timed(Metric::kVerify, plan_.sample_every != 0, [&] {
      const std::string_view found = result == Return::kOk ? value : std::string_view{};
      return spec_.read_all_fields ? values_.verify_record(key, found)
                                   : values_.verify_slot(key, op.argument, found);
    });
  }

  Return update(const workloads::Op& op, std::string_view key, bool take) {
    if (whole_writes_) {
      const std::string_view value = values_.record(key, op.value_at);
      return timed(Metric::kUpdate, take,
                   [&] { return workloads::return_of(session_.update(key, value)); });
    }
    const std::uint64_t offset = values_.layout().offset_of(op.argument);
    const std::string_view value = values_.slot(key, op.argument, op.value_at);
    return timed(Metric::kUpdate, take,
                 [&] { return workloads::return_of(session_.set_range(key, offset, value)); });
  }

  Return insert(const workloads::Op& op, std::string_view key) {
    const std::string_view value = values_.record(key, op.value_at);
    const Return result = timed(Metric::kInsert, sample(),
                                [&] { return workloads::return_of(session_.put(key, value)); });
    // A failed insert too, as in YCSB: otherwise no later record would ever be read.
    if (!load_) shared_.inserts.acknowledge(op.insert);
    if (load_ && result == workloads::return_of(Code::kOutOfSpace)) {
      slot_.error = "the store is full: give it more memory with --memory, or load fewer records";
      state_.stop();  // no later record would fit either
    }
    return result;
  }

  Return scan(const workloads::Op& op, std::string_view key) {
    return timed(Metric::kScan, sample(), [&] {
      std::uint64_t records = 0;
      bool as_expected = true;
      const Code code =
          session_.scan(key, op.argument, [&](std::string_view, std::string_view value) {
            value_.assign(value);
            as_expected = as_expected && value_.size() == record_bytes_;
            ++records;
          });
      if (code != Code::kOk) return workloads::return_of(code);
      // The start key is there, so a scan from it finds at least that.
      const bool right = as_expected && records > 0 && records <= op.argument;
      return right ? Return::kOk : Return::kUnexpectedState;
    });
  }

  Return read_modify_write(const workloads::Op& op, std::string_view key) {
    const bool take = sample();
    return timed(Metric::kReadModifyWrite, take, [&] {
      const Return result = read(op, key, take);
      // As YCSB, which updates in any case: a cache that has lost a record gets it again.
      const bool writes = result == Return::kOk || result == workloads::return_of(Code::kNotFound);
      const Return updated = writes ? update(op, key, take) : result;
      return result == Return::kOk ? updated : result;
    });
  }

  void add_to_batch(std::string_view key) {
    batch_keys_.push_back(key);
    if (batch_keys_.size() == plan_.batch) flush_batch();
  }

  void flush_batch() {
    const std::size_t n = batch_keys_.size();
    if (n == 0) return;
    const bool take = sample();
    const std::uint64_t begin_ns = take ? steady_ns() : 0;
    session_.get_many(std::span<const std::string_view>(batch_keys_),
                      std::span<std::string>(batch_values_).first(n),
                      std::span<Code>(batch_codes_).first(n));
    const std::uint64_t end_ns = take ? steady_ns() : 0;
    for (std::size_t i = 0; i < n; ++i) {
      value_.swap(batch_values_[i]);
      const Return result = checked(batch_codes_[i], record_bytes_);
      slot_.measured.count(Metric::kRead, result);
      count_result(result);
      if (take) note(Metric::kRead, result, begin_ns, end_ns, 1);
      if (spec_.data_integrity) verify({}, batch_keys_[i], result, value_);
      value_.swap(batch_values_[i]);
    }
    batch_keys_.clear();
  }

  Session& session_;
  const workloads::Spec& spec_;
  const bool load_;
  const bool ends_;  // after the last record
  const WorkerPlan& plan_;
  PhaseState& state_;
  WorkerSlot& slot_;
  workloads::RunShared& shared_;
  std::unique_ptr<workloads::OpStream> stream_;
  workloads::Values values_;
  const bool intended_;
  const bool whole_writes_;
  const std::uint64_t record_bytes_;
  const std::uint64_t slot_bytes_;
  const std::uint64_t block_ops_;

  std::vector<workloads::OpBlock> blocks_;  // made ahead; the last is refilled
  std::size_t block_ = 0;
  std::size_t next_ = 0;
  std::uint32_t until_sample_;
  std::uint64_t intended_ns_ = 0;
  std::string value_;
  std::vector<std::string_view> batch_keys_;
  std::vector<std::string> batch_values_;
  std::vector<Code> batch_codes_;
};

}  // namespace keyway::kvload
