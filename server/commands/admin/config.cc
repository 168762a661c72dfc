// CONFIG ...

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "keyway/locks/base/words.h"
#include "keyway/locks/fabric/time_slice.h"
#include "keyway/server/commands/admin/parameters.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"
#include "keyway/server/commands/engine/help.h"
#include "keyway/server/commands/engine/secrets.h"
#include "keyway/server/commands/keys/glob.h"

namespace keyway::server {
namespace {

constexpr std::string_view kCluster = "cluster-enabled";  // distinguished from the server info

const Parameter* find_parameter(std::string_view name) {
  const auto all = parameters();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Parameter& parameter) {
    return is_word(name, parameter.name);
  });
  return found == all.end() ? nullptr : &*found;
}

bool is_fixed(const Service& service, std::string_view name) {
  if (is_word(name, kCluster)) return true;
  return std::any_of(service.server_info.parameters.begin(), service.server_info.parameters.end(),
                     [&](const auto& fixed) { return is_word(name, fixed.first); });
}

void reply_set_error(const Call& call, std::string_view name, std::string_view why) {
  call.error(
      fmt::format("ERR CONFIG SET failed (possibly related to argument '{}') - {}", name, why));
}

/// Whether the i-th word names what may be changed, and no word before it does.
bool may_set(const Call& call, std::size_t i) {
  const std::string_view name = call.word(i);
  if (find_parameter(name) == nullptr) {
    if (is_fixed(call.service, name)) {
      reply_set_error(call, name, "can't set immutable config");
    } else {
      call.error(
          fmt::format("ERR Unknown option or number of arguments for CONFIG SET - '{}'", name));
    }
    return false;
  }
  for (std::size_t before = 2; before < i; before += 2) {
    if (find_parameter(call.word(before)) != find_parameter(name)) continue;
    reply_set_error(call, name, "duplicate parameter");
    return false;
  }
  return true;
}

/// Parameters that match any of the patterns, each once. One that is requested by its name is shown
/// by the requested name.
void run_config_get(const Call& call) {
  std::map<std::string, std::string, std::less<>> found;
  const auto look_at = [&](std::string_view name, std::string_view value) {
    for (std::size_t i = 2; i < call.count(); ++i) {
      fabric::this_fiber::yield_if_due(i);
      const std::string_view pattern = call.word(i);
      if (is_word(pattern, name)) {
        found.emplace(pattern, value);
      } else if (glob_match(pattern, name, true)) {
        found.emplace(name, value);
      }
    }
  };
  for (const Parameter& parameter : parameters()) {
    look_at(parameter.name, parameter.get(call.service));
  }
  for (const auto& [name, value] : call.service.server_info.parameters) look_at(name, value);
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
  for (std::size_t i = 2; i < call.count(); i += 2) {
    const std::string why =
        find_parameter(call.word(i))->reason_against(call.service, call.word(i + 1));
    if (!why.empty()) return reply_set_error(call, call.word(i), why);
  }
  for (std::size_t i = 2; i < call.count(); i += 2) {
    find_parameter(call.word(i))->set(call.service, call.word(i + 1));
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

/// The pairs of CONFIG SET: a value may be "requirepass".
void hide_in_config(std::span<std::string_view> words) {
  for (std::size_t i = 2; i < words.size(); i += 2) {
    if (is_word(words[i], "requirepass")) hide(words.subspan(i + 1, i + 1 < words.size() ? 1 : 0));
  }
}

}  // namespace

CommandRows commands_of_admin_config() {
  static constexpr auto kRows = checked({
      {.name = "config", .arity = -2, .group = Group::kServer, .flags = kContainer},
      {.name = "config|get",
       .arity = -3,
       .group = Group::kServer,
       .flags = kOfConfig,
       .run = run_config_get,
       .arguments = "pattern [pattern ...]",
       .summary = "Returns the settings with names that match a pattern."},
      {.name = "config|help",
       .arity = 2,
       .group = Group::kServer,
       .flags = kLoading | kStale,
       .run = run_config_help},
      {.name = "config|resetstat",
       .arity = 2,
       .group = Group::kServer,
       .flags = kOfConfig,
       .run = run_config_resetstat,
       .summary = "Sets the counters of INFO to zero."},
      {.name = "config|rewrite",
       .arity = 2,
       .group = Group::kServer,
       .flags = kOfConfig,
       .run = run_config_rewrite,
       .summary = "Writes the settings to the file that they were read from, where allowed."},
      {.name = "config|set",
       .arity = -4,
       .group = Group::kServer,
       .flags = kOfConfig,
       .run = run_config_set,
       .tips = "request_policy:all_nodes response_policy:all_succeeded",
       .arguments = "name value [name value ...]",
       .summary = "Changes settings at run time.",
       .hide_secrets = hide_in_config},
  });
  return kRows;
}

}  // namespace keyway::server
