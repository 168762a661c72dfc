// ClusterView: the ranks of a job, as a client of Redis Cluster sees them.
//
// *What.* A node is a process of the job. Slots belong to ranks in equal runs
// (kvstore/layout/key_hash.h), from start to end of the job: slots never move, and no node joins or
// leaves.
// *Thread safety.* A value; constant once clients are served.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/kvstore/layout/key_hash.h"

namespace keyway::server {

struct ClusterNode {
  std::string id;                       // 40 hexadecimal digits
  std::string host;                     // by which clients reach it
  std::uint16_t port = 0;               // 0: it speaks TLS alone
  std::uint16_t tls_port = 0;           // 0: it does not speak TLS
  std::string machine = {};             // the name of its host
  std::vector<std::string> binds = {};  // addresses that it listens on; none: `host` is prescribed

  /// The host for a client that connected to `local`, "127.0.0.1:7400", of the node `here`: to the
  /// same address if this node is on the same machine and listens on it, so that a client that came
  /// by one network, or by loopback, stays there.
  std::string_view host_for(const ClusterNode& here, std::string_view local) const {
    local = host_part(local);
    if (machine != here.machine) return host;
    for (const std::string& address : binds) {
      if (address == local || is_any_of_kind(address, local)) return local;
    }
    return host;
  }

  /// The port for a client over TLS, or in plain text.
  std::uint16_t port_for(bool tls) const {
    return port == 0 || (tls && tls_port != 0) ? tls_port : port;
  }

 private:
  static std::string_view host_part(std::string_view local) {
    local = local.substr(0, local.rfind(':'));
    return local.starts_with('[') ? local.substr(1, local.size() - 2) : local;
  }
  /// Whether an address means all addresses of the kind of `local`, which may be the path of a
  /// socket or "::ffff:10.0.0.1", an address of IPv4 that not every client takes.
  static bool is_any_of_kind(std::string_view address, std::string_view local) {
    if (local.find_first_not_of("0123456789.") == std::string_view::npos) {
      return address == "0.0.0.0";
    }
    return address == "::" && !local.starts_with("::ffff:") &&
           local.find_first_not_of("0123456789abcdef:") == std::string_view::npos;
  }
};

struct ClusterView {
  bool enabled = false;            // else the replies to clients show no cluster
  std::vector<ClusterNode> nodes;  // by process
  std::uint32_t self = 0;          // which of them this process is
  std::uint32_t ranks = 1;         // ranks of the store
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
