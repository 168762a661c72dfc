// Loaded into a job with LD_PRELOAD: copies of 8 bytes are carried out twice with a pause between.
//
// The C library's memcpy stores 8 bytes twice as well, a moment apart, and MPI carries out a remote
// store or compare-and-swap with it. The pause makes the moment long enough for the target's
// processor to act on the first store, so that a test can show what the second one then undoes (N2
// of mpi_endpoint.h). Only for x86-64.
//
// KEYWAY_SLOW_COPY, in the environment, is how long the pause is, in turns of an empty loop.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

/// memcpy is called before anything is initialised, so this is found out at the first copy.
int pauses() {
  static const int found = [] {
    const char* said = std::getenv("KEYWAY_SLOW_COPY");
    return said != nullptr ? std::atoi(said) : 3000;
  }();
  return found;
}

void* copy(void* to, const void* from, std::size_t n) {
  if (n == 8) {
    const std::uint64_t value = *static_cast<const volatile std::uint64_t*>(from);
    *static_cast<volatile std::uint64_t*>(to) = value;
    const int last = pauses();
    for (int i = 0; i < last; ++i) __builtin_ia32_pause();
    *static_cast<volatile std::uint64_t*>(to) = value;
    return to;
  }
  void* at = to;
  asm volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(n) : : "memory");
  return to;
}

}  // namespace

extern "C" void* memcpy(void* to, const void* from, std::size_t n) { return copy(to, from, n); }
