// Servers: what the sessions of one store know of whom they speak to, found out as it opens.
//
// *Thread safety.* Does not change once it is made; shared by the sessions.
#pragma once

#include "keyway/client/remote/slots.h"
#include "keyway/client/wire/options.h"
#include "keyway/locks/base/status.h"

namespace keyway::remote {

struct Servers {
  wire::Options options;  // of the first one, which the URI names
  SlotMap slots;          // one server, or who owns which slot
  /// Whether any server serves any key, and all keys of one operation: Keyway's ranks do. In a
  /// cluster of Redis each serves its own.
  bool any_serves_all = true;

  /// Connects to the server, and asks who owns the slots. As wire::Connection::open().
  static Result<Servers> find(const wire::Options& options);

  std::uint32_t ranks() const { return slots.servers(); }
  /// How to reach one of them.
  wire::Options options_of(const Server& server) const;
};

}  // namespace keyway::remote
