#include "keyway/locks/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace keyway {

void check_failed(const char* file, int line, std::string_view what, std::string_view detail) {
  std::fprintf(stderr, "keyway: %s:%d: %.*s: %.*s\n", file, line, static_cast<int>(what.size()),
               what.data(), static_cast<int>(detail.size()), detail.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace keyway
