#include "tests/support/failing_memory.h"

#include <malloc.h>

#include <cstdlib>
#include <new>

#include "tests/support/own_memory.h"

namespace {

constexpr long kNever = -1;
long left = kNever;  // allocations until one fails
bool failed_once = false;
std::size_t held = 0;

bool fails_now() {
  if (left == kNever || keyway::test::OwnMemory::in_scope()) return false;
  if (left-- > 0) return false;
  failed_once = true;
  left = kNever;
  return true;
}

}  // namespace

namespace keyway::test {

FailingMemory::FailingMemory(long number) {
  failed_once = false;
  left = number;
}
void FailingMemory::stop() { left = kNever; }
bool FailingMemory::failed() { return failed_once; }

std::size_t allocated_bytes() { return held; }

}  // namespace keyway::test

void* operator new(std::size_t bytes) {
  void* memory = fails_now() ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  held += malloc_usable_size(memory);
  return memory;
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
// All of them: a sanitizer would bring its own for those that are missing.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  void* memory = fails_now() ? nullptr : std::malloc(bytes);
  held += memory == nullptr ? 0 : malloc_usable_size(memory);
  return memory;
}
void* operator new[](std::size_t bytes, const std::nothrow_t& how) noexcept {
  return operator new(bytes, how);
}
void operator delete(void* memory) noexcept {
  held -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete[](void* memory) noexcept { operator delete(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { operator delete(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { operator delete(memory); }
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete[](void* memory, std::size_t) noexcept { operator delete(memory); }
