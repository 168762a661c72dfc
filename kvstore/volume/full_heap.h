// FullHeap: remembers that a search of another node's heap has found no room.
//
// *What.* A search reads a word of each chunk, a round trip for every 512 of them, and a session
// that meets a full heap often tries again. After a search in vain the session takes it that there
// is no block of that class, or no run as long: until kRememberNs have passed, or it returns
// something to that heap, or an owner has made an edit for it. Until then it may miss what others
// return.
// *Thread safety.* One session's, for one rank.
#pragma once

#include <array>
#include <cstdint>

#include "keyway/kvstore/layout/size_class.h"

namespace keyway::store {

class FullHeap {
 public:
  static constexpr std::uint64_t kRememberNs = 10'000'000;

  /// A search that ended then has found no block of this class.
  void note_class(std::uint32_t size_class, std::uint64_t now_ns) {
    class_until_ns_[size_class] = now_ns + kRememberNs;
    any_ = true;
  }
  /// The same of a run.
  void note_run(std::uint64_t chunks, std::uint64_t now_ns) {
    run_until_ns_ = now_ns + kRememberNs;
    run_chunks_ = chunks;
    any_ = true;
  }
  bool lacks_class(std::uint32_t size_class, std::uint64_t now_ns) const {
    return now_ns < class_until_ns_[size_class];
  }
  bool lacks_run(std::uint64_t chunks, std::uint64_t now_ns) const {
    return chunks >= run_chunks_ && now_ns < run_until_ns_;
  }
  /// Something may have been returned.
  void forget() {
    if (any_) *this = {};
  }

 private:
  std::array<std::uint64_t, kClasses> class_until_ns_{};
  std::uint64_t run_until_ns_ = 0;
  std::uint64_t run_chunks_ = 0;  // a run of this length, or longer
  bool any_ = false;
};

}  // namespace keyway::store
