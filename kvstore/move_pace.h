// MovePace: when a session may look again for elements to move, and where it begins.
#pragma once

#include <cstdint>
#include <utility>

namespace keyway::store {

class MovePace {
 public:
  /// After a plan or a walk in vain a session makes a pause of so many times as long, unless it
  /// frees something: else it spends at most a tenth of its time on them.
  static constexpr std::uint64_t kPause = 9;

  void freed(std::uint64_t blocks) { freed_ += blocks; }
  bool pauses(std::uint64_t now_ns) const { return now_ns < next_ns_ && freed_ == freed_in_vain_; }
  /// What began then has gained nothing.
  void in_vain(std::uint64_t began_ns, std::uint64_t now_ns) {
    next_ns_ = now_ns + kPause * (now_ns - began_ns);
    freed_in_vain_ = freed_;
  }
  /// All stripes in turn: a walk begins where the last one ended.
  std::uint64_t next_stripe(std::uint64_t stripes) {
    return std::exchange(stripe_, (stripe_ + 1) % stripes);
  }

 private:
  std::uint64_t freed_ = 0;  // blocks, by writes
  std::uint64_t freed_in_vain_ = 0;
  std::uint64_t next_ns_ = 0;
  std::uint64_t stripe_ = 0;
};

}  // namespace keyway::store
