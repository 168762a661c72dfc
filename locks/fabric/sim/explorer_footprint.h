// Footprint: what one step of an execution touches, with all that is taken at once after it.
//
// *What.* Two steps that are both possible and independent lead to the same state in either order.
// They are independent if they belong to different agents, neither writes a word that the other one
// touches, neither changes memory while the other begins or ends an attempt of a retry (to which
// any change is news), and neither changes what the program's checks remember. Two posted
// operations of one agent are independent if neither lets the agent continue. *Thread safety.*
// Values. *Source.* Independence as in Mazurkiewicz's traces; Godefroid, *Partial-Order Methods*,
// LNCS 1032.
#pragma once

#include <cstdint>

#include "keyway/locks/fabric/address.h"

namespace keyway::fabric::sim {

struct Footprint {
  // A bit for each word, by its number modulo 64: words that share one count as the same.
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t agents = 0;  // a bit for each agent that takes part
  bool changes = false;      // memory is afterwards not as before
  bool tries = false;        // an attempt of a retry begins or fails
  bool quiet = false;        // what the program's checks remember is as before
  bool posted = false;       // a posted operation happened, and nothing else did
  bool unchecked = false;    // so did, and the program is not asked about its operation

  static std::uint64_t bit_of(Address a) {
    constexpr std::uint64_t kApart = 13;  // words of different ranks
    return 1ULL << ((a.offset() / 8 + a.rank() * kApart) % 64);
  }

  bool operator==(const Footprint&) const = default;
};

inline bool independent(const Footprint& a, const Footprint& b) {
  if ((a.writes & (b.reads | b.writes)) != 0 || (b.writes & a.reads) != 0) return false;
  if ((a.changes && b.tries) || (b.changes && a.tries)) return false;
  const bool checks_agree = (a.quiet && b.quiet) || a.unchecked || b.unchecked;
  const bool agents_agree = (a.agents & b.agents) == 0 || (a.posted && b.posted);
  return checks_agree && agents_agree;
}

}  // namespace keyway::fabric::sim
