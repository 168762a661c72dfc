#include "keyway/locks/distributed/lock_params.h"

#include <fmt/core.h>

#include "keyway/locks/base/text_values.h"

namespace keyway::locks {

Result<LockParams> LockParams::parse(std::string_view text) {
  LockParams params;
  const auto colon = text.find(':');
  params.kind_ = std::string(text.substr(0, colon));
  std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const auto part = rest.substr(0, comma);
    const auto equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return Status(Code::kInvalidArgument,
                    fmt::format("lock '{}': '{}' is not a lever=value pair", text, part));
    }
    params.levers_[std::string(part.substr(0, equals))] = std::string(part.substr(equals + 1));
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  return params;
}

Result<std::uint64_t> LockParams::take_number(const std::string& lever, std::uint64_t fallback) {
  const auto found = levers_.find(lever);
  if (found == levers_.end()) return fallback;
  const std::string text = found->second;
  levers_.erase(found);
  const auto value = whole_number<std::uint64_t>(text);
  if (value) return *value;
  return Status(Code::kInvalidArgument,
                fmt::format("lock lever {}={}: give a whole number", lever, text));
}

Result<std::uint64_t> LockParams::take_threshold(const std::string& lever, std::uint64_t fallback,
                                                 std::uint64_t most) {
  auto value = take_number(lever, fallback);
  if (!value.ok() || (*value >= 1 && *value <= most)) return value;
  return Status(Code::kInvalidArgument,
                fmt::format("lock lever {}={}: give a number from 1 to {}", lever, *value, most));
}

Result<bool> LockParams::take_switch(const std::string& lever, bool fallback) {
  const auto found = levers_.find(lever);
  if (found == levers_.end()) return fallback;
  const std::string text = found->second;
  levers_.erase(found);
  if (text == "on") return true;
  if (text == "off") return false;
  return Status(Code::kInvalidArgument,
                fmt::format("lock lever {}={}: give on or off", lever, text));
}

Result<fabric::Backoff> LockParams::take_backoff(const fabric::Backoff& fallback) {
  const bool given = levers_.contains("backoff_min_ns") || levers_.contains("backoff_max_ns");
  const auto min =
      take_number("backoff_min_ns", given && fallback.max_ns == 0 ? 100 : fallback.min_ns);
  if (!min.ok()) return min.status();
  const auto max =
      take_number("backoff_max_ns", given && fallback.max_ns == 0 ? *min * 1000 : fallback.max_ns);
  if (!max.ok()) return max.status();
  if (given && (*min == 0 || *max < *min)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("lock {}: backoff_min_ns={} must be at least 1 and backoff_max_ns={} "
                              "not below it",
                              kind_, *min, *max));
  }
  return fabric::Backoff{*min, *max};
}

Status LockParams::require_all_taken() const {
  if (levers_.empty()) return {};
  return {Code::kInvalidArgument,
          fmt::format("lock {} has no lever '{}'", kind_, levers_.begin()->first)};
}

}  // namespace keyway::locks
