// Batch: requests of one client that are executed together.
//
// *What.* The words of a pipeline's received requests, up to a bound. Their commands are looked up
// once, and the memory of their keys is prefetched before the first of them runs: so the misses of
// all overlap.
// *Thread safety.* One fiber's; any fiber of its thread may read it.
// *Invariants.*
//   T1  A request that may change the meaning of the next one (whether the client is trusted,
//       whether it continues at all) is the last of its batch.
//   T2  What a batch keeps from one use to the next is bounded.
// *Source.* Design section 7: prefetch, then execute.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "keyway/server/commands/engine/execute.h"

namespace keyway::server {

class Batch {
  static constexpr std::size_t kMaxKeys = 64;

 public:
  // Prefetched lines must stay in the first cache until they are used.
  static constexpr std::size_t kMaxRequests = 32;

  struct Request {
    std::span<const std::string_view> words;
    const Command* command;  // null: the first word names none
    std::size_t end;         // as given to add()
  };

  void clear();
  /// Adds a request, with words that stay in place until it has been executed, and its end in the
  /// received bytes. False if no other may be added: the batch is full, or T1.
  [[gnu::hot]] bool add(std::span<const std::string_view> words, std::size_t end);
  /// Prefetches the memory of the keys of all requests, if there are several.
  [[gnu::hot]] void prefetch(Session& session);
  /// How many requests from `i` on, at least 1, are to be executed at the same time: each reads or
  /// writes one key, all of different slots, and at least two of these are on other nodes, so that
  /// there is something to wait for. Not writes that show the old value: it may be long.
  std::size_t independent_from(std::size_t i) const;
  /// The key of request `i`, of those of independent_from(), if it is on another node.
  std::optional<std::string_view> far_key(std::size_t i) const {
    const std::size_t key = rows_[i].first_key;
    if (key >= kMaxKeys || (far_ >> key & 1) == 0) return std::nullopt;
    return keys_[key];
  }
  /// Whether any key is on another node, after prefetch().
  bool is_far() const { return far_ != 0; }

  std::size_t size() const { return rows_.size(); }
  Request operator[](std::size_t i) const {
    const Row& row = rows_[i];
    return {std::span(words_).subspan(row.first_word, row.words), row.command, row.end};
  }

 private:
  struct Row {
    const Command* command;
    std::size_t first_word;
    std::size_t words;
    std::size_t end;
    std::size_t first_key = kMaxKeys;      // in keys_
    std::uint32_t slot = kNotIndependent;  // of its only key; where is_far()
  };
  static constexpr std::uint32_t kNotIndependent = ~0U;
  [[gnu::hot]] void collect_keys(const Row& row);

  static constexpr std::size_t kKeptWords = 1024;

  std::vector<Row> rows_;
  std::vector<std::string_view> words_;
  std::vector<std::string_view> keys_;
  std::uint64_t far_ = 0;  // which of keys_ are on other nodes
};

}  // namespace keyway::server
