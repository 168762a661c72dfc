// KeyChange: the parts of one change of one key, as every change passes one place.
//
// *Thread safety.* Views that end with the call that is shown it; the key's stripe is locked.
#pragma once

#include <string_view>

#include "keyway/kvstore/layout/location.h"
#include "keyway/kvstore/types/types.h"
#include "keyway/kvstore/volume/found.h"

namespace keyway::store {

struct KeyChange {
  const Location& location;
  std::string_view key;
  const Found& before;    // its `at` is 0 if the key is new
  const Decision* after;  // kWrite or kOverwrite; null: the element goes
};

}  // namespace keyway::store
