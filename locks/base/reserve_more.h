// reserve_more(): makes room for more items without copying each of them often.
//
// *Thread safety.* As the container.
#pragma once

#include <algorithm>
#include <cstddef>

namespace keyway {

/// Makes room for `more` items. Unlike reserve() it grows by half at least, so repeated small
/// requests copy each item a few times only.
template <class Items>
[[gnu::always_inline]] inline void reserve_more(Items& items, std::size_t more) {
  const std::size_t needed = items.size() + more;
  if (needed <= items.capacity()) return;
  items.reserve(std::max(needed, items.capacity() + items.capacity() / 2));
}

}  // namespace keyway
