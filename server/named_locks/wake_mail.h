// WakeMail: how a rank tells another that its clients have been let in.
//
// *What.* Each rank has an element of the lock store at home, in which others write whom it is to
// wake. It looks there, without a message, for as long as clients of its own wait.
// *Thread safety.* Any thread, with a session of its own.
// *Invariants.*
//   U1  An element has the same size whatever is in it, so a full store does not stop a wake.
//   U2  More wakes than there is room for become one: everybody is to look.
//   U3  A wake says "look" and nothing else: one too many does no harm.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "keyway/client/client.h"

namespace keyway::server {

class WakeMail {
 public:
  explicit WakeMail(const Store& store);

  Status send(Session& session, std::uint32_t rank, std::uint64_t client) const;

  struct Letters {
    std::vector<std::uint64_t> clients;
    bool everybody = false;
  };
  /// Takes out what has come for a rank; makes its element where there is none.
  Result<Letters> collect(Session& session, std::uint32_t rank) const;

 private:
  std::vector<std::string> keys_;  // of each rank's element, which it owns
};

}  // namespace keyway::server
