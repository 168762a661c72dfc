#include "keyway/locks/distributed/queue_tree.h"

#include <fmt/core.h>

namespace keyway::locks {
namespace {

Result<std::uint64_t> take_one(LockParams& params, const std::string& lever,
                               std::uint64_t fallback) {
  auto passings = params.take_number(lever, fallback);
  if (passings.ok() && (*passings == 0 || !is_count(*passings))) {
    return Status(Code::kInvalidArgument,
                  fmt::format("lock {}: {}={} must be at least 1 and below 2^56 - 2", params.kind(),
                              lever, *passings));
  }
  return passings;
}

}  // namespace

Result<MostPassings> take_passings(LockParams& params, std::uint64_t fallback) {
  const auto all = take_one(params, "t_l", fallback);
  if (!all.ok()) return all.status();
  MostPassings most{};
  for (std::uint32_t level = 2; level <= Topology::kMaxLevels; ++level) {
    const auto one = take_one(params, fmt::format("t_l{}", level), *all);
    if (!one.ok()) return one.status();
    most[level] = *one;
  }
  return most;
}

}  // namespace keyway::locks
