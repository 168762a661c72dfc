// clear_and_shrink(): empties a buffer, and frees its memory when it has grown large.
//
// *Source.* `buffer = {}` and `text = std::string()` do not free memory: the first assigns an empty
// list and the second copies no bytes, and both keep the capacity.
#pragma once

#include <cstddef>

namespace keyway {

/// `buffer` is a std::vector or a std::string; it keeps room for at most `kept` elements.
template <class Buffer>
void clear_and_shrink(Buffer& buffer, std::size_t kept) {
  if (buffer.capacity() > kept) Buffer().swap(buffer);
  buffer.clear();
}

}  // namespace keyway
