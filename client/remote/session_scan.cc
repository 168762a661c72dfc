// Session: the whole store, and what is not to be had over a socket.
//
// If each server has its own keys, a store's cursor is the server's cursor times the number of
// servers, plus the server's index.

#include <algorithm>
#include <charconv>
#include <vector>

#include "keyway/client/remote/session_parts.h"

namespace keyway::remote {
namespace {

using resp::Kind;

// Keys of one SCAN; their values are then requested together.
constexpr std::uint64_t kPage = 128;

}  // namespace

/// One SCAN; returns the server's next cursor.
Result<std::uint64_t> Session::scan_page(std::uint32_t server, std::uint64_t cursor,
                                         std::uint64_t limit, std::vector<std::string>& keys) {
  const Digits from(cursor);
  const Digits count(std::clamp<std::uint64_t>(limit, 1, kPage));
  // A Redis may hold keys of other types, which do not belong to this store.
  const std::string_view words[] = {"SCAN", from, "COUNT", count, "TYPE", "string"};
  const auto reply = exchange_.ask_server(server, words, Effect::kReads);
  if (!reply.ok()) return reply.status();
  const auto& nodes = *reply;
  std::uint64_t next = 0;
  if (nodes[0].kind != Kind::kArray || nodes[0].integer != 2 || !is_text(nodes[1]) ||
      nodes[2].kind != Kind::kArray ||
      std::from_chars(nodes[1].text.data(), nodes[1].text.data() + nodes[1].text.size(), next).ec !=
          std::errc()) {
    return exchange_.unexpected("SCAN");
  }
  keys.clear();
  for (const resp::Reply& key : nodes.subspan(3)) keys.emplace_back(key.text);
  return next;
}

/// Into scanned_, those that are still there and are strings.
Status Session::values_of(std::span<const std::string> keys) {
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  std::vector<std::string> values(keys.size());
  std::vector<Code> codes(keys.size());
  get_many(views, values, codes);
  scanned_.clear();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (codes[i] == Code::kOk) {
      scanned_.emplace_back(keys[i], std::move(values[i]));
    } else if (codes[i] != Code::kNotFound && codes[i] != Code::kInvalidArgument) {
      return {codes[i], "a scan lost the server in the middle; continue with the same cursor"};
    }
  }
  return {};
}

/// SCANs until `limit` keys are shown or the end is reached; returns the next cursor.
Result<std::uint64_t> Session::scan_pages(std::uint64_t cursor, std::uint64_t limit, Page show) {
  const std::uint32_t servers = exchange_.servers();
  auto server = static_cast<std::uint32_t>(cursor % servers);
  std::uint64_t at = cursor / servers;
  std::vector<std::string> keys;
  std::uint64_t shown = 0;
  do {
    const auto next = scan_page(server, at, limit - shown, keys);
    if (!next.ok()) return next.status();
    const auto now = show(keys);
    if (!now.ok()) return now.status();
    shown += *now;
    at = *next;
    if (at == 0) server = (server + 1) % servers;
  } while (shown < limit && (at != 0 || server != 0));
  return at * servers + server;
}

Result<std::uint64_t> Session::scan(std::uint64_t cursor, std::uint64_t limit,
                                    const store::ElementSink& sink) {
  return scan_pages(cursor, limit, [&](std::span<const std::string> keys) -> Result<std::uint64_t> {
    if (Status status = values_of(keys); !status.ok()) return status;
    // The sink may scan with this session, too.
    const auto elements = std::exchange(scanned_, {});
    for (const auto& [key, value] : elements) sink(key, value);
    return elements.size();
  });
}

Result<std::uint64_t> Session::scan_keys(std::uint64_t cursor, std::uint64_t limit,
                                         const store::KeySink& sink) {
  return scan_pages(cursor, limit, [&](std::span<const std::string> keys) -> Result<std::uint64_t> {
    for (const std::string& key : keys) sink(key);
    return keys.size();
  });
}

Result<std::uint64_t> Session::scan_rank(std::uint32_t, std::uint64_t cursor, std::uint64_t limit,
                                         const store::ElementSink& sink) {
  if (exchange_.servers() == 1) return scan(cursor, limit, sink);
  return unsupported_over_socket("a scan of one rank");
}

Result<std::uint64_t> Session::scan_keys_rank(std::uint32_t, std::uint64_t cursor,
                                              std::uint64_t limit, const store::KeySink& sink) {
  if (exchange_.servers() == 1) return scan_keys(cursor, limit, sink);
  return unsupported_over_socket("a scan of one rank");
}

Status Session::clear() {
  const std::uint32_t servers = exchange_.servers();
  const std::string_view words[] = {"FLUSHDB"};
  for (std::uint32_t server = 0; server < servers; ++server) {
    const auto reply = exchange_.ask_server(server, words, Effect::kWrites);
    if (!reply.ok()) return reply.status();
  }
  return {};
}

Result<std::uint64_t> Session::size() {
  const std::uint32_t servers = exchange_.servers();
  const std::string_view words[] = {"DBSIZE"};
  std::uint64_t sum = 0;
  for (std::uint32_t server = 0; server < servers; ++server) {
    const auto reply = exchange_.ask_server(server, words, Effect::kReads);
    if (!reply.ok()) return reply.status();
    sum += static_cast<std::uint64_t>(reply->front().integer);
  }
  return sum;
}

Result<std::uint64_t> Session::scan_from(std::string_view, std::uint64_t,
                                         const store::ElementSink&) {
  return unsupported_over_socket("a scan from a key on");
}

Result<std::uint64_t> Session::size_of(std::uint32_t) {
  return unsupported_over_socket("the size of one rank");
}

Status Session::clear_rank(std::uint32_t) { return unsupported_over_socket("clearing one rank"); }

Result<std::uint64_t> Session::scan_keys_from(std::string_view, std::uint64_t,
                                              const store::KeySink&) {
  return unsupported_over_socket("a scan from a key on");
}

Result<std::uint64_t> Session::sweep_expired(std::uint32_t) {
  return unsupported_over_socket("sweeping what has expired");
}

Result<store::KeyVersion> Session::version_of(std::string_view) {
  return unsupported_over_socket("the version of a key");
}

Status Session::exclusively(FunctionRef<void()>) {
  return unsupported_over_socket("exclusive access to the whole store");
}

Result<store::SweepPart> Session::sweep_part(std::uint32_t, std::uint64_t, std::uint64_t) {
  return unsupported_over_socket("sweeping what has expired");
}

Result<store::VolumeReport> Session::report(std::uint32_t) {
  return unsupported_over_socket("a report on a volume");
}

Status Session::switch_kind(std::uint32_t, std::uint64_t, std::string_view) {
  return unsupported_over_socket("switching a lock");
}

}  // namespace keyway::remote
