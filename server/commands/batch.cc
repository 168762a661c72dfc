#include "keyway/server/commands/batch.h"

#include "keyway/locks/base/give_back.h"
#include "keyway/server/commands/command.h"

namespace keyway::server {

void Batch::clear() {
  rows_.clear();
  give_back(words_, kKeptWords);  // T2
}

bool Batch::add(std::span<const std::string_view> words, std::size_t end) {
  const Command* command = find_command(words[0]);
  rows_.push_back({command, words_.size(), words.size(), end});
  words_.insert(words_.end(), words.begin(), words.end());
  // T1. Those that may run before the client has said who it is are those that say it, or that end
  // the connection, as a word that names nothing may (a web page's).
  if (command == nullptr || (command->flags & kNoAuth) != 0) return false;
  return rows_.size() < kMostRequests && words_.size() < kKeptWords;
}

Batch::Request Batch::operator[](std::size_t i) const {
  const Row& row = rows_[i];
  return {std::span(words_).subspan(row.first_word, row.words), row.command, row.end};
}

void Batch::collect_keys(const Row& row) {
  const KeyWords where = row.command->keys;
  if (where.first == 0) return;
  const auto words = static_cast<std::ptrdiff_t>(row.words);
  const std::ptrdiff_t last = where.last < 0 ? words + where.last : where.last;
  for (std::ptrdiff_t i = where.first; i <= last && i < words && keys_.size() < kMostKeys;
       i += where.step) {
    keys_.push_back(words_[row.first_word + static_cast<std::size_t>(i)]);
  }
}

void Batch::prefetch(Session& session) {
  if (rows_.size() < 2) return;  // a command alone asks for its keys by itself
  keys_.clear();
  for (const Row& row : rows_) {
    if (row.command != nullptr) collect_keys(row);
  }
  session.prefetch(keys_);
}

}  // namespace keyway::server
