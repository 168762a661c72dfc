// The words of a request that is a line, as a person types it: Redis' inline commands.
//
// *What.* Words are separated by blanks. One in double quotes may have blanks and \n, \r, \t, \b,
// \a, \xHH and any other character behind a backslash; one in single quotes only \'. A closing
// quote ends its word.
// *Thread safety.* A function of its arguments.
// *Source.* Redis, sdssplitargs, for accepted and rejected input.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace keyway::resp {

/// Appends the words of `line` to `words`; false when quotes are not closed, or something follows a
/// closing quote at once. `words` is as it was then.
bool split_line(std::string_view line, std::vector<std::string>& words);

}  // namespace keyway::resp
