// What kvctl is told by its command line and its environment.
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

/// What to do, where it is not to send a command.
enum class Mode : std::uint8_t {
  kCommands,  // of the command line, of stdin, or of a person
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
  wire::Options server;  // where it is, and who is asking
  bool ask_password = false;
  bool password_seen = false;  // on the command line, where others can see it: say so
  Mode mode = Mode::kCommands;
  std::optional<Style> style;  // nothing: by what stdout is
  bool stop_at_error = false;
  std::optional<std::int64_t> repeat;  // negative: for ever
  double interval_s = 0;               // 0: not given
  bool last_from_stdin = false;
  std::string tag;  // the word that stdin stands for; "": none
  std::string pattern;
  std::string type;
  std::uint64_t count = 0;  // of SCAN, and of rows; 0: not given
  std::uint32_t pipe_timeout_s = 30;
  std::vector<std::string> words;  // the command
};

using Parsed = program::Parsed<Options>;
Parsed parse_command_line(int argc, const char* const* argv);

}  // namespace keyway::kvctl
