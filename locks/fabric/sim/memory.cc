#include "keyway/locks/fabric/sim/memory.h"

#include <algorithm>
#include <cstring>

#include "keyway/locks/base/rng.h"

namespace keyway::fabric::sim {
namespace {

// A word's part in the hash; a zero has none, so that untouched memory hashes to 0.
std::uint64_t part(std::uint64_t index, std::uint64_t value) {
  if (value == 0) return 0;
  std::uint64_t state = index * 0x9e3779b97f4a7c15ULL;
  state = splitmix64(state) ^ value;
  return splitmix64(state);
}

}  // namespace

const char* name_of(OpKind kind) {
  switch (kind) {
    case OpKind::kLoad: return "load";
    case OpKind::kStore: return "store";
    case OpKind::kSwap: return "swap";
    case OpKind::kAdd: return "fetch_add";
    case OpKind::kOr: return "fetch_or";
    case OpKind::kCompareSwap: return "compare_swap";
    case OpKind::kRead: return "read";
    case OpKind::kWrite: return "write";
  }
  return "?";
}

Memory::Memory(std::uint32_t ranks, std::uint64_t segment_bytes, Hashing hashing)
    : ranks_(ranks),
      words_per_rank_((segment_bytes + 7) / 8),
      words_(ranks * words_per_rank_),
      hashing_(hashing) {}

void Memory::set(std::uint64_t index, std::uint64_t value) {
  const std::uint64_t old = words_[index];
  if (old == value) return;
  if (hashing_ == Hashing::kKept) {
    hash_ ^= part(index, old) ^ part(index, value);
    if (old == 0 && touched_.size() < words_.size()) touched_.push_back(index);
  }
  words_[index] = value;
  ++changes_;
}

void Memory::store(Address a, std::uint64_t value) { set(index(a), value); }

std::uint64_t Memory::apply(const Operation& op) {
  if (op.kind == OpKind::kRead) {
    std::memcpy(op.out, bytes() + byte(op.at), op.bytes);
    return 0;
  }
  if (op.kind == OpKind::kWrite) {
    store_bytes(op.at, op.in, op.bytes);
    return 0;
  }
  const std::uint64_t at = index(op.at);
  const std::uint64_t old = words_[at];
  set(at, op.leaves(old));
  return old;
}

void Memory::store_bytes(Address a, const std::byte* in, std::uint64_t bytes) {
  for (std::uint64_t at = byte(a), end = at + bytes; at < end;) {
    const std::uint64_t in_word = at % 8;
    const std::uint64_t n = std::min(8 - in_word, end - at);
    std::uint64_t word = words_[at / 8];
    std::memcpy(reinterpret_cast<std::byte*>(&word) + in_word, in, n);
    set(at / 8, word);
    at += n;
    in += n;
  }
}

std::uint64_t Memory::made_hash() const {
  std::uint64_t hash = 0;
  for (std::uint64_t i = 0; i < words_.size(); ++i) hash ^= part(i, words_[i]);
  return hash;
}

void Memory::clear() {
  if (hashing_ != Hashing::kKept || touched_.size() >= words_.size() / 8) {
    std::fill(words_.begin(), words_.end(), 0);
  } else {
    for (const std::uint64_t index : touched_) words_[index] = 0;
  }
  touched_.clear();
  hash_ = 0;
  changes_ = 0;
}

}  // namespace keyway::fabric::sim
