// ForbiddenPages: memory that may not be touched, or not be written, for a while: such an access
// ends the process (SIGSEGV).
//
// *What.* It shows which memory an operation touches, without trust in any counter.
// *Thread safety.* Holds for all threads of the process.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <string_view>

namespace keyway::test {

class ForbiddenPages {
 public:
  /// The whole pages within these bytes, but for `margin` bytes at either end. `allowed`: PROT_READ
  /// if they may be read.
  ForbiddenPages(std::string_view bytes, std::uint64_t margin, int allowed = PROT_NONE) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
    begin_ = (begin + margin + page - 1) / page * page;
    const std::uintptr_t end = (begin + bytes.size() - margin) / page * page;
    REQUIRE(end > begin_);
    bytes_ = end - begin_;
    protect(allowed);
  }
  ForbiddenPages(const ForbiddenPages&) = delete;
  ForbiddenPages& operator=(const ForbiddenPages&) = delete;
  ~ForbiddenPages() { protect(PROT_READ | PROT_WRITE); }

 private:
  void protect(int how) { CHECK(mprotect(reinterpret_cast<void*>(begin_), bytes_, how) == 0); }

  std::uintptr_t begin_ = 0;
  std::uintptr_t bytes_ = 0;
};

}  // namespace keyway::test
