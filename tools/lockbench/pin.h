// Pinning: which core a thread of lockbench runs on.
//
// *Thread safety.* Free functions; each changes the calling thread only.
#pragma once

#include <cstdint>

namespace keyway::lockbench {

/// Cores that this process may use.
std::uint32_t usable_cores();
/// Keeps the calling thread on usable core number `index`, counted round robin.
void pin_to_core(std::uint32_t index);

}  // namespace keyway::lockbench
