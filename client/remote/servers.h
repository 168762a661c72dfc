// Servers: the addresses and slots of a store's servers, found when it opens.
//
// *Thread safety.* Does not change once it is made; shared by the sessions.
#pragma once

#include "keyway/client/remote/slots.h"
#include "keyway/client/wire/options.h"
#include "keyway/locks/base/status.h"

namespace keyway::remote {

struct Servers {
  wire::Options options;  // for the first server, which the URI names
  SlotMap slots;          // one server, or the owners of slots
  /// Whether any server serves any key, and all keys of one operation: Keyway's ranks do. In a
  /// cluster of Redis each serves its own.
  bool any_serves_all = true;

  /// Connects to the server, and asks for the owners of the slots. As wire::Connection::open().
  static Result<Servers> find(const wire::Options& options);

  std::uint32_t ranks() const { return slots.servers(); }
  /// How to reach one of them.
  wire::Options options_of(const Server& server) const;
};

}  // namespace keyway::remote
