#include "keyway/server/commands/engine/batch.h"

#include "keyway/locks/base/clear_and_shrink.h"
#include "keyway/server/commands/engine/command.h"
#include "keyway/server/commands/engine/table.h"

namespace keyway::server {

void Batch::clear() {
  rows_.clear();
  clear_and_shrink(words_, kKeptWords);  // T2
}

bool Batch::add(std::span<const std::string_view> words, std::size_t end) {
  const Command* command = find_command(words[0]);
  rows_.push_back({command, words_.size(), words.size(), end});
  words_.insert(words_.end(), words.begin(), words.end());
  // T1. Commands that may run before authentication are those that authenticate, or that end the
  // connection, as an unknown word may (a web page's).
  if (command == nullptr || (command->flags & kNoAuth) != 0) return false;
  return rows_.size() < kMaxRequests && words_.size() < kKeptWords;
}

Batch::Request Batch::operator[](std::size_t i) const {
  const Row& row = rows_[i];
  return {std::span(words_).subspan(row.first_word, row.words), row.command, row.end};
}

void Batch::collect_keys(const Row& row) {
  for_each_key(*row.command, std::span(words_).subspan(row.first_word, row.words),
               [&](std::string_view key) {
                 keys_.push_back(key);
                 return keys_.size() < kMaxKeys;
               });
}

void Batch::prefetch(Session& session) {
  if (rows_.size() < 2) return;  // a single command prefetches its own keys
  keys_.clear();
  for (const Row& row : rows_) {
    if (keys_.size() < kMaxKeys && row.command != nullptr) collect_keys(row);
  }
  session.prefetch(keys_);
}

}  // namespace keyway::server
