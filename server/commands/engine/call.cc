#include "keyway/server/commands/engine/call.h"

#include <fmt/core.h>

#include "keyway/server/commands/engine/command.h"

namespace keyway::server {

void Call::wrong_arity() const { error(server::wrong_arity(command.name)); }

void Call::invalid_expiry() const {
  error(fmt::format("ERR invalid expire time in '{}' command", command.name));
}

void Call::failed(const Status& status) const { reply_failed(out, status); }

Result<std::vector<std::optional<std::string>>> values_of(CommandSession& session,
                                                          std::span<const std::string_view> keys) {
  std::vector<std::string_view> storable(keys.begin(), keys.end());
  std::erase_if(storable, [](std::string_view key) { return !is_storable(key); });
  auto read = session.get_all(storable);
  if (!read.ok() || storable.size() == keys.size()) return read;
  std::vector<std::optional<std::string>> values;
  std::size_t next = 0;
  for (const std::string_view key : keys) {
    values.push_back(is_storable(key) ? std::move((*read)[next++]) : std::nullopt);
  }
  return values;
}

void reply_failed(resp::ReplyWriter& out, const Status& status) {
  if (status == Code::kOutOfSpace) return out.error(kOutOfMemory);
  const std::string_view word = status == Code::kTimeout   ? kTryAgain
                                : status == Code::kInDoubt ? kInDoubt
                                                           : "ERR";
  out.error(fmt::format("{} {}", word, status.message()));
}

std::string wrong_arity(std::string_view name) {
  return fmt::format("ERR wrong number of arguments for '{}' command", name);
}

}  // namespace keyway::server
