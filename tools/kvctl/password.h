// Passwords that a person types.
#pragma once

#include <optional>
#include <string>

#include "keyway/locks/base/status.h"

namespace keyway::kvctl {

/// Asks at the terminal without echo; nothing if there is no terminal, or the input ends.
std::optional<std::string> ask_for_password();

/// Whether a connection failed because no password was given.
bool wants_password(const Status& status);

}  // namespace keyway::kvctl
