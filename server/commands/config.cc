// CONFIG ...

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "keyway/kvstore/resp/numbers.h"
#include "keyway/server/commands/arguments.h"
#include "keyway/server/commands/glob.h"
#include "keyway/server/commands/handlers.h"
#include "keyway/server/commands/help.h"

namespace keyway::server {
namespace {

/// A whole number that may change while the server runs.
struct Parameter {
  std::string_view name;
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::int64_t (*get)(const Service& service) = nullptr;
  void (*set)(Service& service, std::int64_t value) = nullptr;
};

constexpr std::string_view kCluster = "cluster-enabled";  // told apart from the facts
constexpr std::int64_t kMostNumber = std::numeric_limits<std::int64_t>::max();

constexpr Parameter kParameters[] = {
    {"maxclients", 1, std::numeric_limits<std::uint32_t>::max(),
     [](const Service& s) -> std::int64_t {
       return s.settings.most_clients.load(std::memory_order_relaxed);
     },
     [](Service& s, std::int64_t value) {
       s.settings.most_clients.store(static_cast<std::uint32_t>(value), std::memory_order_relaxed);
     }},
    {"slowlog-log-slower-than", -1, kMostNumber,
     [](const Service& s) { return s.slow_log.threshold_us(); },
     [](Service& s, std::int64_t value) { s.slow_log.set_threshold_us(value); }},
    {"slowlog-max-len", 0, kMostNumber,
     [](const Service& s) { return static_cast<std::int64_t>(s.slow_log.most_entries()); },
     [](Service& s, std::int64_t value) {
       s.slow_log.set_most_entries(static_cast<std::uint64_t>(value));
     }},
    {"latency-monitor-threshold", 0, kMostNumber,
     [](const Service& s) { return static_cast<std::int64_t>(s.latency_events.threshold_ms()); },
     [](Service& s, std::int64_t value) {
       s.latency_events.set_threshold_ms(static_cast<std::uint64_t>(value));
     }},
};

const Parameter* find_parameter(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kParameters), std::end(kParameters),
                   [&](const Parameter& parameter) { return is_option(name, parameter.name); });
  return found == std::end(kParameters) ? nullptr : found;
}

bool is_fixed(const Service& service, std::string_view name) {
  if (is_option(name, kCluster)) return true;
  return std::any_of(service.facts.parameters.begin(), service.facts.parameters.end(),
                     [&](const auto& fixed) { return is_option(name, fixed.first); });
}

void refuse(const Call& call, std::string_view name, std::string_view why) {
  call.error(
      fmt::format("ERR CONFIG SET failed (possibly related to argument '{}') - {}", name, why));
}

/// Whether the i-th word names what may be changed, and no word before it does.
bool may_set(const Call& call, std::size_t i) {
  const std::string_view name = call.word(i);
  if (find_parameter(name) == nullptr) {
    if (is_fixed(call.service, name)) {
      refuse(call, name, "can't set immutable config");
    } else {
      call.error(
          fmt::format("ERR Unknown option or number of arguments for CONFIG SET - '{}'", name));
    }
    return false;
  }
  for (std::size_t before = 2; before < i; before += 2) {
    if (find_parameter(call.word(before)) != find_parameter(name)) continue;
    refuse(call, name, "duplicate parameter");
    return false;
  }
  return true;
}

/// The number of the word behind the i-th, where the parameter takes it.
std::optional<std::int64_t> value_or_error(const Call& call, std::size_t i) {
  const Parameter& parameter = *find_parameter(call.word(i));
  const auto value = resp::parse_integer(call.word(i + 1));
  if (!value) {
    refuse(call, call.word(i), "argument couldn't be parsed into an integer");
    return std::nullopt;
  }
  if (*value < parameter.least || *value > parameter.most) {
    refuse(call, call.word(i),
           fmt::format("argument must be between {} and {} inclusive", parameter.least,
                       parameter.most));
    return std::nullopt;
  }
  if (parameter.name == "maxclients" && *value > call.service.settings.clients_limit) {
    refuse(call, call.word(i),
           fmt::format("The operating system is not able to handle the specified number of "
                       "clients, try with {}",
                       call.service.settings.clients_limit));
    return std::nullopt;
  }
  return value;
}

}  // namespace

/// By any of the patterns, each once. What is asked for by its name is called as it was asked for.
void run_config_get(const Call& call) {
  std::map<std::string, std::string, std::less<>> found;
  const auto look_at = [&](std::string_view name, std::string_view value) {
    for (const std::string_view pattern : call.words.subspan(2)) {
      if (is_option(pattern, name)) {
        found.emplace(pattern, value);
      } else if (glob_match(pattern, name, true)) {
        found.emplace(name, value);
      }
    }
  };
  for (const Parameter& parameter : kParameters) {
    look_at(parameter.name, fmt::to_string(parameter.get(call.service)));
  }
  for (const auto& [name, value] : call.service.facts.parameters) look_at(name, value);
  look_at(kCluster, call.service.cluster.enabled ? "yes" : "no");
  call.out.map(found.size());
  for (const auto& [name, value] : found) {
    call.out.bulk(name);
    call.out.bulk(value);
  }
}

/// All or none: nothing is changed before all has been looked at.
void run_config_set(const Call& call) {
  if (call.count() % 2 != 0) return call.error(kSyntaxError);
  for (std::size_t i = 2; i < call.count(); i += 2) {
    if (!may_set(call, i)) return;
  }
  std::vector<std::int64_t> values;
  for (std::size_t i = 2; i < call.count(); i += 2) {
    const auto value = value_or_error(call, i);
    if (!value) return;
    values.push_back(*value);
  }
  for (std::size_t i = 2; i < call.count(); i += 2) {
    find_parameter(call.word(i))->set(call.service, values[i / 2 - 1]);
  }
  call.ok();
}

void run_config_resetstat(const Call& call) {
  call.service.statistics.reset();
  call.ok();
}

/// No command writes a file.
void run_config_rewrite(const Call& call) {
  call.error("ERR The server is running without a config file");
}

void run_config_help(const Call& call) {
  reply_help(
      call, "CONFIG",
      {"GET <pattern>", "    Return parameters matching the glob-like <pattern> and their values.",
       "SET <directive> <value>", "    Set the configuration <directive> to <value>.", "RESETSTAT",
       "    Reset statistics reported by the INFO command.", "REWRITE",
       "    Rewrite the configuration file."});
}

}  // namespace keyway::server
