// The process's own memory, besides the store's: the reserve for the end of memory, and the return
// of freed memory to the kernel.
//
// *What.* A handler of operator new frees a reserve at the first allocation that fails. A request
// that asked for much is then refused, and there is memory to say so, to unwind, and for the few
// bytes that an event loop needs for each step. The workers fill the reserve up again. Large
// buffers come from the kernel and return there, whatever has been allocated after them.
// *Thread safety.* Any thread, any time; prepare_memory() before there are others.
// *Invariants.* M1: operator new fails only when the reserve is empty.
#pragma once

#include <cstddef>

namespace keyway::server {

inline constexpr std::size_t kSpareBytes = 4 << 20;
inline constexpr std::size_t kLargeBytes = 1 << 20;  // a buffer with its own pages

/// Once for the process.
void prepare_memory();
/// Fills the reserve up again where it was given up, if there is memory; else costs one load.
void refill_spare_memory();

}  // namespace keyway::server
