// The settings of kvctl from its command line and its environment.
//
// *Thread safety.* Values, and functions of their arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "format/format.h"
#include "keyway/client/program/command_line.h"
#include "keyway/client/wire/options.h"

namespace keyway::kvctl {

using program::kExitOk;
using program::kExitUnavailable;
using program::kExitUsage;
inline constexpr std::uint16_t kPort = 7400;  // keywayd's
inline constexpr int kExitError = 1;          // the server answered an error

/// The function to run, unless it is to send a command.
enum class Mode : std::uint8_t {
  kCommands,  // from the command line, stdin, or a terminal
  kPipe,
  kStat,
  kLatency,
  kLatencyHistory,
  kLatencyDist,
  kScan,
  kBigKeys,
  kMemKeys,
  kHotKeys,
};

struct Options {
  wire::Options server;  // its address and our login
  bool ask_password = false;
  bool password_seen = false;  // on the command line, where others can see it: warn
  Mode mode = Mode::kCommands;
  std::optional<Style> style;  // nothing: by what stdout is
  bool stop_at_error = false;
  std::optional<std::int64_t> repeat;  // negative: for ever
  double interval_s = 0;               // 0: not given
  bool last_from_stdin = false;
  std::string tag;  // the word that stdin replaces; "": none
  std::string pattern;
  std::string type;
  std::uint64_t count = 0;  // for SCAN, and for rows; 0: not given
  std::uint32_t pipe_timeout_s = 30;
  std::vector<std::string> words;  // the command
};

using Parsed = program::Parsed<Options>;
Parsed parse_command_line(int argc, const char* const* argv);

}  // namespace keyway::kvctl
