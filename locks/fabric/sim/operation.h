// Operation: one access of an agent of a simulated machine to memory, as data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "keyway/locks/fabric/address.h"

namespace keyway::fabric::sim {

enum class OpKind : std::uint8_t { kLoad, kStore, kSwap, kAdd, kOr, kCompareSwap, kRead, kWrite };
enum class OpClass : std::uint8_t { kCpu, kRma };

struct Operation {
  OpKind kind = OpKind::kLoad;
  OpClass access = OpClass::kRma;
  Address at;
  std::uint64_t operand = 0;      // stored, swapped in, added, or-ed, desired
  std::uint64_t expected = 0;     // for a compare-and-swap
  std::byte* out = nullptr;       // for a read
  const std::byte* in = nullptr;  // for a write; read when the write happens
  std::uint64_t bytes = 8;

  bool is_word() const { return kind != OpKind::kRead && kind != OpKind::kWrite; }
  bool reads_and_writes() const {
    return kind == OpKind::kSwap || kind == OpKind::kAdd || kind == OpKind::kOr ||
           kind == OpKind::kCompareSwap;
  }
  /// The value that a word operation leaves if it finds `old`.
  std::uint64_t leaves(std::uint64_t old) const {
    switch (kind) {
      case OpKind::kStore:
      case OpKind::kSwap: return operand;
      case OpKind::kAdd: return old + operand;
      case OpKind::kOr: return old | operand;
      case OpKind::kCompareSwap: return old == expected ? operand : old;
      default: return old;
    }
  }
};

/// "compare_swap", "read", ...
const char* name_of(OpKind kind);

}  // namespace keyway::fabric::sim
