// `cluster`: the ranks, and what each holds and does.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>

#include "keyway/client/wire/uri.h"
#include "modes/info.h"
#include "modes/modes.h"
#include "modes/ranks.h"
#include "modes/tree.h"
#include "tools/kvctl/runner.h"

namespace keyway::kvctl {
namespace {

// The figures of a rank's requests about keys of other nodes, since its start: fields of INFO.
constexpr std::string_view kRemote[] = {
    "remote_messages",     "remote_round_trips",     "remote_reads_warm",     "remote_reads_cold",
    "remote_reads_locked", "remote_reads_by_owners", "remote_edits_by_owners"};
enum : std::size_t { kMessages, kRoundTrips };

struct Row {
  std::string address;
  std::string slots;
  std::uint64_t keys = 0, memory = 0, ops_per_s = 0, clients = 0, requests = 0;
  std::array<std::uint64_t, std::size(kRemote)> remote{};
  std::string state;

  /// Of all requests, also those about keys of this node.
  std::string of_each(std::size_t figure) const {
    const auto all = static_cast<double>(std::max<std::uint64_t>(requests, 1));
    return fmt::format("{:.2f}", static_cast<double>(remote[figure]) / all);
  }
};

/// A rank that cannot be reached is a row that says so.
Row row_of(const Rank& rank, const Link& link) {
  Link own(options_for(rank, link));
  Row row{.address = own.server(), .slots = rank.slots, .state = rank.health};
  Status status = own.connect();
  if (!status.ok()) {
    row.state = status == Code::kTimeout ? "does not answer" : "cannot be reached";
    return row;
  }
  if (row.state.empty()) row.state = "online";
  const auto info = Info::of(own);
  if (!info.ok()) {
    row.state = "did not answer INFO";
    return row;
  }
  if (const auto silent = info->text("fabric_silent_ranks"); !silent.empty()) {
    row.state += fmt::format(", waits for rank {}", silent);
  }
  row.keys = info->keys();
  row.memory = info->number("used_memory");
  row.ops_per_s = info->number("instantaneous_ops_per_sec");
  row.clients = info->number("connected_clients");
  row.requests = info->number("total_commands_processed");
  for (std::size_t i = 0; i < row.remote.size(); ++i) row.remote[i] = info->number(kRemote[i]);
  return row;
}

void print_table(const std::vector<Row>& rows) {
  constexpr std::string_view kLine =
      "{:<4} {:<22} {:<13} {:>12} {:>10} {:>10} {:>8} {:>8} {:>8}  {}\n";
  fmt::print(kLine, "rank", "address", "slots", "keys", "memory", "ops/s", "clients", "msgs/op",
             "trips/op", "state");
  Row sum;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    fmt::print(kLine, i, row.address, row.slots.empty() ? "all" : row.slots, row.keys,
               human_bytes(row.memory), row.ops_per_s, row.clients, row.of_each(kMessages),
               row.of_each(kRoundTrips), row.state);
    sum.keys += row.keys;
    sum.memory += row.memory;
    sum.ops_per_s += row.ops_per_s;
    sum.clients += row.clients;
    sum.requests += row.requests;
    for (std::size_t f = 0; f < sum.remote.size(); ++f) sum.remote[f] += row.remote[f];
  }
  if (rows.size() < 2) return;
  fmt::print(kLine, "all", "", "", sum.keys, human_bytes(sum.memory), sum.ops_per_s, sum.clients,
             sum.of_each(kMessages), sum.of_each(kRoundTrips), "");
}

void print_json(const std::vector<Row>& rows) {
  std::string text = "[";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const auto string = [&](std::string_view name, std::string_view value) {
      text += fmt::format(",\"{}\":", name);
      append_json_string(value, text);
    };
    text += fmt::format("{}{{\"rank\":{}", i == 0 ? "" : ",", i);
    string("address", row.address);
    string("slots", row.slots);
    text += fmt::format(",\"keys\":{},\"memory_bytes\":{},\"ops_per_s\":{},\"clients\":{}",
                        row.keys, row.memory, row.ops_per_s, row.clients);
    text += fmt::format(",\"requests\":{}", row.requests);
    for (std::size_t f = 0; f < row.remote.size(); ++f) {
      text += fmt::format(",\"{}\":{}", kRemote[f], row.remote[f]);
    }
    string("state", row.state);
    text += '}';
  }
  fmt::print("{}]\n", text);
}

}  // namespace

int show_cluster(Link& link, Style style) {
  const auto ranks = ranks_of(link);
  if (!ranks.ok()) {
    complain(ranks.status().message());
    return kExitUnavailable;
  }
  std::vector<Row> rows;
  for (const Rank& rank : *ranks) rows.push_back(row_of(rank, link));
  if (style == Style::kJson) {
    print_json(rows);
  } else {
    print_table(rows);
  }
  std::fflush(stdout);
  return kExitOk;
}

}  // namespace keyway::kvctl
