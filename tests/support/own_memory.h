// OwnMemory: for test helpers that allocate while a test makes allocations fail (failing_memory.h):
// while one of their scopes is open, none fails.
#pragma once

namespace keyway::test {

class OwnMemory {
 public:
  OwnMemory() { ++scopes_; }
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;
  ~OwnMemory() { --scopes_; }

  static bool in_scope() { return scopes_ > 0; }

 private:
  static inline thread_local int scopes_ = 0;
};

}  // namespace keyway::test
