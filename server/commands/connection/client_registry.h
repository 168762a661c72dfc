// ClientRegistry: the connected clients, for CLIENT LIST and CLIENT KILL.
//
// *What.* Each connection has a card. Each field that changes with every request is an atomic, so
// that a request pays a store or two, and no thread waits.
// *Thread safety.* Any thread may call the registry. A card's atomics are written by its
// connection's thread, its name by that thread through the registry; the rest is set before it is
// added.
// *Invariants.* G1: a card is in the registry from the time when its worker can see the connection
// until the connection has gone; a holder of the card may read it longer.
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

struct ClientCard {
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
  void add(std::shared_ptr<ClientCard> card);
  void remove(std::uint64_t id);
  void rename(ClientCard& card, std::string_view name);
  /// Calls visit(card) for each, in the order of their ids, under the registry's lock.
  template <class Visit>
  void each(Visit&& visit) const {
    const MutexLock held(mutex_);
    for (const auto& [id, card] : cards_) visit(*card);
  }
  /// Those that `takes(card)` holds for.
  template <class Takes>
  std::vector<std::shared_ptr<ClientCard>> those(Takes&& takes) const {
    std::vector<std::shared_ptr<ClientCard>> found;
    const MutexLock held(mutex_);
    for (const auto& [id, card] : cards_) {
      if (takes(*card)) found.push_back(card);
    }
    return found;
  }

 private:
  mutable Mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<ClientCard>> cards_
      KW_GUARDED_BY(mutex_);  // as their names
};

}  // namespace keyway::server
