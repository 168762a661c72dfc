#include "keyway/kvstore/stripes/kind_policy.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace keyway::store {

Result<KindPolicy> automatic_policy(const locks::Workload& hinted,
                                    const locks::PrimitiveCosts& costs, double agents,
                                    OnEveryRank which) {
  std::vector<const locks::Footprint*> kinds = locks::candidates();
  const auto on_every_rank = [](const locks::Footprint* kind) {
    return locks::AnyLock::make(kind->text)->traits().satellites;
  };
  if (which == OnEveryRank::kWithout) std::erase_if(kinds, on_every_rank);
  const locks::Footprint* first = &locks::choose(kinds, hinted, costs);
  KindPolicy policy{.lock = locks::StripeLock(locks::AnyLock()),
                    .why = locks::why(kinds, hinted, costs)};
  // The first kind is active where memory is zero.
  std::stable_partition(kinds.begin(), kinds.end(), on_every_rank);
  std::stable_partition(kinds.begin(), kinds.end(),
                        [first](const locks::Footprint* kind) { return kind == first; });
  std::vector<locks::AnyLock> made;
  for (const locks::Footprint* kind : kinds) {
    auto lock = locks::AnyLock::make(kind->text);
    if (!lock.ok()) return lock.status();
    made.push_back(*lock);
    if (lock->traits().satellites) policy.satellite_kinds = static_cast<std::uint32_t>(made.size());
  }
  policy.lock = locks::StripeLock(std::move(made));
  policy.choice = {std::move(kinds), costs, agents};
  return policy;
}

}  // namespace keyway::store
