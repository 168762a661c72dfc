#include "keyway/locks/fabric/mpi/mpi_interface.h"

#include <fmt/core.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/rng.h"
#include "keyway/locks/fabric/fiber_time.h"
#include "keyway/locks/fabric/mpi/arrival_watch.h"
#include "keyway/locks/fabric/mpi/mpi_last_barrier.h"
#include "keyway/locks/fabric/mpi/mpi_library.h"
#include "keyway/locks/fabric/mpi/mpi_wait.h"

namespace keyway::fabric {
namespace {

std::string error_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) return fmt::format("{}", code);
  std::string line(text.data(), static_cast<std::size_t>(length));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

// Process-wide, as MPI itself is: the interface while it has a holder, and the functions to call
// before the job stops. Never destroyed: a program may hold a fabric, or a store, in a global
// variable, which ends later than a static variable of a function.
struct Process {
  Mutex mutex;
  std::weak_ptr<MpiInterface> interface KW_GUARDED_BY(mutex);
  std::map<const void*, std::function<void()>> on_stop KW_GUARDED_BY(mutex);
};
Process& process() {
  static Process* const the_process = std::make_unique<Process>().release();
  return *the_process;
}

// Waits until the launcher has read our output from its pipe. Hydra drops the output if it learns
// of MPI_Abort first (measured). Does not wait for a terminal or a file, and not long for a
// launcher that does not read.
void wait_until_read(int fd) {
  struct stat kind {};
  if (fstat(fd, &kind) != 0 || !S_ISFIFO(kind.st_mode)) return;
  constexpr std::uint64_t kLongestNs = 1'000'000'000;
  const std::uint64_t begun = steady_ns();
  for (int unread = 1; unread > 0 && steady_ns() - begun < kLongestNs;) {
    if (ioctl(fd, FIONREAD, &unread) != 0) return;
    sched_yield();
  }
}

/// `sets`: those that there are afterwards, and were not before. None if the program initialised
/// MPI: its own may be among them.
Status initialise(bool& initialised_here, std::vector<int>& sets) {
  int initialised = 0;
  int finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  if (finalised != 0) {
    return {Code::kUnavailable,
            "MPI has been finalised and cannot start again; hold one MpiInterface for as long as "
            "the program opens stores"};
  }
  initialised_here = initialised == 0;
  int level = 0;
  std::vector<int> others;
  if (initialised_here) {
    if (Status status = check_launcher(); !status.ok()) return status;
    others = event_sets();
    const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
    if (code != MPI_SUCCESS) return mpi_status(code, "MPI_Init_thread");
  } else {
    MPI_Query_thread(&level);
  }
  Status status = check_running_library();
  if (status.ok() && level < MPI_THREAD_SERIALIZED) {
    status = {Code::kUnavailable,
              "MPI runs below MPI_THREAD_SERIALIZED; initialise it with MPI_Init_thread("
              "..., MPI_THREAD_SERIALIZED, ...)"};
  }
  if (!status.ok() && initialised_here) finalise_mpi();
  if (!status.ok() || !initialised_here || kOpenMpi) return status;
  sets = event_sets();
  std::erase_if(sets,
                [&](int set) { return std::binary_search(others.begin(), others.end(), set); });
  return status;
}

}  // namespace

Status mpi_status(int code, std::string_view operation) {
  if (code == MPI_SUCCESS) return {};
  return {Code::kUnavailable, fmt::format("{} failed: {}", operation, error_text(code))};
}

Result<std::shared_ptr<MpiInterface>> MpiInterface::acquire() {
  Process& here = process();
  const MutexLock guard(here.mutex);
  if (auto existing = here.interface.lock()) return existing;
  bool initialised_here = false;
  std::vector<int> sets;
  if (Status status = initialise(initialised_here, sets); !status.ok()) return status;
  struct Public : MpiInterface {
    Public(bool initialised, std::vector<int> sets) : MpiInterface(initialised, std::move(sets)) {}
  };
  std::shared_ptr<MpiInterface> made = std::make_shared<Public>(initialised_here, std::move(sets));
  here.interface = made;
  return made;
}

MpiInterface::MpiInterface(bool initialised_here, std::vector<int> event_sets)
    : initialised_here_(initialised_here), event_sets_(std::move(event_sets)) {
  std::uint64_t seed = steady_ns() ^ static_cast<std::uint64_t>(getpid()) << 32;
  unset_ = splitmix64(seed);
}

MpiInterface::~MpiInterface() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (!initialised_here_ || finalised != 0) return;
  finalise_mpi();
}

void MpiInterface::look() {
  int there = 0;
  // On the world: a probe of MPI_COMM_SELF returns without any progress in MPICH 4.0 (measured).
  // The tag is the largest that every MPI has, so that no message is likely to match.
  constexpr int kNobodysTag = 32767;
  check(MPI_Iprobe(MPI_ANY_SOURCE, kNobodysTag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE),
        "MPI_Iprobe", 0, 0);
}

bool MpiInterface::done(std::uint32_t rank, MPI_Request& request) {
  int flag = 0;
  check(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), "MPI_Test", rank, 0);
  return flag != 0;
}

void MpiInterface::reap(std::uint32_t rank, InFlight& in_flight) {
  auto& requests = in_flight.requests;
  for (std::size_t i = requests.size(); i-- > 0;) {
    if (!done(rank, requests[i])) continue;
    std::swap(requests[i], requests.back());
    requests.pop_back();
  }
  in_flight.reap_at = std::max(InFlight::kReapAt, 2 * in_flight.requests.size());
}

bool MpiInterface::arrived(std::uint32_t rank, InFlight& in_flight) {
  auto& results = in_flight.results;
  auto& requests = in_flight.requests;
  const auto& joined = in_flight.joined;
  for (; in_flight.handed_out < joined.size(); ++in_flight.handed_out) {
    JoinedMessage& message = *joined[in_flight.handed_out];
    if (!done(rank, message.request())) return false;
    message.hand_out();
  }
  for (; !requests.empty(); requests.pop_back()) {
    if (!done(rank, requests.back())) return false;
  }
  in_flight.reap_at = InFlight::kReapAt;
  while (!results.empty() && *results.back() != unset_) results.pop_back();
  if (!results.empty()) return false;
  if (in_flight.question.asked && !is_answered(in_flight.question)) return false;
  in_flight.question.asked = false;
  return true;
}

bool MpiInterface::look_for(std::uint32_t rank, InFlight& in_flight, int looks) {
  for (int i = 0; i < looks; ++i) {
    look();
    if (arrived(rank, in_flight)) return true;
  }
  return false;
}

void MpiInterface::ask(const MpiWindow& window, std::uint32_t rank, InFlight::Question& question) {
  if (question.asked && (question.is_latest || !is_answered(question))) return;
  question.asked = question.is_latest = true;
  question.answer = unset_;
  start(window, WordOp::kLoad, Address(rank, 0), &question.operand, &question.answer);
}

bool MpiInterface::flush(const MpiWindow& window, std::uint32_t rank, InFlight& in_flight) {
  check(MPI_Win_flush(static_cast<int>(rank), window.handle), "MPI_Win_flush", rank, 0);
  ++in_flight.flushes;
  in_flight.results.clear();
  return arrived(rank, in_flight);
}

/// One part of complete(). Without patience, a result that equals unset() is found by a flush.
bool MpiInterface::try_complete(const MpiWindow& window, std::uint32_t rank, InFlight& in_flight,
                                int looks, bool patient) {
  // Open MPI may hold an operation back until the flush, so waiting for its result first is
  // useless; and its flush yields the processor itself if there are more ranks than processors.
  if constexpr (kOpenMpi) return flush(window, rank, in_flight);
  if (!patient) ask(window, rank, in_flight.question);
  if (look_for(rank, in_flight, looks)) return true;
  const bool words_are_missing = in_flight.handed_out == in_flight.joined.size() &&
                                 in_flight.requests.empty() && !in_flight.results.empty();
  const InFlight::Question& question = in_flight.question;
  return words_are_missing && question.asked && question.is_latest && is_answered(question) &&
         flush(window, rank, in_flight);
}

bool MpiInterface::complete(const MpiWindow& window, std::uint32_t rank, InFlight& in_flight,
                            const CompletionWait& wait) {
  const std::uint64_t begun = steady_ns();
  bool waits = false;
  const auto completed = [&](int looks, bool patient) {
    bool here = false;  // before a look
    {
      const MutexLock guard(mutex_);
      count_entry();
      here = !kOpenMpi && arrived(rank, in_flight);
      if (!here && !try_complete(window, rank, in_flight, looks, patient)) return false;
    }
    const bool waited = waits || !here;
    if (waited) wait.answers->answered(rank, begun, here ? Came::kMeanwhile : Came::kNow);
    if (!waited) wait.answers->found_answered(rank, wait.posted_ns);
    return true;
  };
  const bool serves = wait.service != nullptr && wait.service->active();
  if (serves) wait.service->run();
  // A fiber's siblings look, too, and each look drives MPI for all of them.
  const int looks = this_fiber::active() ? 1 : serves ? kLooksWhileServing : kLooksWhileHeld;
  in_flight.question.is_latest = false;
  if (completed(looks, true)) return true;
  const this_fiber::NetworkWait network;
  waits = true;
  std::uint64_t now = steady_ns();
  const std::uint64_t until = wait.deadline.started(begun).absolute_ns();
  for (Turns turns(wait.crowded, now);; now = steady_ns()) {
    if (serves) wait.service->run();
    turns.look(now);
    if (completed(looks, now < begun + kPatienceNs)) return true;
    if (now >= begun + kPatienceNs) wait.answers->waits_on(rank, begun, now);
    if (now < until) continue;
    if (until > begun) wait.answers->unanswered(rank, begun, now);
    return false;
  }
}

void MpiInterface::progress(const MpiWindow& window) {
  if (!mutex_.try_lock()) return;
  const MutexLock guard(mutex_, std::adopt_lock);
  count_entry();
  look();
  check(MPI_Win_sync(window.handle), "MPI_Win_sync", 0, 0);
}

void MpiInterface::failed(int code, std::string_view operation, std::uint32_t rank,
                          std::uint64_t offset) {
  stop_job(fmt::format("{} on rank {} at offset {} failed: {}", operation, rank, offset,
                       error_text(code)));
}

void MpiInterface::on_stop(const void* owner, std::function<void()> action) {
  Process& here = process();
  const MutexLock guard(here.mutex);
  here.on_stop.erase(owner);
  if (action) here.on_stop[owner] = std::move(action);
}

void MpiInterface::stop_job(std::string_view why) {
  // If MPI_Abort, or a lock, waits for a thread that is stuck inside MPI, the alarm ends us.
  constexpr unsigned kAbortPatienceSeconds = 5;
  alarm(kAbortPatienceSeconds);
  // First of all, because a launcher that has seen a death may kill us at any moment, and because a
  // stream or the mutex below may be held for long. One write, so that lines of several ranks do
  // not mix; if it fails, nothing can be done.
  const std::string line = fmt::format("keyway: {}; stopping the job\n", why);
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
  {
    Process& here = process();
    const MutexLock guard(here.mutex);
    for (auto& [owner, action] : here.on_stop) action();
  }
  std::fflush(nullptr);
  wait_until_read(STDERR_FILENO);
  MPI_Abort(MPI_COMM_WORLD, 1);
  _exit(1);
}

}  // namespace keyway::fabric
