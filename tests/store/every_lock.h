// Every kind of lock that a store can have, for tests that run with each.
#pragma once

#include <string>
#include <vector>

#include "keyway/locks/distributed/any_lock.h"

namespace keyway::test {

/// As in a store's URI. GBH also as a store begins with it.
inline std::vector<std::string> every_lock() {
  std::vector<std::string> all{"gbh:lockall=off", "gbh:lockall=off,versions=on"};
  for (const std::string_view name : locks::AnyLock::kNames) all.emplace_back(name);
  return all;
}

}  // namespace keyway::test
