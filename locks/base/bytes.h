// Conversion of words to and from bytes, for messages between ranks of one job (one byte order).
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace keyway {

inline void append_word(std::string& out, std::uint64_t word) {
  out.append(reinterpret_cast<const char*>(&word), sizeof word);
}

/// Removes a word from the front of `in`; false when too few bytes are left.
inline bool take_word(std::string_view& in, std::uint64_t& word) {
  if (in.size() < sizeof word) return false;
  std::memcpy(&word, in.data(), sizeof word);
  in.remove_prefix(sizeof word);
  return true;
}

}  // namespace keyway
