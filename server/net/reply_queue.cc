#include "keyway/server/net/reply_queue.h"

#include <utility>

#include "keyway/locks/base/clear_and_shrink.h"

namespace keyway::server {

void ReplyQueue::push(std::string& made, std::size_t sent) {
  const std::size_t more = made.size() - sent;
  if (front_.empty()) {
    front_.swap(made);
    sent_ = sent;
  } else {
    rest_.push_back(std::move(made));
    made.clear();
  }
  bytes_ += more;
}

void ReplyQueue::taken(std::size_t sent, std::size_t kept) {
  bytes_ -= sent;
  sent_ += sent;
  if (sent_ != front_.size()) return;  // R1
  sent_ = 0;
  if (rest_.empty()) return clear_and_shrink(front_, kept);
  front_ = std::move(rest_.front());
  rest_.pop_front();
}

}  // namespace keyway::server
