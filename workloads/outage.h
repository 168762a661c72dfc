// Outage: notices that a store serves no operation any more.
//
// *Thread safety.* One thread's.
#pragma once

#include <cstdint>

namespace keyway::workloads {

class Outage {
 public:
  /// `limit_ns` 0: an outage may last for ever.
  explicit Outage(std::uint64_t limit_ns) : limit_ns_(limit_ns) {}

  /// Takes the counts of operations so far. Returns whether operations have failed at least
  /// `limit_ns` apart, and none was served between them. One failure alone is never enough: under a
  /// low target rate the next operation may start much later.
  bool is_over_limit(std::uint64_t now_ns, std::uint64_t served, std::uint64_t unserved) {
    if (served != served_) {
      served_ = served;
      unserved_ = unserved;
      failing_ = false;
      return false;
    }
    if (unserved == unserved_) return false;
    unserved_ = unserved;
    if (!failing_) {
      failing_ = true;
      since_ns_ = now_ns;
    }
    return limit_ns_ != 0 && now_ns - since_ns_ >= limit_ns_;
  }

 private:
  const std::uint64_t limit_ns_;
  std::uint64_t served_ = 0;
  std::uint64_t unserved_ = 0;
  std::uint64_t since_ns_ = 0;  // the first failure after the last served operation
  bool failing_ = false;
};

}  // namespace keyway::workloads
