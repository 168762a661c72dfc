// Sweeper: removes the expired keys of one rank in the background.
//
// *What.* It takes a turn every kTurnsApart. A turn goes through the rank's stripes once, in short
// parts, and ends early when the sweeper has used up its share of a core; the next turn continues
// there. The store skips stripes in which nothing is due (Session::sweep_part), so a turn costs in
// proportion to the elements to remove. If the share suffices, a key is removed half a second after
// its expiry on average; if not, keys are removed in the order of their stripes.
// *Thread safety.* One worker's.
// *Source.* Redis' active expire cycle (expire.c): ten turns a second, at most 25% of a core.
#pragma once

#include <chrono>
#include <cstdint>

#include "keyway/client/client.h"
#include "keyway/server/net/work_share.h"

namespace keyway::server {

/// The times of a sweeper, in ns.
struct SweepTimes {
  std::uint64_t now = 0;  // monotonic
  // Two bounds of what the sweeper's fiber has spent of a core: the thread's time on one, which
  // includes siblings while this fiber waits, and the time without waits, which includes other
  // threads if there are more of them than cores.
  std::uint64_t thread = 0;
  std::uint64_t awake = 0;

  static SweepTimes read();
};

class Sweeper {
 public:
  static constexpr std::chrono::milliseconds kTurnsApart{100};

  /// `read` returns the present times; a test replaces it.
  Sweeper(std::uint32_t rank, std::uint32_t percent, SweepTimes (*read)() = SweepTimes::read);

  /// On a fiber. Returns how many keys it has removed. A part for which there is no memory ends the
  /// turn; the next turn begins with that part.
  std::uint64_t turn(Session& session);

 private:
  /// About 50 us of work: siblings of the fiber wait as long as that for their turn.
  static constexpr std::uint64_t kLinesPerPart = 128;

  bool part(Session& session, std::uint64_t& removed);

  std::uint32_t rank_;
  SweepTimes (*read_)();
  WorkShare share_;
  std::uint64_t last_turn_ns_;
  std::uint64_t from_ = 0;  // the stripe at which the next part begins
};

}  // namespace keyway::server
