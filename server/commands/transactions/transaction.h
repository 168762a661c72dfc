// Transaction: the commands that a connection has queued since MULTI, and the keys that it watches.
//
// *What.* A connection has one from its first WATCH or MULTI on, until EXEC, DISCARD, UNWATCH,
// RESET or its end. Queued words are copies, in one piece of memory. *Thread safety.* One
// connection's. *Invariants.*
//   X3  What it holds is bounded: bytes() never exceeds the limit that is given to add() and
//       watch().
//   X4  A watched key that any client has changed since, on any rank, has another version (K6
//       of the store); so EXEC, which compares versions with its keys locked, cannot miss a change.
// *Source.* Redis 7.0, multi.c.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/kvstore/types/types.h"

namespace keyway::server {

struct Command;

class Transaction {
 public:
  using Watched = std::map<std::string, store::KeyVersion, std::less<>>;
  struct Queued {
    const Command* command;
    std::span<const std::string_view> words;
  };

  /// After MULTI: commands are queued.
  bool is_open() const { return open_; }
  void open() { open_ = true; }
  /// A command could not be queued: EXEC will refuse them all.
  void mark_aborted() { aborted_ = true; }
  bool is_aborted() const { return aborted_; }
  /// EXEC runs what is queued.
  void begin(const Command& exec) { executed_by_ = &exec; }
  /// Null until then.
  const Command* executed_by() const { return executed_by_; }

  /// Queues a command. False, and nothing is queued, where that takes more than `limit` bytes.
  bool add(const Command& command, std::span<const std::string_view> words, std::uint64_t limit);
  std::size_t size() const { return commands_.size(); }
  /// All that is queued, in its order; valid until the next call.
  std::span<const Queued> queued();

  bool watches(std::string_view key) const { return watched_.contains(key); }
  /// False, and nothing is kept, where that takes more than `limit` bytes.
  bool watch(std::string_view key, const store::KeyVersion& version, std::uint64_t limit);
  const Watched& watched() const { return watched_; }

  /// The approximate memory of all of it.
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Place {
    const Command* command;
    std::size_t words;
  };

  bool take(std::uint64_t bytes, std::uint64_t limit);

  std::string text_;               // the words, one after the other
  std::vector<std::size_t> ends_;  // ends of the words in it
  std::vector<Place> commands_;
  std::vector<std::string_view> words_;  // words of queued()
  std::vector<Queued> queued_;
  Watched watched_;
  std::uint64_t bytes_ = 0;
  const Command* executed_by_ = nullptr;
  bool open_ = false;
  bool aborted_ = false;
};

}  // namespace keyway::server
