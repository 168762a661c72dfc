#include "keyway/server/commands/transactions/transaction.h"

namespace keyway::server {

bool Transaction::take(std::uint64_t bytes, std::uint64_t limit) {
  if (bytes > limit || bytes_ > limit - bytes) return false;
  bytes_ += bytes;
  return true;
}

bool Transaction::add(const Command& command, std::span<const std::string_view> words,
                      std::uint64_t limit) {
  // For each word also its end and its view, for each command its places.
  std::uint64_t bytes = sizeof(Place) + sizeof(Queued);
  for (const std::string_view word : words) {
    bytes += word.size() + sizeof(std::size_t) + sizeof(std::string_view);
  }
  if (!take(bytes, limit)) return false;
  for (const std::string_view word : words) {
    text_.append(word);
    ends_.push_back(text_.size());
  }
  commands_.push_back({&command, words.size()});
  return true;
}

std::span<const Transaction::Queued> Transaction::queued() {
  words_.clear();
  queued_.clear();
  std::size_t begin = 0;
  for (const std::size_t end : ends_) {
    words_.push_back(std::string_view(text_).substr(begin, end - begin));
    begin = end;
  }
  std::span<const std::string_view> left = words_;
  for (const Place& place : commands_) {
    queued_.push_back({place.command, left.first(place.words)});
    left = left.subspan(place.words);
  }
  return queued_;
}

bool Transaction::watch(std::string_view key, const store::KeyVersion& version,
                        std::uint64_t limit) {
  constexpr std::uint64_t kNode = sizeof(Watched::value_type) + 4 * sizeof(void*);
  if (!take(key.size() + kNode, limit)) return false;
  watched_.emplace(key, version);
  return true;
}

}  // namespace keyway::server
