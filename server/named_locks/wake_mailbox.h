// WakeMailbox: how a rank tells another that its clients have got their locks.
//
// *What.* Each rank owns an element of the lock store, in which other ranks write the clients that
// it must wake. It polls the element, without a message, while any of its clients wait.
// *Thread safety.* Any thread, with its own session.
// *Invariants.*
//   U1  An element's size does not depend on its content, so a full store does not stop a wake.
//   U2  More wakes than there is room for become one: all clients are to check.
//   U3  A wake says "check" and nothing else: one too many does no harm.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "keyway/client/client.h"

namespace keyway::server {

class WakeMailbox {
 public:
  explicit WakeMailbox(const Store& store);

  Status send(Session& session, std::uint32_t rank, std::uint64_t client) const;

  struct Wakes {
    std::vector<std::uint64_t> clients;
    bool all_clients = false;
  };
  /// Takes the wakes for a rank; creates its element if it is missing.
  Result<Wakes> collect(Session& session, std::uint32_t rank) const;

 private:
  std::vector<std::string> keys_;  // for each rank's element, which it owns
};

}  // namespace keyway::server
