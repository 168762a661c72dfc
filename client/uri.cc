// Store URIs: "scheme:?name=value&name=value". One table says what each name means.

#include <fmt/core.h>

#include "keyway/client/client.h"
#include "keyway/client/lock_policy.h"
#include "keyway/client/wire/uri.h"
#include "keyway/kvstore/layout/hash_secret.h"
#include "keyway/locks/base/text_values.h"

namespace keyway {
namespace {

Status bad(std::string_view uri, std::string message) {
  return {Code::kInvalidArgument, fmt::format("store URI '{}': {}", uri, message)};
}

struct Parameter {
  std::string_view name;
  std::string_view expects;
  bool (*set)(StoreOptions&, std::string_view);
};

constexpr std::string_view kCount = "a whole number";
constexpr std::string_view kBytes = "a size such as 64KiB, 256MiB or 1GiB";

const Parameter kParameters[] = {
    {"memory", kBytes,
     [](StoreOptions& o, std::string_view v) {
       return set_from(o.memory_bytes, size_in_bytes(v));
     }},
    {"element_bytes", kBytes,
     [](StoreOptions& o, std::string_view v) {
       return set_from(o.element_bytes, size_in_bytes(v));
     }},
    {"buckets", kCount,
     [](StoreOptions& o, std::string_view v) {
       return set_from(o.buckets, whole_number<std::uint64_t>(v));
     }},
    {"stripes", kCount,
     [](StoreOptions& o, std::string_view v) {
       return set_from(o.stripes, whole_number<std::uint32_t>(v));
     }},
    {"sessions", kCount,
     [](StoreOptions& o, std::string_view v) {
       return set_from(o.sessions, whole_number<std::uint32_t>(v));
     }},
    {"locks_per_session", kCount,
     [](StoreOptions& o, std::string_view v) {
       return set_from(o.locks_per_session, whole_number<std::uint32_t>(v));
     }},
    {"lock", "a lock kind such as gbh or d-mcs, auto, or default",
     [](StoreOptions& o, std::string_view v) {
       o.lock = v;
       return !v.empty();
     }},
    {"expect_reads", "a percentage, 0 to 100",
     [](StoreOptions& o, std::string_view v) {
       return set_from(o.expect_reads, whole_number<std::uint32_t>(v)) && o.expect_reads <= 100;
     }},
    {"expect_local", "a percentage, 0 to 100",
     [](StoreOptions& o, std::string_view v) {
       return set_from(o.expect_local, whole_number<std::uint32_t>(v)) && o.expect_local <= 100;
     }},
    {"lock_costs", "measured, nominal, or costs such as cpu:20,loopback:500,rma:2000",
     [](StoreOptions& o, std::string_view v) {
       o.lock_costs = v;
       return client::lock_costs(v, 1).ok();
     }},
    {"timeout", "a time such as 500ms or 10s",
     [](StoreOptions& o, std::string_view v) { return set_from(o.timeout, time_span(v)); }},
    {"ranks", kCount,
     [](StoreOptions& o, std::string_view v) {
       return set_from(o.ranks, whole_number<std::uint32_t>(v));
     }},
    {"topology", "a topology such as nodes=4 or rack:0,0,1,1",
     [](StoreOptions& o, std::string_view v) {
       o.topology = v;
       return !v.empty();
     }},
    {"hash_secret", "32 hexadecimal digits",
     [](StoreOptions& o, std::string_view v) {
       o.hash_secret = v;
       return store::parse_hash_secret(v).has_value();
     }},
    {"lock_times", kCount,
     [](StoreOptions& o, std::string_view v) {
       return set_from(o.lock_times, whole_number<std::uint32_t>(v));
     }},
    {"benchmark", "on or off",
     [](StoreOptions& o, std::string_view v) {
       o.benchmark = v == "on";
       return v == "on" || v == "off";
     }},
    {"force_rma", "on or off",
     [](StoreOptions& o, std::string_view v) {
       o.force_rma = v == "on";
       return v == "on" || v == "off";
     }},
    {"ranks_per_node", kCount,
     [](StoreOptions& o, std::string_view v) {
       return set_from(o.ranks_per_node, whole_number<std::uint32_t>(v));
     }},
    {"path", "auto, onesided or owner",
     [](StoreOptions& o, std::string_view v) {
       o.path = v == "owner"      ? EditPath::kOwner
                : v == "onesided" ? EditPath::kOneSided
                                  : EditPath::kAuto;
       return v == "auto" || v == "owner" || v == "onesided";
     }},
    {"patience", "a time such as 5ms or 100ms",
     [](StoreOptions& o, std::string_view v) { return set_from(o.patience, time_span(v)); }},
    {"addresses", kBytes,
     [](StoreOptions& o, std::string_view v) {
       return set_from(o.address_bytes, size_in_bytes(v));
     }},
    {"reads", "optimistic or locked",
     [](StoreOptions& o, std::string_view v) {
       o.reads_lock = v == "locked";
       return v == "locked" || v == "optimistic";
     }},
};

Status set_parameter(std::string_view uri, StoreOptions& options, std::string_view part) {
  const auto equals = part.find('=');
  const auto name = part.substr(0, equals);
  for (const Parameter& parameter : kParameters) {
    if (parameter.name != name) continue;
    const auto value = equals == std::string_view::npos ? "" : part.substr(equals + 1);
    if (parameter.set(options, value)) return {};
    return bad(uri, fmt::format("{}='{}' is not {}", name, value, parameter.expects));
  }
  std::string known;
  for (const Parameter& parameter : kParameters) known += fmt::format(" {}", parameter.name);
  return bad(uri, fmt::format("there is no parameter '{}'; there are{}", name, known));
}

/// Only what StoreOptions says as well is kept.
Result<ParsedUri> parse_of_server(std::string_view uri, StoreOptions defaults) {
  wire::Options options;
  options.request_timeout = defaults.timeout;
  options.password = defaults.password;
  const auto server = wire::parse_server_uri(uri, options);
  if (!server.ok()) return server.status();
  defaults.timeout = server->request_timeout;
  defaults.password = server->password;
  return ParsedUri{std::string(uri.substr(0, uri.find(':'))), std::move(defaults)};
}

}  // namespace

Result<ParsedUri> parse_store_uri(std::string_view uri, StoreOptions defaults) {
  const auto colon = uri.find(':');
  if (colon == std::string_view::npos) {
    return bad(uri, "it has no scheme; write local:, mpi: or redis://host:port");
  }
  if (wire::is_server_uri(uri)) return parse_of_server(uri, std::move(defaults));
  ParsedUri parsed{std::string(uri.substr(0, colon)), std::move(defaults)};
  if (parsed.scheme != "local" && parsed.scheme != "mpi") {
    return bad(
        uri, fmt::format("'{}:' is not a scheme of Keyway; write local:, mpi:, redis:, rediss: or "
                         "unix:",
                         parsed.scheme));
  }
  std::string_view rest = uri.substr(colon + 1);
  if (rest.empty()) return parsed;
  if (rest.front() != '?') {
    return bad(
        uri, fmt::format("'{}' after the scheme is not understood; parameters follow a '?'", rest));
  }
  for (rest.remove_prefix(1); !rest.empty();) {
    const auto ampersand = rest.find('&');
    if (auto set = set_parameter(uri, parsed.options, rest.substr(0, ampersand)); !set.ok())
      return set;
    rest = ampersand == std::string_view::npos ? "" : rest.substr(ampersand + 1);
  }
  if (parsed.scheme == "mpi" && parsed.options.ranks != 1) {
    return bad(uri, "ranks= is for local: only; mpi: has a rank for each process of mpirun");
  }
  if (parsed.scheme == "local") {
    if (parsed.options.force_rma || parsed.options.ranks_per_node != 0) {
      return bad(uri, "force_rma= and ranks_per_node= are for mpi: only");
    }
    if (parsed.options.path == EditPath::kOwner) {
      return bad(uri, "path=owner is for mpi: only; here every rank is in this process's memory");
    }
  }
  return parsed;
}

}  // namespace keyway
