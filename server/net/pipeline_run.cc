#include "keyway/server/net/pipeline_run.h"

#include <new>

namespace keyway::server {

std::size_t PipelineRun::Part::allow(std::size_t needed) {
  const std::size_t more = needed - allowed;
  const std::size_t all = run->out_.size() + run->apart_ + more;
  if (run->budget_.allow(all) < all) return allowed;
  run->apart_ += more;
  return allowed = needed;
}

void PipelineRun::work(Executor& executor) {
  while (taken_ < n_) {
    Part& part = parts_[taken_];
    const Batch::Request request = batch_[first_ + taken_++];
    part.run = this;
    try {
      resp::ReplyWriter replies(part.bytes, client_.version, part, 0);
      execute_beside(client_, executor, service_, *request.command, request.words, replies);
      part.failed = replies.is_dropped();
    } catch (const std::bad_alloc&) {  // not even its refusal has room
      part.failed = true;
    }
    ++done_;
  }
}

bool PipelineRun::append_replies() {
  for (std::size_t i = 0; i < n_; ++i) {
    Part& part = parts_[i];
    if (part.failed) return false;
    out_ += part.bytes;
    apart_ -= part.allowed;
    part.bytes = {};
  }
  return true;
}

}  // namespace keyway::server
