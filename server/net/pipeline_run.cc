#include "keyway/server/net/pipeline_run.h"

#include <algorithm>
#include <new>

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
  if (!has_work()) return false;
  const std::size_t i = order_[next_];
  if (i < cut_ && apart_ < room_ && more_()) return true;
  cut_ = std::min(cut_, i);
  end_ = next_;
  return false;
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
