// operator new that fails on demand, for programs that link failing_memory.cc. For tests of one
// thread.
#pragma once

#include <cstddef>

namespace keyway::test {

/// While it exists, the allocation with this number fails, counted from 0; the others do not.
class FailingMemory {
 public:
  explicit FailingMemory(long number);
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;
  ~FailingMemory() { stop(); }

  /// No allocation fails from here on.
  static void stop();
  /// Whether the allocation with the number of the last FailingMemory was requested.
  static bool failed();
};

/// Bytes that operator new has given out.
std::size_t allocated_bytes();

}  // namespace keyway::test
