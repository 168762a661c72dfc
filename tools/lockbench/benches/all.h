// The list of benches: here and nowhere else. A new one is a header beside this and a line in it.
//
// A bench has a name, the number of locks that it uses by default, and the work of a visitor
// (worker.h) inside the critical section and after it. kEmptySection saves a reading of the clock.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "benches/dht.h"
#include "benches/ecsb.h"
#include "benches/lb.h"
#include "benches/sob.h"
#include "benches/table.h"
#include "benches/warb.h"
#include "benches/wcsb.h"
#include "keyway/locks/base/check.h"

namespace keyway::lockbench {

/// Calls use(bench) for every bench.
template <class Use>
void for_each_bench(Use&& use) {
  use(Lb());
  use(Ecsb());
  use(Sob());
  use(Wcsb());
  use(Warb());
  use(Table());
  use(Dht());
}

/// Calls use(bench) for the bench called `name`, which exists.
template <class Use>
void with_bench(std::string_view name, Use&& use) {
  bool found = false;
  for_each_bench([&](auto bench) {
    if (bench.kName != name) return;
    found = true;
    use(bench);
  });
  KW_CHECK(found);
}

inline std::vector<std::string> bench_names() {
  std::vector<std::string> names;
  for_each_bench([&](auto bench) { names.emplace_back(bench.kName); });
  return names;
}

inline std::uint32_t default_locks(std::string_view name) {
  std::uint32_t locks = 1;
  with_bench(name, [&](auto bench) { locks = bench.kLocks; });
  return locks;
}

/// A line for each, for --help.
inline std::string bench_help() {
  std::string text;
  for_each_bench(
      [&](auto bench) { text += fmt::format("  {:<6} {}\n", bench.kName, bench.kWhat); });
  return text;
}

}  // namespace keyway::lockbench
