// Batch: requests of one client that are executed one after the other.
//
// *What.* The words of a pipeline's received requests, up to a bound. Their commands are looked up
// once, and the memory of their keys is prefetched before the first of them runs: so the misses of
// all overlap.
// *Thread safety.* One fiber's.
// *Invariants.*
//   T1  A request that may change the meaning of the next one (whether the client is trusted,
//       whether it continues at all) is the last of its batch.
//   T2  What a batch keeps from one use to the next is bounded.
// *Source.* Design section 7: prefetch, then execute.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "keyway/server/commands/engine/execute.h"

namespace keyway::server {

class Batch {
 public:
  struct Request {
    std::span<const std::string_view> words;
    const Command* command;  // null: the first word names none
    std::size_t end;         // as given to add()
  };

  void clear();
  /// Adds a request, with words that stay in place until it has been executed, and its end in the
  /// received bytes. False if no other may be added: the batch is full, or T1.
  bool add(std::span<const std::string_view> words, std::size_t end);
  /// Prefetches the memory of the keys of all requests, if there are several.
  void prefetch(Session& session);

  std::size_t size() const { return rows_.size(); }
  Request operator[](std::size_t i) const;

 private:
  struct Row {
    const Command* command;
    std::size_t first_word;
    std::size_t words;
    std::size_t end;
  };
  void collect_keys(const Row& row);

  // Prefetched lines must stay in the first cache until they are used.
  static constexpr std::size_t kMaxRequests = 32;
  static constexpr std::size_t kMaxKeys = 64;
  static constexpr std::size_t kKeptWords = 1024;

  std::vector<Row> rows_;
  std::vector<std::string_view> words_;
  std::vector<std::string_view> keys_;
};

}  // namespace keyway::server
