// MpiInterface: the one place through which this process enters MPI.
//
// *What.* Owns the library's life (initialises MPI if it is not initialised, and only then
// finalises it) and offers the fabric's operations on it: one-sided operations on a window, flush,
// progress, and call() for everything else. An error of an operation ends the job with a message
// that names peer, operation and address.
//
// *Thread safety.* Every method may be called by any thread. MPI is initialised with
// MPI_THREAD_SERIALIZED; one mutex makes the calls serial. A program that calls MPI itself while
// our agents run must do so inside call(). This class is the seam at which the thread-safety models
// of design section 7 replace the mutex.
//
// *Invariants.*
//   M1  MPI is entered only by a thread that holds the mutex, and no thread waits for another rank
//       with the mutex held for longer than kLooksWhileHeld polls, except inside the collectives
//       that open and close a fabric, and in MPI_Win_flush: with Open MPI always, with MPICH only
//       for a word whose answer must have come, because one to a later question has.
//   M2  A result slot is read only with the mutex held, or after complete(): the library writes it
//       inside an MPI call of some thread of this process.
//
// *Source.* Design section 4, rule 4.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/mutex.h"
#include "keyway/locks/base/status.h"
#include "keyway/locks/fabric/address.h"
#include "keyway/locks/fabric/gather.h"
#include "keyway/locks/fabric/mpi/joined_message.h"
#include "keyway/locks/fabric/mpi/mpi_window.h"
#include "keyway/locks/fabric/mpi/rank_answers.h"
#include "keyway/locks/fabric/mpi/rank_service.h"
#include "keyway/locks/fabric/mpi/scattered_type.h"
#include "keyway/locks/fabric/mpi/service_pause.h"

namespace keyway::fabric {

/// The operations of an agent to one rank that are not known to be complete.
struct InFlight {
  static constexpr std::size_t kReapAt = 16;

  /// A load of a word of the rank: its answer shows that the rank is there.
  struct Question {
    bool asked = false;
    bool is_latest = false;  // nothing was posted after it
    std::uint64_t operand = 0;
    std::uint64_t answer = 0;  // unset() until it comes
  };

  // Each was unset() before the operation was posted that overwrites it.
  std::vector<const std::uint64_t*> results;
  std::vector<MPI_Request> requests;  // reads, and writes that the target answers
  std::vector<std::unique_ptr<JoinedMessage>> joined;
  std::size_t handed_out = 0;  // the first of these: their operations have results
  Question question;           // none after complete()
  // At this number of requests, a write first forgets those that are complete: an agent that only
  // writes, and never flushes, keeps a few.
  std::size_t reap_at = kReapAt;
  std::uint64_t flushes = 0;  // calls of MPI_Win_flush
};

/// How an agent waits until its operations are complete.
struct CompletionWait {
  bool crowded = false;                  // as in mpi_wait.h
  RankAnswers* answers = nullptr;        // learns how the rank answers; never null
  std::uint64_t posted_ns = 0;           // when the first of the operations was posted, or later
  const RankService* service = nullptr;  // runs between looks
  Deadline deadline = Deadline::never();
};

class MpiInterface {
 public:
  /// The process's interface; made by the first caller, which initialises MPI unless the program
  /// has. Ends when its last holder releases it; MPI cannot be initialised a second time, so a
  /// program that opens several fabrics one after another holds one of these for its life. Fails if
  /// the wrong MPI runs, or MPI was initialised below MPI_THREAD_SERIALIZED.
  static Result<std::shared_ptr<MpiInterface>> acquire();
  /// Those that there are because of MPI (arrival_watch.h), as far as is known.
  const std::vector<int>& event_sets() const { return event_sets_; }
  MpiInterface(const MpiInterface&) = delete;
  MpiInterface& operator=(const MpiInterface&) = delete;
  ~MpiInterface();

  /// Runs function() as the only thread inside MPI. It may wait for other ranks only by a blocking
  /// MPI call that all of them make. No service runs meanwhile: it would stay in the middle of what
  /// another rank has asked for, and that rank could not take it back.
  template <class Function>
  auto call(Function&& function) {
    const ServicePause::Hold no_service(service_pause_);
    return briefly(function);
  }
  /// The same for a function that waits for nobody.
  template <class Function>
  auto briefly(Function&& function) {
    const MutexLock guard(mutex_);
    count_entry();
    return function();
  }
  /// What keeps services out of call(), for those services.
  ServicePause& service_pause() { return service_pause_; }

  /// Starts an operation. `operand` and `*result` must remain valid until a flush of a.rank().
  void post_word(const MpiWindow& window, WordOp op, Address a, const std::uint64_t* operand,
                 std::uint64_t* result);
  void post_compare_swap(const MpiWindow& window, Address a, const std::uint64_t* expected,
                         const std::uint64_t* desired, std::uint64_t* result);
  /// `in_flight` gets what shows that the bytes have come.
  void post_get(const MpiWindow& window, Address a, void* out, std::uint64_t bytes,
                InFlight& in_flight);
  /// Parts of a rank, which do not overlap, in the order of their offsets, as one message. `bytes`:
  /// of all of them. Not with Open MPI.
  void post_gather(const MpiWindow& window, std::uint32_t rank, std::span<const Part> parts,
                   void* out, std::uint64_t bytes, InFlight& in_flight);
  /// The message stays where it is until complete() has found it complete. Not with Open MPI.
  void post_joined(const MpiWindow& window, std::uint32_t rank, JoinedMessage& message);
  /// `in` must remain valid, and the same, until a flush of a.rank().
  void post_put(const MpiWindow& window, Address a, const void* in, std::uint64_t bytes,
                InFlight& in_flight);

  /// Waits until all of these are complete at `rank`, and empties them. Until then other threads
  /// may enter MPI, and siblings of a fiber run. False if the deadline has come first, which Open
  /// MPI does not look at.
  bool complete(const MpiWindow& window, std::uint32_t rank, InFlight& in_flight,
                const CompletionWait& wait);

  /// Lets MPI work once, unless another thread does so at this moment.
  void progress() {
    if (!mutex_.try_lock()) return;
    const MutexLock guard(mutex_, std::adopt_lock);
    look();
  }
  /// progress(), and a memory barrier in MPI's terms (MPI_Win_sync).
  void progress(const MpiWindow& window);
  /// How often this process has entered MPI.
  std::uint64_t entries() const {
    return entries_.load(std::memory_order_relaxed);  // a hint, publishes nothing
  }
  /// A value that no operation is likely to return: see InFlight.
  std::uint64_t unset() const { return unset_; }

  /// Says why on stderr and takes the whole job down. Safe with and without the mutex.
  [[noreturn]] static void stop_job(std::string_view why);
  /// stop_job calls action() before the job ends, e.g. so that peers do not report our end as
  /// well. `owner` takes it back with an empty one.
  static void on_stop(const void* owner, std::function<void()> action);

 private:
  using Came = RankAnswers::Came;
  // Polls of a result, each with one MPI_Iprobe, before the mutex is released for a moment.
  static constexpr int kLooksWhileHeld = 64;
  // The same where other ranks wait for this one's service as well.
  static constexpr int kLooksWhileServing = 8;
  // A result that has not come after this long may be one that equals unset(): a flush decides, if
  // the rank answers.
  static constexpr std::uint64_t kPatienceNs = 20'000'000;

  MpiInterface(bool initialised_here, std::vector<int> event_sets);
  void count_entry() KW_REQUIRES(mutex_) {
    entries_.store(entries_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void look() KW_REQUIRES(mutex_);
  /// Whether the request is complete, and then forgotten.
  bool done(std::uint32_t rank, MPI_Request& request) KW_REQUIRES(mutex_);
  void reap(std::uint32_t rank, InFlight& in_flight) KW_REQUIRES(mutex_);
  bool arrived(std::uint32_t rank, InFlight& in_flight) KW_REQUIRES(mutex_);
  bool look_for(std::uint32_t rank, InFlight& in_flight, int looks) KW_REQUIRES(mutex_);
  bool flush(const MpiWindow& window, std::uint32_t rank, InFlight& in_flight) KW_REQUIRES(mutex_);
  bool try_complete(const MpiWindow& window, std::uint32_t rank, InFlight& in_flight, int looks,
                    bool patient) KW_REQUIRES(mutex_);
  void ask(const MpiWindow& window, std::uint32_t rank, InFlight::Question& question)
      KW_REQUIRES(mutex_);
  bool is_answered(const InFlight::Question& question) const KW_REQUIRES(mutex_) {
    return question.answer != unset_;
  }
  template <class Post>
  void with_places(const MpiWindow& window, std::uint32_t rank, std::span<const Part> parts,
                   MPI_Datatype unit, Post&& post) KW_REQUIRES(mutex_);
  void start(const MpiWindow& window, WordOp op, Address a, const std::uint64_t* operand,
             std::uint64_t* result) KW_REQUIRES(mutex_);
  void check(int code, std::string_view operation, std::uint32_t rank, std::uint64_t offset) {
    if (code != MPI_SUCCESS) failed(code, operation, rank, offset);
  }
  [[noreturn]] static void failed(int code, std::string_view operation, std::uint32_t rank,
                                  std::uint64_t offset);

  ServicePause service_pause_;
  Mutex mutex_;  // its holder may call MPI
  std::atomic<std::uint64_t> entries_{0};
  std::uint64_t unset_;
  bool initialised_here_;
  const std::vector<int> event_sets_;
  ScatteredType scattered_ KW_GUARDED_BY(mutex_);
};

/// A sentence for an MPI error code, e.g. "MPI_Win_create failed: ...".
Status mpi_status(int code, std::string_view operation);
/// Stops the job with that sentence, if it is an error.
inline void require_mpi(int code, std::string_view operation) {
  if (code != MPI_SUCCESS) MpiInterface::stop_job(mpi_status(code, operation).message());
}

}  // namespace keyway::fabric
