#include "modes/ranks.h"

#include <fmt/core.h>

#include <algorithm>

#include "modes/tree.h"

namespace keyway::kvctl {
namespace {

std::string slots_text(const Tree& slots) {
  std::string text;
  const auto bounds = slots.elements();
  for (std::size_t i = 0; i + 1 < bounds.size(); i += 2) {
    text +=
        fmt::format("{}{}-{}", text.empty() ? "" : ",", bounds[i].count(), bounds[i + 1].count());
  }
  return text;
}

/// A server that does not know its own name is where we have reached it.
Rank rank_of(const Tree& node, const Tree& slots, const Link& link) {
  Rank rank;
  const std::string_view endpoint = node.field("endpoint").text();
  rank.host = endpoint.empty() || endpoint == "?" ? link.options().host : std::string(endpoint);
  const Tree tls_port = node.field("tls-port");
  const bool tls = link.options().tls.on && tls_port.count() != 0;
  rank.port = static_cast<std::uint16_t>((tls ? tls_port : node.field("port")).count());
  rank.slots = slots_text(slots);
  rank.health = node.field("health").text();
  return rank;
}

std::uint64_t first_slot(const Rank& rank) {
  std::uint64_t slot = 0;
  for (const char c : rank.slots) {
    if (c < '0' || c > '9') break;
    slot = slot * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return slot;
}

}  // namespace

Result<std::vector<Rank>> ranks_of(Link& link) {
  const auto reply = link.ask({"CLUSTER", "SHARDS"});
  if (!reply.ok()) return reply.status();
  std::vector<Rank> ranks;
  for (const Tree& shard : Tree(*reply).elements()) {
    for (const Tree& node : shard.field("nodes").elements()) {
      if (node.field("role").text() == "replica") continue;
      ranks.push_back(rank_of(node, shard.field("slots"), link));
    }
  }
  if (ranks.empty()) ranks.push_back({link.options().host, link.options().port, "", ""});
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const Rank& a, const Rank& b) { return first_slot(a) < first_slot(b); });
  return ranks;
}

wire::Options options_for(const Rank& rank, const Link& link) {
  wire::Options options = link.options();
  if (rank.slots.empty() && rank.health.empty()) return options;  // the only one, however reached
  options.host = rank.host;
  options.port = rank.port;
  options.path.clear();
  return options;
}

}  // namespace keyway::kvctl
