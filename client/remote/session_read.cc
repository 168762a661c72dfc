// Session: reads of one key.

#include <algorithm>

#include "keyway/client/remote/session_parts.h"

namespace keyway::remote {

using resp::Kind;

Status Session::get(std::string_view key, std::string& out) {
  const auto reply = ask(Effect::kReads, "GET", key);
  if (!reply.ok()) return reply.status();
  const resp::Reply& value = reply->front();
  if (value.kind == Kind::kNull) return Status(Code::kNotFound);
  if (!is_text(value)) return exchange_.unexpected("GET");
  out.assign(value.text);
  return {};
}

Status Session::read_key(std::string_view key, store::RangeOf range_of, store::PartReader use) {
  bool there = false;
  Status status = read_all({&key, 1}, [&](std::size_t, const store::ElementState* element) {
    there = element != nullptr;
    if (!there) return;
    const std::uint64_t bytes = element->value.size();
    const store::ValueRange range = range_of(bytes).cut(bytes);
    use({element->value.substr(range.offset, range.length), bytes, element->expires_at_ms});
  });
  if (!status.ok() || there) return status;
  return Status(Code::kNotFound);
}

Status Session::get_range(std::string_view key, std::uint64_t offset, std::uint64_t length,
                          std::string& out) {
  if (Status status = check_key(key); !status.ok()) return status;
  constexpr std::uint64_t kMax = store::kMaxValueBytes;
  const Digits begin(std::min(offset, kMax));
  // The last byte, not the one after it. For no bytes: one before the first, but not -1, the end.
  const std::uint64_t end = std::min(offset, kMax) + std::min(length, kMax);
  const Digits last(length == 0 ? 0 : end - 1);
  if (length != 0) {
    const auto reply = ask(Effect::kReads, "GETRANGE", key, begin, last);
    if (!reply.ok()) return reply.status();
    if (!is_text(reply->front())) return exchange_.unexpected("GETRANGE");
    out.assign(reply->front().text);
    if (!out.empty()) return {};
  }
  // Nothing in the range, or no key: GETRANGE answers both alike.
  bool there = false;
  Status status = in_one_step(
      key, Effect::kReads, 2,
      [&](wire::Connection& connection) {
        connection.add({"GETRANGE", key, begin, last});
        connection.add({"EXISTS", key});
      },
      [&](wire::ReplyView replies) {
        out.assign(length == 0 ? std::string_view() : replies[0].text);
        there = replies[1].integer == 1;
      });
  if (!status.ok() || there) return status;
  return Status(Code::kNotFound);
}

Result<store::ElementInfo> Session::info(std::string_view key) {
  if (Status status = check_key(key); !status.ok()) return status;
  constexpr std::int64_t kNoKey = -2;
  std::int64_t bytes = 0, expiry = kNoKey;
  Status status = in_one_step(
      key, Effect::kReads, 2,
      [&](wire::Connection& connection) {
        connection.add({"STRLEN", key});
        connection.add({"PEXPIRETIME", key});
      },
      [&](wire::ReplyView replies) {
        bytes = replies[0].integer;
        expiry = replies[1].integer;
      });
  if (!status.ok()) return status;
  if (expiry == kNoKey) return Status(Code::kNotFound);
  return store::ElementInfo{static_cast<std::uint64_t>(bytes), expiry_of(expiry)};
}

}  // namespace keyway::remote
