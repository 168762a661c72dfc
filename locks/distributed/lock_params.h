// LockParams: a lock kind and its levers as text, "gbh:backoff_max_ns=20000,lockall=off".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "keyway/locks/base/status.h"
#include "keyway/locks/fabric/backoff.h"

namespace keyway::locks {

class LockParams {
 public:
  /// "kind" or "kind:lever=value,lever=value". Anything else fails with a sentence.
  static Result<LockParams> parse(std::string_view text);

  const std::string& kind() const { return kind_; }
  bool has(const std::string& lever) const { return levers_.contains(lever); }
  /// Removes a lever and reads it as a number; `fallback` if it is absent.
  Result<std::uint64_t> take_number(const std::string& lever, std::uint64_t fallback);
  /// A number from 1 to `most`.
  Result<std::uint64_t> take_threshold(const std::string& lever, std::uint64_t fallback,
                                       std::uint64_t most);
  /// As take_number for on/off.
  Result<bool> take_switch(const std::string& lever, bool fallback);
  /// backoff_min_ns and backoff_max_ns; rejects 0 for the first and a maximum below the minimum. If
  /// `fallback` is none and neither is given, there is no back-off.
  Result<fabric::Backoff> take_backoff(const fabric::Backoff& fallback);
  /// Fails if a lever remains: it does not exist.
  Status require_all_taken() const;

 private:
  std::string kind_;
  std::map<std::string, std::string> levers_;
};

}  // namespace keyway::locks
