#include "job.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

#include "keyway/client/program/primary_rank.h"
#include "keyway/server/net/address.h"

namespace keyway::server {
namespace {

std::string random_id() {
  std::random_device device;
  std::string id;
  while (id.size() < 40) id += fmt::format("{:08x}", device());
  return id;
}

std::string name_of_host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// The host by which clients reach this process: not loopback if other hosts reach it.
std::string host_of(const Options& options) {
  if (!options.announce_host.empty()) return options.announce_host;
  const auto others_reach = [](const std::string& address) {
    return !check_bind(address, false).ok();
  };
  const auto found = std::find_if(options.bind.begin(), options.bind.end(), others_reach);
  const std::string& address = found == options.bind.end() ? options.bind.front() : *found;
  return is_any_address(address) ? name_of_host() : canonical(address);
}

ClusterNode node_of(const Options& options) {
  ClusterNode node{
      .id = random_id(),
      .host = host_of(options),
      .port = options.cluster_port != 0 ? options.cluster_port : options.port,
      .tls_port = options.cluster_tls_port != 0 ? options.cluster_tls_port : options.tls_port,
      .machine = name_of_host(),
      .binds = {}};
  if (!options.announce_host.empty()) return node;
  for (const std::string& address : options.bind) node.binds.push_back(canonical(address));
  return node;
}

// The message of a process to the others: "0", its id, its host, its ports, its machine and the
// addresses that it is bound to, or a code and a sentence; each on a line.

std::string said(const Status& ready, const ClusterNode& node) {
  if (ready.ok()) {
    return fmt::format("0\n{}\n{}\n{}\n{}\n{}\n{}", node.id, node.host, node.port, node.tls_port,
                       node.machine, fmt::join(node.binds, "\n"));
  }
  return fmt::format("{}\n{}", static_cast<int>(ready.code()), ready.message());
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

unsigned number_of(std::string_view digits) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  KW_CHECK(error == std::errc() && end == digits.data() + digits.size());
  return number;
}

Result<ClusterNode> node_said(std::string_view said) {
  const auto code = static_cast<Code>(number_of(take_line(said)));
  if (code != Code::kOk) return Status(code, std::string(said));
  ClusterNode node;
  node.id = take_line(said);
  node.host = take_line(said);
  node.port = static_cast<std::uint16_t>(number_of(take_line(said)));
  node.tls_port = static_cast<std::uint16_t>(number_of(take_line(said)));
  node.machine = take_line(said);
  while (!said.empty()) node.binds.emplace_back(take_line(said));
  return node;
}

}  // namespace

bool is_of_job(const Options& options) {
  return options.fabric == "mpi" || (options.fabric == "auto" && program::under_launcher());
}

std::string store_uri(const Options& options) {
  std::string uri = is_of_job(options) ? "mpi:" : "local:";
  if (!options.store_options.empty()) uri += "?" + options.store_options;
  if (options.path == "auto") return uri;
  return uri + (options.store_options.empty() ? "?path=" : "&path=") + options.path;
}

Status take_own_addresses(Options& options, std::uint32_t process) {
  const auto move = [process](std::string_view name, std::uint16_t& port) {
    if (port == 0) return Status();
    const std::uint32_t own = port + process;
    if (own > 65535) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("{} {} is too high: rank {} would listen on {}, and the maximum is 65535",
                      name, port, process, own));
    }
    port = static_cast<std::uint16_t>(own);
    return Status();
  };
  if (Status status = move("--port", options.port); !status.ok()) return status;
  if (Status status = move("--tls-port", options.tls_port); !status.ok()) return status;
  if (Status status = move("--cluster-port", options.cluster_port); !status.ok()) return status;
  if (Status status = move("--cluster-tls-port", options.cluster_tls_port); !status.ok()) {
    return status;
  }
  if (options.metrics_port) {
    if (Status status = move("--metrics-port", *options.metrics_port); !status.ok()) return status;
  }
  if (!options.unix_socket.empty() && process != 0) {
    options.unix_socket += fmt::format(".{}", process);
  }
  return {};
}

Result<ClusterView> exchange_addresses(Store& store, const Options& options, const Status& ready) {
  ClusterView view;
  view.self = store.process();
  view.ranks = store.ranks();
  const std::string mine = said(ready, node_of(options));
  for (const std::string& theirs : store.gather_everywhere(mine)) {
    auto node = node_said(theirs);
    if (!node.ok()) {
      const std::string who =
          store.processes() > 1 ? fmt::format("rank {}: ", view.nodes.size()) : "";
      return Status(node.code(), fmt::format("{}{}", who, node.status().message()));
    }
    view.nodes.push_back(std::move(*node));
  }
  view.enabled = options.cluster == "on" || (options.cluster == "auto" && view.nodes.size() > 1);
  return view;
}

Ending::Ending(asio::io_context& events, Store& store, std::function<void()> end)
    : store_(store),
      end_(std::move(end)),
      signals_(events,
               [this] {
                 begin();
                 store_.ask_all_to_end();  // last: a rank that does not answer delays no client
                                           // here
               }),
      looks_(events, [this] {
        if (store_.asked_to_end()) begin();
        return kBetweenLooks;
      }) {
  looks_.start();
}

void Ending::begin() {
  if (std::exchange(begun_, true)) return;  // the signal came while another rank notified it
  looks_.stop();
  signals_.stop();
  end_();
}

}  // namespace keyway::server
