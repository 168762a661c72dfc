// Ranks: the servers of a cluster, as one of them names them.
//
// *Thread safety.* Functions of their arguments; a connection is one thread's.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/kvctl/link.h"

namespace keyway::kvctl {

struct Rank {
  std::string host;
  std::uint16_t port = 0;
  std::string slots;   // "0-8191"; empty: none
  std::string health;  // as the cluster says
};

/// The masters of CLUSTER SHARDS, by their slots. A server outside a cluster is the only one.
Result<std::vector<Rank>> ranks_of(Link& link);

/// How to reach a rank: as the server that named it, at another address.
wire::Options options_for(const Rank& rank, const Link& link);

}  // namespace keyway::kvctl
