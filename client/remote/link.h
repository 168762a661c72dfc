// Link: one session's way to one server, made again when it breaks.
//
// *What.* Hands out the connection, which is opened when it is first needed. One that has broken is
// opened again, with pauses that double and have an end: `request_timeout` after the first try the
// link gives up, and from then on tries once at each call, until the server is back.
// *Thread safety.* One session's.
// *Invariants.*
//   K1  A caller waits for a connection no longer than request_timeout and one connect_timeout.
//   K2  A connection that the server has closed while it was idle is not handed out: a request on
//   it would be in doubt needlessly.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "keyway/client/wire/connection.h"
#include "keyway/locks/base/rng.h"
#include "keyway/locks/base/status.h"

namespace keyway::remote {

/// Waits that double, with some chance in them, so that many clients do not come back together.
class BackOff {
 public:
  BackOff(std::uint64_t first_ns, std::uint64_t longest_ns, std::uint64_t seed)
      : next_ns_(first_ns), longest_ns_(longest_ns), random_(seed) {}

  /// Waits for its turn; false, at once, when that would be later than `by_ns` of steady_ns().
  bool wait(std::uint64_t by_ns);

 private:
  std::uint64_t next_ns_;
  std::uint64_t longest_ns_;
  Rng random_;
};

class Link {
 public:
  explicit Link(wire::Options options) : options_(std::move(options)) {}

  /// A connection without an open request. kUnavailable, kTimeout, kInvalidArgument: nothing has
  /// been sent.
  Result<wire::Connection*> ready();
  const wire::Options& options() const { return options_; }

 private:
  bool is_usable();
  Result<wire::Connection*> connect();

  wire::Options options_;
  std::optional<wire::Connection> connection_;
  std::uint64_t used_ns_ = 0;  // when it was last handed out
  bool patient_ = false;       // whether the server has been there: then it is waited for
};

}  // namespace keyway::remote
