// The numbers of RESP, read as strictly as Redis reads them.
//
// *Thread safety.* Functions of their arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace keyway::resp {

/// A decimal of 64 bits as Redis writes one: no plus, no blank, no leading zero, no "-0".
std::optional<std::int64_t> parse_integer(std::string_view text);

/// A double as RESP3 writes one: a decimal, with an exponent or not, or inf, -inf, nan.
std::optional<double> parse_real(std::string_view text);

}  // namespace keyway::resp
