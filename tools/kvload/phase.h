// The threads of one phase: how they start together, how they are stopped, what each did.
//
// *What*. Workers say when they are ready; the main thread then starts all at once, watches, and
// may stop them; each worker leaves its measurements in its own slot.
// *Thread safety*. PhaseState may be used by all threads. A slot is written by its worker; others
// read `done` and the histograms meanwhile, and the rest after the worker has finished.
// *Invariants*. I1: no worker passes wait_for_start() before start(). I2: writes of a worker before
// finished() are visible after wait_until_finished() has returned true.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "keyway/kvstore/types/types.h"
#include "keyway/locks/base/mutex.h"
#include "keyway/workloads/measurements.h"

namespace keyway::kvload {

/// Why a phase ended; the greater one counts where ranks differ.
enum class PhaseEnd : std::uint8_t {
  kCompleted,    // all operations done, or the time limit reached
  kInterrupted,  // by a signal, or because another rank asked
  kGaveUp,       // every operation failed for --give-up-after
};

struct alignas(64) WorkerSlot {
  explicit WorkerSlot(const workloads::Spec& spec) : measured(spec) {}

  /// Worker: how an operation ended.
  void count(workloads::Return result) {
    raise(workloads::is_answer(result) ? served : unserved);
    if (result != workloads::Return::kOk) raise(failed);
  }

  // Operations so far. Relaxed: people and the watch read the counts, which publish nothing.
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> failed{0};    // did not do what was asked
  std::atomic<std::uint64_t> served{0};    // the store answered
  std::atomic<std::uint64_t> unserved{0};  // it did not
  std::uint64_t end_ns = 0;
  workloads::Measurements measured;
  store::RemoteWork remote;
  std::string error;    // why it could not take part
  std::string trouble;  // its first failed operation, in words

 private:
  static void raise(std::atomic<std::uint64_t>& word) {
    // Relaxed, and no read-modify-write: one writer.
    word.store(word.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};
using WorkerSlots = std::vector<std::unique_ptr<WorkerSlot>>;

class PhaseState {
 public:
  explicit PhaseState(std::uint32_t workers) : workers_(workers) {}

  /// Worker: says that it is ready, waits for the start, and returns when that was, in steady ns.
  std::uint64_t wait_for_start();
  /// Worker: has done its last operation.
  void finished();
  /// Worker: waits until `steady_ns` or until the phase is stopped; false when stopped.
  bool wait_until(std::uint64_t steady_ns);
  // Relaxed: a worker may do an operation more.
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  void wait_until_ready();
  void start();
  void stop();
  /// Whether all workers have finished; waits for it until `steady_ns`.
  bool wait_until_finished(std::uint64_t steady_ns);
  std::uint64_t start_ns() const { return start_ns_; }

 private:
  const std::uint32_t workers_;
  Mutex mutex_;
  CondVar changed_;
  std::uint32_t ready_ KW_GUARDED_BY(mutex_) = 0;
  std::uint32_t finished_ KW_GUARDED_BY(mutex_) = 0;
  bool started_ KW_GUARDED_BY(mutex_) = false;
  std::uint64_t start_ns_ = 0;
  std::atomic<bool> stopped_{false};
};

}  // namespace keyway::kvload
