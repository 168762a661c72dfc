#include "keyway/server/commands/engine/batch.h"

#include <algorithm>
#include <cstddef>
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
  rows_.push_back({command, words_.size(), words.size(), end});
  words_.insert(words_.end(), words.begin(), words.end());
  // T1. Commands that may run before authentication are those that authenticate, or that end the
  // connection, as an unknown word may (a web page's).
  if (command == nullptr || (command->flags & kNoAuth) != 0) return false;
  return rows_.size() < kMaxRequests && words_.size() < kKeptWords;
}

void Batch::collect_keys(const Row& row) {
  for_each_key(*row.command, std::span(words_).subspan(row.first_word, row.words),
               [&](std::string_view key) {
                 keys_.push_back(key);
                 return keys_.size() < kMaxKeys;
               });
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

void Batch::prefetch(Session& session) {
  static_assert(kMaxKeys == 64, "a bit each");
  if (rows_.size() < 2) return;  // a single command prefetches its own keys
  keys_.clear();
  for (Row& row : rows_) {
    row.first_key = keys_.size();
    if (keys_.size() < kMaxKeys && row.command != nullptr) collect_keys(row);
  }
  far_ = session.prefetch(keys_);
  for (std::size_t i = 0; is_far() && i < size(); ++i) {
    rows_[i].slot = slot_of_only_key((*this)[i]).value_or(kNotIndependent);
  }
}

std::size_t Batch::independent_from(std::size_t i) const {
  const auto begin = rows_.begin() + static_cast<std::ptrdiff_t>(i);
  auto end = begin;
  std::size_t far = 0;
  for (; end != rows_.end() && end->slot != kNotIndependent; ++end) {
    const auto is_same = [&](const Row& row) { return row.slot == end->slot; };
    if (std::any_of(begin, end, is_same)) break;
    far += far_key(static_cast<std::size_t>(end - rows_.begin())).has_value();
  }
  return far < 2 ? 1 : static_cast<std::size_t>(end - begin);
}

}  // namespace keyway::server
