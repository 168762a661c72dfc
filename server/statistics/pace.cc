#include "keyway/server/statistics/pace.h"

namespace keyway::server {

void Pace::look(std::uint64_t now_ns, std::uint64_t total) {
  constexpr double kSecond = 1e9;
  if (last_ns_ != 0 && now_ns > last_ns_ && total >= last_total_) {
    const double span = static_cast<double>(now_ns - last_ns_) / kSecond;
    spans_[next_].set(static_cast<std::uint64_t>(static_cast<double>(total - last_total_) / span));
    next_ = (next_ + 1) % kLooks;
  }
  last_ns_ = now_ns;
  last_total_ = total;
}

std::uint64_t Pace::per_second() const {
  std::uint64_t sum = 0;
  for (const Counter& span : spans_) sum += span.value();
  return sum / kLooks;
}

}  // namespace keyway::server
