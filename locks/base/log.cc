#include "keyway/locks/base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace keyway::log {
namespace {

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::kTrace: return spdlog::level::trace;
    case Level::kDebug: return spdlog::level::debug;
    case Level::kInfo: return spdlog::level::info;
    case Level::kWarning: return spdlog::level::warn;
    case Level::kError: return spdlog::level::err;
  }
  return spdlog::level::err;
}

constexpr const char* kPattern = "%Y-%m-%d %H:%M:%S.%e %l keyway";

constexpr auto kDefaultLevel = spdlog::level::warn;

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>(
        "keyway", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made->set_pattern(std::string(kPattern) + ": %v");
    const char* set = std::getenv("KEYWAY_LOG");
    const std::string wanted = set == nullptr ? "" : set;
    // spdlog reads an unknown word as "off".
    const auto level = spdlog::level::from_str(wanted);
    const bool known = level != spdlog::level::off || wanted == "off";
    made->set_level(known ? level : kDefaultLevel);
    if (!known && !wanted.empty()) {
      made->warn("KEYWAY_LOG={} is not a level: write trace, debug, info, warning, error or off",
                 wanted);
    }
    return made;
  }();
  return *instance;
}

}  // namespace

void write(Level level, std::string_view line) {
  logger().log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

bool enabled(Level level) { return logger().should_log(to_spdlog(level)); }

void set_origin(std::string_view origin) {
  logger().set_pattern(std::string(kPattern) + " " + std::string(origin) + ": %v");
}

}  // namespace keyway::log
