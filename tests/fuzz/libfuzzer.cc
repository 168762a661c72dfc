// The entry that clang's libFuzzer calls.
#include <cstddef>
#include <cstdint>

#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  keyway::fuzz::run_one({reinterpret_cast<const char*>(data), size});
  return 0;
}
