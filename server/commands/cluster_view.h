// ClusterView: the ranks of a job, as a client of Redis Cluster sees them.
//
// *What.* A node is a process of the job. Slots belong to ranks in equal runs (kvstore/key_hash.h),
// from start to end of the job: nothing moves, nobody joins or leaves.
// *Thread safety.* A value; constant once clients are served.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "keyway/kvstore/key_hash.h"

namespace keyway::server {

struct ClusterNode {
  std::string id;              // 40 hexadecimal digits
  std::string host;            // where clients reach it
  std::uint16_t port = 0;      // 0: it speaks TLS alone
  std::uint16_t tls_port = 0;  // 0: it does not speak TLS

  /// Where a client is sent that came over TLS, or in plain text.
  std::uint16_t port_for(bool tls) const {
    return port == 0 || (tls && tls_port != 0) ? tls_port : port;
  }
};

struct ClusterView {
  bool enabled = false;            // else clients are told that there is no cluster
  std::vector<ClusterNode> nodes;  // by process
  std::uint32_t self = 0;          // which of them this process is
  std::uint32_t ranks = 1;         // of the store
};

struct SlotRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  bool operator==(const SlotRange&) const = default;
};

/// The slots of one of `ranks` ranks, at most kSlots.
constexpr SlotRange slots_of_rank(std::uint32_t rank, std::uint32_t ranks) {
  const auto begin_of = [ranks](std::uint64_t r) {
    return static_cast<std::uint32_t>((r * store::kSlots + ranks - 1) / ranks);
  };
  return {begin_of(rank), begin_of(std::uint64_t{rank} + 1) - 1};
}

}  // namespace keyway::server
