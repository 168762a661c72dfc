// Store URIs: "scheme:?name=value&name=value". One table says what each name means.

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "keyway/client/client.h"
#include "keyway/client/lock_policy.h"
#include "keyway/client/wire/uri.h"

namespace keyway {
namespace {

Status bad(std::string_view uri, std::string message) {
  return {Code::kInvalidArgument, fmt::format("store URI '{}': {}", uri, message)};
}

bool whole_number(std::string_view text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

// "256MiB", "64KiB", "1GiB", "1048576".
bool size_in_bytes(std::string_view text, std::uint64_t& out) {
  std::uint32_t shift = 0;
  if (text.ends_with("KiB")) shift = 10;
  if (text.ends_with("MiB")) shift = 20;
  if (text.ends_with("GiB")) shift = 30;
  if (shift != 0) text.remove_suffix(3);
  if (!whole_number(text, out) || out > std::numeric_limits<std::uint64_t>::max() >> shift)
    return false;
  out <<= shift;
  return true;
}

// "250ms", "10s".
bool span_in_ms(std::string_view text, std::uint64_t& out) {
  std::uint64_t factor = 0;
  if (text.ends_with("ms")) {
    factor = 1;
    text.remove_suffix(2);
  } else if (text.ends_with("s")) {
    factor = 1000;
    text.remove_suffix(1);
  }
  constexpr std::uint64_t kLongestMs = 1000ULL * 3600 * 24 * 365;
  if (factor == 0 || !whole_number(text, out) || out == 0 || out > kLongestMs / factor)
    return false;
  out *= factor;
  return true;
}

template <class T>
bool number_into(T& field, std::string_view text, bool (*read)(std::string_view, std::uint64_t&)) {
  std::uint64_t value = 0;
  if (!read(text, value) || value > std::numeric_limits<T>::max()) return false;
  field = static_cast<T>(value);
  return true;
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
     [](StoreOptions& o, std::string_view v) { return size_in_bytes(v, o.memory_bytes); }},
    {"element_bytes", kBytes,
     [](StoreOptions& o, std::string_view v) { return size_in_bytes(v, o.element_bytes); }},
    {"buckets", kCount,
     [](StoreOptions& o, std::string_view v) { return whole_number(v, o.buckets); }},
    {"stripes", kCount,
     [](StoreOptions& o, std::string_view v) { return number_into(o.stripes, v, whole_number); }},
    {"sessions", kCount,
     [](StoreOptions& o, std::string_view v) { return number_into(o.sessions, v, whole_number); }},
    {"locks_per_session", kCount,
     [](StoreOptions& o, std::string_view v) {
       return number_into(o.locks_per_session, v, whole_number);
     }},
    {"lock", "a lock kind such as gbh or d-mcs, or auto",
     [](StoreOptions& o, std::string_view v) {
       o.lock = v;
       return !v.empty();
     }},
    {"expect_reads", "a percentage, 0 to 100",
     [](StoreOptions& o, std::string_view v) {
       return number_into(o.expect_reads, v, whole_number) && o.expect_reads <= 100;
     }},
    {"expect_local", "a percentage, 0 to 100",
     [](StoreOptions& o, std::string_view v) {
       return number_into(o.expect_local, v, whole_number) && o.expect_local <= 100;
     }},
    {"lock_costs", "measured, nominal, or costs such as cpu:20,loopback:500,rma:2000",
     [](StoreOptions& o, std::string_view v) {
       o.lock_costs = v;
       return client::lock_costs(v, 1).ok();
     }},
    {"timeout", "a time such as 500ms or 10s",
     [](StoreOptions& o, std::string_view v) {
       std::uint64_t ms = 0;
       const bool fits = span_in_ms(v, ms);
       o.timeout = std::chrono::milliseconds(ms);
       return fits;
     }},
    {"ranks", kCount,
     [](StoreOptions& o, std::string_view v) { return number_into(o.ranks, v, whole_number); }},
    {"topology", "a topology such as nodes=4 or rack:0,0,1,1",
     [](StoreOptions& o, std::string_view v) {
       o.topology = v;
       return !v.empty();
     }},
    {"lock_times", kCount,
     [](StoreOptions& o, std::string_view v) {
       return number_into(o.lock_times, v, whole_number);
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
       return number_into(o.ranks_per_node, v, whole_number);
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
  if (parsed.scheme == "local" &&
      (parsed.options.force_rma || parsed.options.ranks_per_node != 0)) {
    return bad(uri, "force_rma= and ranks_per_node= are for mpi: only");
  }
  return parsed;
}

}  // namespace keyway
