// Info: a server's INFO reply, by the names of its fields.
//
// *Thread safety.* A value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tools/kvctl/link.h"

namespace keyway::kvctl {

class Info {
 public:
  explicit Info(std::string_view text);
  /// Asks the server. kUnsupported if it has no INFO.
  static Result<Info> of(Link& link);

  /// 0 if the field is missing.
  std::uint64_t number(std::string_view name) const;
  std::string_view text(std::string_view name) const;
  /// The keys of all databases.
  std::uint64_t keys() const;

 private:
  std::map<std::string, std::string, std::less<>> fields_;
};

/// "1.50M", as INFO's fields ending in _human are written.
std::string human_bytes(std::uint64_t bytes);

}  // namespace keyway::kvctl
