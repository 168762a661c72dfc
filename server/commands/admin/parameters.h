// Parameters: the settings that CONFIG GET shows and CONFIG SET changes while the server runs.
//
// *Thread safety.* Constants, over a Service.
// *Source.* Redis 7.0, config.c: names, ranges, the forms of a value, and the sentences.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "keyway/server/commands/engine/execute.h"

namespace keyway::server {

struct Parameter {
  std::string_view name;
  std::string (*get)(const Service& service) = nullptr;
  /// Why it does not take a value; empty: it does.
  std::string (*reason_against)(const Service& service, std::string_view value) = nullptr;
  /// Sets an accepted value.
  void (*set)(Service& service, std::string_view value) = nullptr;
};

/// In no order.
std::span<const Parameter> parameters();

}  // namespace keyway::server
