// Which lines hold a password, and so never enter the history.
//
// *Thread safety.* A function of its argument.
#pragma once

#include <string_view>

namespace keyway::kvctl {

/// Whether a line may contain a password: AUTH, HELLO with AUTH, CONFIG SET of one, ACL SETUSER,
/// MIGRATE with AUTH. A line with malformed quotes counts if it has one of these words anywhere.
bool holds_password(std::string_view line);

}  // namespace keyway::kvctl
