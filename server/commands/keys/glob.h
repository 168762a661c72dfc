// Patterns as KEYS and SCAN take them.
//
// *What.* `*` any bytes, `?` one byte, `[a-z]` one of these, `[^a]` one that is not, `\` takes the
// next byte for itself.
// *Thread safety.* A function of its arguments. A long match gives turns to siblings of its fiber.
// *Source.* Redis 7.0, util.c (stringmatchlen): also what it makes of patterns that are not
// complete. Deviation: no recursion. A `*` need only be tried from its last place, so the time is
// at most the product of both lengths, where Redis' grows with the number of stars.
#pragma once

#include <string_view>

namespace keyway::server {

/// Whether all of `text` fits the pattern.
bool glob_match(std::string_view pattern, std::string_view text, bool any_case = false);

}  // namespace keyway::server
