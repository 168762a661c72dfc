// The common part of the programs' command lines: the result of parsing, exit codes, sizes.
//
// *Thread safety.* Values, and functions of their arguments.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "keyway/locks/base/status.h"

namespace CLI {
class App;
}

namespace keyway::program {

inline constexpr int kExitOk = 0;
inline constexpr int kExitUsage = 2;        // bad usage or configuration
inline constexpr int kExitUnavailable = 3;  // a required resource is unavailable

/// The result of parsing the command line: continue with `options`, or print and exit.
template <class Options>
struct Parsed {
  std::optional<Options> options;
  int exit_code = kExitOk;
  std::string out;    // for stdout
  std::string error;  // for stderr, one sentence
};

/// The end of a program after parsing.
struct Ending {
  int exit_code = kExitOk;
  std::string out;
  std::string error;

  template <class Options>
  operator Parsed<Options>() const {
    return {{}, exit_code, out, error};
  }
};

/// Calls `parse`, which lets `app` read words, and returns how that ended: with help, with a
/// version, with a mistake in one sentence; nothing if the program continues.
std::optional<Ending> ending_of(const CLI::App& app, const std::function<void()>& parse);

/// "512MiB" of the option `name`; kInvalidArgument with a sentence if the text is not a size, or is
/// 0.
Result<std::uint64_t> parse_size(std::string_view name, std::string_view text);

}  // namespace keyway::program
