// ClientRegistry: the connected clients, for CLIENT LIST and CLIENT KILL.
//
// *What.* Each connection has a ClientInfo. Each field that changes with every request is an
// atomic, so that a request pays a store or two, and no thread waits.
// *Thread safety.* Any thread may call the registry. The connection's thread writes the atomics of
// its info, and the name through the registry; the rest is set before the info is added.
// *Invariants.* G1: an info is in the registry from the time when its worker can see the connection
// until the connection has gone; a holder of the info may read it longer.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "keyway/kvstore/resp/reply_writer.h"
#include "keyway/locks/base/mutex.h"

namespace keyway::server {

struct Command;
class Waker;

/// Whether a client's request waits for a named lock; and which CLIENT UNBLOCK has ended that.
enum class BlockState : std::uint8_t { kNone, kWaits, kTimedOut, kUnblocked, kPaused };

struct ClientInfo {
  std::uint64_t id = 0;
  std::string address, local_address;
  int descriptor = -1;
  std::uint64_t since_ms = 0;   // wall clock
  std::function<void()> close;  // may be called by any thread, also when the connection has gone

  Waker* waker = nullptr;  // its worker

  // relaxed, all: each is a figure by itself; a command's row is constant.
  std::atomic<const Command*> last{nullptr};
  std::atomic<std::uint64_t> seen_ns{0};  // when it last sent something, by steady_ns()
  std::atomic<resp::Version> version{resp::Version::kResp2};
  std::atomic<BlockState> block{BlockState::kNone};                // CLIENT UNBLOCK changes it, too
  std::atomic<std::uint64_t> waiting_bytes{0}, waiting_pieces{0};  // waiting replies

  /// The connection's name, which the registry guards.
  std::string name;
};

class ClientRegistry {
 public:
  void add(std::shared_ptr<ClientInfo> info);
  void remove(std::uint64_t id);
  void rename(ClientInfo& info, std::string_view name);
  /// Calls visit(info) for each, in the order of their ids, under the registry's lock.
  template <class Visit>
  void each(Visit&& visit) const {
    const MutexLock held(mutex_);
    for (const auto& [id, info] : clients_) visit(*info);
  }
  /// Those that `takes(info)` holds for.
  template <class Takes>
  std::vector<std::shared_ptr<ClientInfo>> those(Takes&& takes) const {
    std::vector<std::shared_ptr<ClientInfo>> found;
    const MutexLock held(mutex_);
    for (const auto& [id, info] : clients_) {
      if (takes(*info)) found.push_back(info);
    }
    return found;
  }

 private:
  mutable Mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<ClientInfo>> clients_
      KW_GUARDED_BY(mutex_);  // as their names
};

}  // namespace keyway::server
