#include "keyway/client/remote/slots.h"

#include <algorithm>
#include <optional>

#include "keyway/locks/base/text_values.h"

namespace keyway::remote {
namespace {

using resp::Kind;
using resp::Reply;

struct Range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  Server server;
};

/// [first, last, [host, port, ...], replicas...]; `nodes` begins with it.
std::optional<Range> range_of(std::span<const Reply> nodes, const Server& asked) {
  if (nodes.size() < 6 || nodes[0].kind != Kind::kArray || nodes[0].integer < 3 ||
      nodes[1].kind != Kind::kInteger || nodes[2].kind != Kind::kInteger ||
      nodes[3].kind != Kind::kArray || nodes[3].integer < 2 || nodes[5].kind != Kind::kInteger) {
    return std::nullopt;
  }
  const std::int64_t first = nodes[1].integer, last = nodes[2].integer, port = nodes[5].integer;
  if (first < 0 || last < first || last >= store::kSlots || port < 1 || port > UINT16_MAX) {
    return std::nullopt;
  }
  const std::string_view host = nodes[4].text;
  const bool unknown = nodes[4].kind != Kind::kBulk || host.empty() || host == "?";
  return Range{static_cast<std::uint32_t>(first),
               static_cast<std::uint32_t>(last),
               {std::string(unknown ? asked.host : host), static_cast<std::uint16_t>(port)}};
}

}  // namespace

std::optional<SlotMap> SlotMap::parse(wire::ReplyView reply, const Server& asked) {
  if (reply.empty() || reply.front().kind != Kind::kArray || reply.front().integer == 0) {
    return std::nullopt;
  }
  SlotMap map;
  std::vector<std::uint16_t> owners(store::kSlots, 0);
  std::span<const Reply> rest = reply.subspan(1);
  for (std::int64_t i = 0; i < reply.front().integer; ++i) {
    const auto range = range_of(rest, asked);
    if (!range) return std::nullopt;
    const auto index = map.index_of(range->server);
    if (!index) return std::nullopt;
    std::fill(owners.begin() + range->first, owners.begin() + range->last + 1,
              static_cast<std::uint16_t>(*index));
    rest = rest.subspan(resp::extent(rest));
  }
  if (map.servers() > 1) map.owners_ = std::move(owners);
  return map;
}

std::optional<std::uint32_t> SlotMap::index_of(const Server& server) {
  const auto found = std::find(servers_.begin(), servers_.end(), server);
  if (found != servers_.end()) return static_cast<std::uint32_t>(found - servers_.begin());
  if (servers_.size() == kMaxServers) return std::nullopt;
  servers_.push_back(server);
  return servers() - 1;
}

void SlotMap::move(std::uint32_t slot, std::uint32_t index) {
  if (owners_.empty()) owners_.assign(store::kSlots, 0);
  owners_[slot] = static_cast<std::uint16_t>(index);
}

std::optional<Redirection> redirection_of(std::string_view error, const Server& asked) {
  const bool moved = error.starts_with("MOVED ");
  if (!moved && !error.starts_with("ASK ")) return std::nullopt;
  error.remove_prefix(error.find(' ') + 1);
  const std::size_t blank = error.find(' ');
  const std::size_t colon = error.rfind(':');
  if (blank == std::string_view::npos || colon == std::string_view::npos || colon < blank) {
    return std::nullopt;
  }
  const auto slot = whole_number<std::uint32_t>(error.substr(0, blank));
  const auto port = whole_number<std::uint16_t>(error.substr(colon + 1));
  if (!slot || *slot >= store::kSlots || !port || *port == 0) return std::nullopt;
  std::string_view host = error.substr(blank + 1, colon - blank - 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return Redirection{moved, *slot, {std::string(host.empty() ? asked.host : host), *port}};
}

}  // namespace keyway::remote
