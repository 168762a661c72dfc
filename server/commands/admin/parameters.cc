#include "keyway/server/commands/admin/parameters.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <utility>

#include "keyway/kvstore/resp/numbers.h"
#include "keyway/locks/base/words.h"
#include "keyway/server/commands/engine/arguments.h"

namespace keyway::server {
namespace {

constexpr std::int64_t kMaxInt = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMaxValue = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMebi = 1 << 20;
constexpr int kMaxKeepalive = 32'767;  // s, that the kernel takes

/// "64mb" as Redis reads it: a whole number, and a unit of 1000, or with a b of 1024.
std::optional<std::int64_t> size_in(std::string_view text) {
  constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {
      {"b", 1},           {"k", 1000},          {"kb", 1 << 10},   {"m", 1'000'000},
      {"mb", 1ULL << 20}, {"g", 1'000'000'000}, {"gb", 1ULL << 30}};
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  auto value = resp::parse_integer(text.substr(0, digits));
  if (!value || digits == text.size()) return value;
  for (const auto& [unit, bytes] : kUnits) {
    if (!is_word(text.substr(digits), unit)) continue;
    std::int64_t product = 0;
    if (__builtin_mul_overflow(*value, bytes, &product)) return std::nullopt;
    return product;
  }
  return std::nullopt;
}

std::string out_of_range(std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return {};
  return fmt::format("argument must be between {} and {} inclusive", least, most);
}

template <std::int64_t least, std::int64_t most>
std::string no_number(const Service&, std::string_view text) {
  const auto value = resp::parse_integer(text);
  return value ? out_of_range(*value, least, most) : "argument couldn't be parsed into an integer";
}

template <std::int64_t least>
std::string no_size(const Service&, std::string_view text) {
  const auto value = size_in(text);
  return value ? out_of_range(*value, least, kMaxValue) : "argument must be a memory value";
}

std::int64_t number_in(std::string_view text) { return resp::parse_integer(text).value_or(0); }

/// A whole number among the settings.
template <auto member>
std::string get_setting(const Service& service) {
  return fmt::to_string(+(service.settings.*member));
}

template <auto member>
void set_setting(Service& service, std::string_view text) {
  using Number = decltype(+(service.settings.*member));
  service.settings.*member = static_cast<Number>(size_in(text).value_or(0));
}

template <auto member, std::int64_t least, std::int64_t most>
constexpr Parameter number_parameter(std::string_view name) {
  return {name, get_setting<member>, no_number<least, most>, set_setting<member>};
}

template <auto member, std::int64_t least>
constexpr Parameter size_parameter(std::string_view name) {
  return {name, get_setting<member>, no_size<least>, set_setting<member>};
}

std::string no_clients(const Service& service, std::string_view text) {
  std::string why = no_number<1, std::numeric_limits<std::uint32_t>::max()>(service, text);
  if (!why.empty() || number_in(text) <= service.settings.clients_limit) return why;
  return fmt::format(
      "The operating system is not able to handle the specified number of clients, try with {}",
      service.settings.clients_limit);
}

/// The words of a client-output-buffer-limit: class, hard, soft, seconds.
struct OutputLimit {
  std::string_view words[4];
};

std::optional<OutputLimit> output_limit_of(std::string_view text) {
  OutputLimit limit;
  std::size_t count = 0;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) break;
    const std::size_t end = std::min(text.find(' '), text.size());
    if (count == std::size(limit.words)) return std::nullopt;
    limit.words[count++] = text.substr(0, end);
    text.remove_prefix(end);
  }
  if (count != std::size(limit.words)) return std::nullopt;
  return limit;
}

/// There are no replicas and no subscribers to be limited, nor limits for a while.
std::string no_output_limit(const Service&, std::string_view text) {
  const auto limit = output_limit_of(text);
  if (!limit) return "Wrong number of arguments in buffer limit configuration.";
  if (!is_word(limit->words[0], "normal")) {
    return "Invalid client class specified in buffer limit configuration.";
  }
  const auto soft = size_in(limit->words[2]);
  const auto seconds = resp::parse_integer(limit->words[3]);
  if (!size_in(limit->words[1]) || !soft || !seconds || *seconds < 0) {
    return "Error in hard, soft or soft_seconds setting in buffer limit configuration.";
  }
  return *soft == 0 ? "" : "soft limits are unsupported: the soft limit must be 0";
}

std::string no_password(const Service& service, std::string_view text) {
  if (!text.empty() || !service.server_info.reached_by_others) return {};
  return "other hosts can reach this server, so a password is required";
}

constexpr std::uint64_t as_unsigned(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

constexpr Parameter kParameters[] = {
    {"maxclients", get_setting<&Settings::most_clients>, no_clients,
     set_setting<&Settings::most_clients>},
    {"requirepass", [](const Service& s) { return s.password.text(); }, no_password,
     [](Service& s, std::string_view text) { s.password.set(std::string(text)); }},
    number_parameter<&Settings::idle_s, 0, kMaxInt>("timeout"),
    number_parameter<&Settings::login_s, 0, kMaxInt>("auth-timeout"),
    number_parameter<&Settings::output_s, 0, kMaxInt>("client-output-timeout"),
    number_parameter<&Settings::shutdown_s, 0, kMaxInt>("shutdown-timeout"),
    number_parameter<&Settings::keepalive_s, 0, kMaxKeepalive>("tcp-keepalive"),
    size_parameter<&Settings::word_bytes, kMebi>("proto-max-bulk-len"),
    size_parameter<&Settings::query_bytes, kMebi>("client-query-buffer-limit"),
    {"client-output-buffer-limit",
     [](const Service& s) { return fmt::format("normal {} 0 0", +s.settings.output_bytes); },
     no_output_limit,
     [](Service& s, std::string_view text) {
       s.settings.output_bytes = as_unsigned(size_in(output_limit_of(text)->words[1]).value_or(0));
     }},
    {"slowlog-log-slower-than",
     [](const Service& s) { return fmt::to_string(s.slow_log.threshold_us()); },
     no_number<-1, kMaxValue>,
     [](Service& s, std::string_view text) { s.slow_log.set_threshold_us(number_in(text)); }},
    {"slowlog-max-len", [](const Service& s) { return fmt::to_string(s.slow_log.most_entries()); },
     no_number<0, kMaxValue>,
     [](Service& s, std::string_view text) {
       s.slow_log.set_most_entries(as_unsigned(number_in(text)));
     }},
    {"latency-monitor-threshold",
     [](const Service& s) { return fmt::to_string(s.latency_events.threshold_ms()); },
     no_number<0, kMaxValue>,
     [](Service& s, std::string_view text) {
       s.latency_events.set_threshold_ms(as_unsigned(number_in(text)));
     }},
};

}  // namespace

std::span<const Parameter> parameters() { return kParameters; }

}  // namespace keyway::server
