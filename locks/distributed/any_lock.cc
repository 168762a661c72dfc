#include "keyway/locks/distributed/any_lock.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace keyway::locks {
namespace {

/// Constructs the kind if the name is one of its names; true: `made` holds the result.
template <class L>
bool make_if_named(const LockParams& params, Result<AnyLock>& made) {
  if (std::find(L::kNames.begin(), L::kNames.end(), params.kind()) == L::kNames.end()) return false;
  auto kind = L::make(params);
  made = kind.ok() ? Result<AnyLock>(AnyLock(*kind)) : kind.status();
  return true;
}

template <class... L>
Result<AnyLock> make_of(KindList<L...>, const LockParams& params) {
  Result<AnyLock> made =
      Status(Code::kInvalidArgument, fmt::format("there is no lock kind '{}'; choose one of {}",
                                                 params.kind(), fmt::join(AnyLock::kNames, ", ")));
  static_cast<void>((make_if_named<L>(params, made) || ...));
  return made;
}

}  // namespace

Result<AnyLock> AnyLock::make(std::string_view text) {
  auto params = LockParams::parse(text);
  if (!params.ok()) return params.status();
  return make(*params);
}

Result<AnyLock> AnyLock::make(const LockParams& params) { return make_of(List(), params); }

}  // namespace keyway::locks
