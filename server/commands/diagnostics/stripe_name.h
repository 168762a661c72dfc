// Stripes as names, for what counts names: "2:1234" is stripe 1234 of rank 2.
//
// *Thread safety.* Functions of their arguments.
#pragma once

#include <fmt/core.h>

#include <charconv>
#include <string>
#include <string_view>

#include "keyway/client/client.h"

namespace keyway::server {

inline std::string name_of(const StripePlace& place) {
  return fmt::format("{}:{}", place.rank, place.stripe);
}

/// Parses a name that name_of() made.
inline StripePlace stripe_of_name(std::string_view name) {
  StripePlace place;
  const char* const end = name.data() + name.size();
  const auto [colon, error] = std::from_chars(name.data(), end, place.rank);
  KW_CHECK(error == std::errc() && colon != end);
  std::from_chars(colon + 1, end, place.stripe);
  return place;
}

}  // namespace keyway::server
