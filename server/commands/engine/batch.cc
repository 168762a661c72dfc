#include "keyway/server/commands/engine/batch.h"

#include <algorithm>
#include <array>
#include <optional>

#include "keyway/kvstore/layout/key_hash.h"
#include "keyway/locks/base/clear_and_shrink.h"
#include "keyway/server/commands/engine/command.h"
#include "keyway/server/commands/engine/table.h"

namespace keyway::server {

void Batch::clear() {
  rows_.clear();
  far_ = 0;
  clear_and_shrink(words_, kKeptWords);  // T2
}

bool Batch::add(std::span<const std::string_view> words, std::size_t end) {
  const Command* command = find_command(words[0]);
  rows_.push_back({command, words_.size(), words.size(), end, kMaxKeys});
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
  for (Row& row : rows_) {
    row.first_key = keys_.size();
    if (keys_.size() < kMaxKeys && row.command != nullptr) collect_keys(row);
  }
  far_ = session.prefetch(keys_);
}

namespace {

bool shows_old(const Batch::Request& request) {
  const Command& command = *request.command;
  if ((command.flags & kWrite) == 0) return false;
  if ((command.flags & kShowsOld) != 0) return true;
  return command.access_by != nullptr && fits_arity(command, request.words.size()) &&
         command.access_by(request.words).find("access") != std::string_view::npos;
}

/// The slot of the only key of a request, if it reads or writes one and nothing else.
std::optional<std::uint32_t> slot_of_only_key(const Batch::Request& request) {
  if (request.command == nullptr) return std::nullopt;
  const Command& command = *request.command;
  constexpr std::uint32_t kElse = kBlocking | kWholeStore | kNoMulti | kRunsQueue | kUnqueued;
  if ((command.flags & (kWrite | kReadOnly)) == 0 || (command.flags & kElse) != 0 ||
      !command.subcommands.empty() || shows_old(request)) {
    return std::nullopt;
  }
  std::size_t keys = 0;
  std::uint32_t slot = 0;
  for_each_key(command, request.words, [&](std::string_view key) {
    slot = store::slot_of(key);
    return ++keys < 2;
  });
  if (keys != 1) return std::nullopt;
  return slot;
}

}  // namespace

std::size_t Batch::independent_from(std::size_t i) const {
  if (far_ == 0) return 1;
  static_assert(kMaxKeys == 64, "a bit each");
  std::array<std::uint32_t, kMaxRequests> slots;
  std::size_t n = 0;
  std::size_t far = 0;
  for (; i + n < size(); ++n) {
    const auto slot = slot_of_only_key((*this)[i + n]);
    if (!slot || std::find(slots.begin(), slots.begin() + n, *slot) != slots.begin() + n) break;
    slots[n] = *slot;
    const std::size_t key = rows_[i + n].first_key;
    far += key < kMaxKeys && (far_ >> key & 1) != 0;
  }
  return far < 2 ? 1 : n;
}

}  // namespace keyway::server
