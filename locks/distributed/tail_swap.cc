#include "keyway/locks/distributed/tail_swap.h"

#include <algorithm>

namespace keyway::locks {

Result<TailRules> take_tail_rules(LockParams& params, TailSwap fallback) {
  const auto swaps = params.take_switch("swap", fallback == TailSwap::kSwap);
  if (!swaps.ok()) return swaps.status();
  const auto most = params.take_number("join_backoff_ns", kTailBackoff.max_ns);
  if (!most.ok()) return most.status();
  return TailRules{.how = *swaps ? TailSwap::kSwap : TailSwap::kCas,
                   .backoff = {std::min(kTailBackoff.min_ns, *most), *most}};
}

}  // namespace keyway::locks
