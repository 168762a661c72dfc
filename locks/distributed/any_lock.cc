#include "keyway/locks/distributed/any_lock.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace keyway::locks {
namespace {

template <class L>
Result<AnyLock> wrap(Result<L> made) {
  if (!made.ok()) return made.status();
  return AnyLock(AnyLock::Kinds(*made));
}

}  // namespace

Result<AnyLock> AnyLock::make(std::string_view text) {
  auto params = LockParams::parse(text);
  if (!params.ok()) return params.status();
  return make(*params);
}

Result<AnyLock> AnyLock::make(const LockParams& params) {
  const std::string& kind = params.kind();
  if (kind == FompiRw::kName || kind == FompiRw::kNameWithBackoff)
    return wrap(FompiRw::make(params));
  if (kind == FompiSpin::kName || kind == FompiSpin::kNameOfRdma)
    return wrap(FompiSpin::make(params));
  if (kind == DMcs::kName || kind == DMcs::kNameOfRdma) return wrap(DMcs::make(params));
  if (kind == RmaMcs::kName) return wrap(RmaMcs::make(params));
  if (kind == RmaRw::kName) return wrap(RmaRw::make(params));
  if (kind == ALock::kName) return wrap(ALock::make(params));
  if (kind == ALockRw::kName) return wrap(ALockRw::make(params));
  if (kind == McsWp::kName) return wrap(McsWp::make(params));
  if (kind == NoLock::kName) return wrap(NoLock::make(params));
  return Status(Code::kInvalidArgument, fmt::format("there is no lock kind '{}'; choose one of {}",
                                                    kind, fmt::join(kNames, ", ")));
}

}  // namespace keyway::locks
