#include "keyway/server/net/pipeline_run.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <span>
#include <string_view>

#include "keyway/locks/base/clear_and_shrink.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {

PipelineRun::PipelineRun(Client& client, Service& service, const Batch& batch, std::size_t first,
                         std::size_t n, std::size_t room, FunctionRef<bool()> more)
    : client_(client),
      service_(service),
      batch_(batch),
      first_(first),
      room_(room),
      more_(more),
      cut_(n) {
  for (const bool writes : {false, true}) {
    for (std::size_t i = 0; i < n; ++i) {
      parts_[i].run = this;
      if (((request(i).command->flags & kWrite) != 0) == writes) order_[all_++] = i;
    }
    if (!writes) reads_ = all_;
  }
  end_ = reads_;
}

/// Less than `needed` if the reply is too long to be made apart.
std::size_t PipelineRun::Part::allow(std::size_t needed) {
  if (needed <= kShortReply) return allowed = kShortReply;
  const std::size_t more = needed - allowed;
  if (run->apart_ + more > run->room_) return allowed;
  run->apart_ += more;
  return allowed = needed;
}

bool PipelineRun::may_take() {
  for (; has_work(); ++next_) {
    const std::size_t i = order_[next_];
    if (i < cut_ && apart_ < room_ && more_()) return true;
    cut_ = std::min(cut_, i);
  }
  return false;
}

void PipelineRun::read_ahead(Executor& executor) {
  if (room_ == 0) return;
  std::array<std::string_view, Batch::kMaxRequests> keys;
  std::array<std::size_t, Batch::kMaxRequests> readers;  // the requests that read them
  std::size_t n = 0;
  for (std::size_t k = 0; k < reads_; ++k) {
    const auto key = batch_.far_key(first_ + order_[k]);
    if (!key) continue;
    readers[n] = order_[k];
    keys[n++] = *key;
  }
  if (n < 2) return;
  try {
    const std::uint64_t has = executor.session.read_ahead(std::span(keys).first(n));
    if (WorkerStatistics* statistics = counts_of(client_)) statistics->look_at_clock();
    std::array<bool, Batch::kMaxRequests> is_ahead{};
    for (std::size_t i = 0; i < n; ++i) is_ahead[readers[i]] = (has >> i & 1) != 0;
    const auto begin = order_.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(reads_);
    const auto ahead_end =
        std::stable_partition(begin, end, [&](std::size_t i) { return is_ahead[i]; });
    end_ = static_cast<std::size_t>(ahead_end - begin);
    work(executor);
  } catch (const std::bad_alloc&) {  // each reads by itself
  }
  executor.session.read_ahead({});
  end_ = reads_;
}

void PipelineRun::work(Executor& executor) {
  while (may_take()) {
    ++busy_;
    execute(executor, order_[next_++]);
    --busy_;
  }
}

void PipelineRun::execute(Executor& executor, std::size_t i) {
  try {
    resp::ReplyWriter replies(parts_[i].bytes, client_.version, parts_[i], 0);
    execute_beside(client_, executor, service_, *request(i).command, request(i).words, replies);
    if (!replies.is_dropped()) return;
    has_long_reply_ = true;
  } catch (const std::bad_alloc&) {  // not even its refusal has room
  }
  parts_[i].bytes.clear();
  if ((request(i).command->flags & kWrite) == 0) {
    cut_ = std::min(cut_, i);
  } else {  // it may have been made: not again, and without its reply the connection must end
    cut_ = std::min(cut_, i + 1);
    client_.closing = true;
  }
}

bool PipelineRun::begin_writes() {
  next_ = reads_;
  end_ = all_;
  return has_work();
}

std::size_t PipelineRun::append_replies(std::string& out) {
  std::size_t all = out.size();
  for (std::size_t i = 0; i < cut_; ++i) all += parts_[i].bytes.size();
  out.reserve(all);  // at once: it would double, and again
  for (std::size_t i = 0; i < cut_; ++i) {
    out += parts_[i].bytes;
    clear_and_shrink(parts_[i].bytes, 0);
  }
  return cut_;
}

}  // namespace keyway::server
