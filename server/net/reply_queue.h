// ReplyQueue: replies of one connection that wait for their client to take them.
//
// *What.* Pieces, each a buffer that replies were made in. One piece needs no additional memory:
// the maker of replies and the queue exchange their buffers.
// *Thread safety.* One connection's.
// *Invariants.* R1: the bytes of front() stay where they are until taken() of all of them.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>

namespace keyway::server {

class ReplyQueue {
 public:
  bool empty() const { return bytes_ == 0; }
  std::size_t bytes() const { return bytes_; }
  std::size_t pieces() const { return (front_.empty() ? 0 : 1) + rest_.size(); }

  /// The bytes to send next.
  std::string_view front() const { return std::string_view(front_).substr(sent_); }

  /// Takes what was made from `sent` on, and leaves `made` empty. Without memory nothing is
  /// changed.
  void push(std::string& made, std::size_t sent = 0);
  /// This many bytes of front() have been sent. `kept`: capacity that an empty buffer keeps.
  void taken(std::size_t sent, std::size_t kept);

 private:
  std::string front_;
  std::size_t sent_ = 0;  // sent bytes of front_
  std::list<std::string> rest_;
  std::size_t bytes_ = 0;
};

}  // namespace keyway::server
