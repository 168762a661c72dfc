#include "keyway/locks/fabric/mpi/arrival_watch.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>

namespace keyway::fabric {
namespace {

std::vector<pollfd> to_poll(const std::vector<int>& sets) {
  std::vector<pollfd> polled;
  for (const int set : sets) polled.push_back({.fd = set, .events = POLLIN, .revents = 0});
  return polled;
}

bool is_readable(const pollfd& each) { return (each.revents & POLLIN) != 0; }

bool become_readable(std::span<pollfd> polled, std::chrono::milliseconds patience) {
  int ready = 0;
  do {  // a signal ends it, too
    ready = poll(polled.data(), polled.size(), static_cast<int>(patience.count()));
  } while (ready < 0 && errno == EINTR);
  return ready > 0 && std::any_of(polled.begin(), polled.end(), is_readable);
}

}  // namespace

std::vector<int> event_sets() {
  std::vector<int> found;
  std::error_code error;  // without /proc there are none
  std::filesystem::directory_iterator entry("/proc/self/fd", error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::error_code closed;
    if (std::filesystem::read_symlink(entry->path(), closed) == "anon_inode:[eventpoll]") {
      found.push_back(std::stoi(entry->path().filename()));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool announces_messages(MPI_Comm job, MPI_Comm host, const std::vector<int>& sets,
                        std::chrono::milliseconds patience) {
  int rank = 0;
  int ranks = 0;
  int neighbours = 0;
  MPI_Comm_rank(job, &rank);
  MPI_Comm_size(job, &ranks);
  MPI_Comm_size(host, &neighbours);
  int announced = ranks > 1 && neighbours == 1 && !sets.empty() ? 1 : 0;
  const auto agree = [&] {
    MPI_Allreduce(MPI_IN_PLACE, &announced, 1, MPI_INT, MPI_MIN, job);
    return announced != 0;
  };
  if (!agree()) return false;
  const int next = (rank + 1) % ranks;
  const int before = (rank + ranks - 1) % ranks;
  // Of two neighbours one sends and the other waits: first the even ranks send, then the odd ones,
  // and in a ring of an odd number the last one.
  const auto turn_of = [&](int sender) {
    return sender == ranks - 1 && ranks % 2 == 1 ? 2 : sender % 2;
  };
  std::vector<pollfd> polled = to_poll(sets);
  char byte = 0;
  const auto send = [&](int to) { MPI_Send(&byte, 1, MPI_BYTE, to, 0, job); };
  const auto receive = [&](int from) {
    MPI_Recv(&byte, 1, MPI_BYTE, from, 0, job, MPI_STATUS_IGNORE);
  };
  for (int turn = 0; turn < 3; ++turn) {
    for (const bool tries : {false, true}) {  // before the first message, the two have to connect
      if (turn_of(rank) == turn) {
        receive(next);
        send(next);
      } else if (turn_of(before) == turn) {
        send(before);
        if (tries && !become_readable(polled, patience)) announced = 0;
        receive(before);
      }
    }
  }
  return agree();
}

ArrivalWatch::ArrivalWatch(const std::vector<int>& sets) : polled_(to_poll(sets)) {
  // -1, if the process has too many: poll ignores it, and a wait ends when its time does.
  const int wakes = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  polled_.insert(polled_.begin(), {.fd = wakes, .events = POLLIN, .revents = 0});
}

ArrivalWatch::~ArrivalWatch() { close(polled_.front().fd); }

void ArrivalWatch::wake() { eventfd_write(polled_.front().fd, 1); }

bool ArrivalWatch::arrived() {
  return become_readable(std::span(polled_).subspan(1), std::chrono::milliseconds(0));
}

ArrivalWatch::End ArrivalWatch::wait(std::chrono::nanoseconds time, bool messages) {
  const timespec at_most{.tv_sec = time.count() / 1'000'000'000,
                         .tv_nsec = time.count() % 1'000'000'000};
  if (ppoll(polled_.data(), messages ? polled_.size() : 1, &at_most, nullptr) <= 0) {
    return End::kTime;
  }
  if (!is_readable(polled_.front())) return End::kMessage;
  eventfd_t wakes = 0;
  eventfd_read(polled_.front().fd, &wakes);
  return End::kWoken;
}

}  // namespace keyway::fabric
