// WorkShare: how much background work is allowed, as a share of the time that passes.
//
// *What.* The worker reports how much time has passed, asks for permission, and reports how long
// the work took.
// *Thread safety.* One thread's.
#pragma once

#include <algorithm>
#include <cstdint>

namespace keyway::server {

class WorkShare {
 public:
  WorkShare(std::uint32_t percent, std::uint64_t most_ns) : percent_(percent), most_ns_(most_ns) {}

  /// Time has passed: its allowance is kept for later, up to the maximum.
  void pass(std::uint64_t ns) {
    left_ns_ = std::min(left_ns_ + static_cast<std::int64_t>(ns / 100 * percent_),
                        static_cast<std::int64_t>(most_ns_));
  }
  bool allows() const { return left_ns_ > 0; }
  /// The last piece of work may take more than was left: later ones wait for that.
  void spend(std::uint64_t ns) { left_ns_ -= static_cast<std::int64_t>(ns); }

 private:
  std::uint64_t percent_;
  std::uint64_t most_ns_;
  std::int64_t left_ns_ = 0;
};

}  // namespace keyway::server
