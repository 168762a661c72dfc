// Requests, appended to a buffer as clients send them: an array of strings, in either version.
//
// *Thread safety.* A function of its arguments.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace keyway::resp {

/// One word at least; any bytes.
void append_request(std::string& out, std::span<const std::string_view> words);

}  // namespace keyway::resp
