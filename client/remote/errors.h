// The meaning of a server's errors for a caller of the store. Internal to client/remote.
#pragma once

#include <cstddef>
#include <string_view>

#include "keyway/client/wire/connection.h"
#include "keyway/locks/base/status.h"

namespace keyway::remote {

/// The effect of sending a request again.
enum class Effect : std::uint8_t {
  kReads,   // nothing
  kWrites,  // take effect twice, perhaps
};

/// An error reply, such as "WRONGTYPE ...", as a Status that names the server.
Status status_of_error(std::string_view error, std::string_view server);

/// A failure before anything was sent.
Status not_sent(const Status& failure);
/// A failure in the middle: which requests may have taken effect, and which cannot have.
Status in_doubt(const Status& failure, Effect effect, std::size_t sent, std::size_t unsent);

}  // namespace keyway::remote
