#include "keyway/server/statistics/slow_log.h"

#include <fmt/core.h>

#include <algorithm>

#include "keyway/locks/base/clock.h"

namespace keyway::server {
namespace {

std::string cut(std::string_view word) {
  if (word.size() <= SlowLog::kMaxWordBytes) return std::string(word);
  return fmt::format("{}... ({} more bytes)", word.substr(0, SlowLog::kMaxWordBytes),
                     word.size() - SlowLog::kMaxWordBytes);
}

std::vector<std::string> cut(std::span<const std::string_view> words) {
  std::vector<std::string> kept;
  const bool all = words.size() <= SlowLog::kMaxWords;
  const std::size_t shown = all ? words.size() : SlowLog::kMaxWords - 1;
  for (const std::string_view word : words.first(shown)) kept.push_back(cut(word));
  if (!all) kept.push_back(fmt::format("... ({} more arguments)", words.size() - shown));
  return kept;
}

}  // namespace

void SlowLog::add(const RequestTimes& times, std::span<const std::string_view> words,
                  std::string_view address, std::string_view name) {
  SlowRequest slow{.unix_s = wall_ms() / 1000,
                   .times = times,
                   .words = cut(words),
                   .address = std::string(address),
                   .name = cut(name)};
  const MutexLock held(mutex_);
  slow.id = next_id_++;
  entries_.push_front(std::move(slow));
  while (entries_.size() > most_entries()) entries_.pop_back();
}

std::vector<SlowRequest> SlowLog::newest(std::size_t most) const {
  const MutexLock held(mutex_);
  const std::size_t shown = std::min(most, entries_.size());
  return {entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(shown)};
}

std::size_t SlowLog::size() const {
  const MutexLock held(mutex_);
  return entries_.size();
}

void SlowLog::clear() {
  const MutexLock held(mutex_);
  entries_.clear();
}

}  // namespace keyway::server
