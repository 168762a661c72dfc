// Which server owns which slot, as CLUSTER SLOTS says it.
//
// *Thread safety.* A value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/client/wire/connection.h"
#include "keyway/kvstore/layout/key_hash.h"

namespace keyway::remote {

struct Server {
  std::string host;
  std::uint16_t port = 0;

  bool operator==(const Server&) const = default;
};

class SlotMap {
 public:
  /// One server that has all slots.
  SlotMap() = default;

  /// Out of the reply to CLUSTER SLOTS by `asked`, which an answer without a host means. Nothing
  /// where it does not make sense, or names no server.
  static std::optional<SlotMap> parse(wire::ReplyView reply, const Server& asked);

  std::uint32_t servers() const { return static_cast<std::uint32_t>(servers_.size()); }
  const Server& server(std::uint32_t index) const { return servers_[index]; }
  bool has_one() const { return owners_.empty(); }
  /// 0 if there is one server. A slot without an owner goes to the first server, which replies with
  /// an error.
  std::uint32_t owner_of(std::string_view key) const {
    return has_one() ? 0 : owners_[store::slot_of(key)];
  }
  std::uint32_t owner_of_slot(std::uint32_t slot) const { return has_one() ? 0 : owners_[slot]; }
  /// The index of a server, which is added if it is new. Nothing if there are too many.
  std::optional<std::uint32_t> index_of(const Server& server);
  void move(std::uint32_t slot, std::uint32_t index);

 private:
  static constexpr std::size_t kMaxServers = 4096;  // more than a job has ranks, or a cluster nodes

  std::vector<Server> servers_;
  std::vector<std::uint16_t> owners_;  // by slot; empty: all are the first one's
};

/// "MOVED 3999 127.0.0.1:6381", "ASK 3999 [::1]:6381".
struct Redirection {
  bool for_good = false;  // MOVED
  std::uint32_t slot = 0;
  Server server;
};
/// Nothing where the error is none. `asked`: as for SlotMap::parse().
std::optional<Redirection> redirection_of(std::string_view error, const Server& asked);

}  // namespace keyway::remote
