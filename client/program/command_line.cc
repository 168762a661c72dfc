#include "keyway/client/program/command_line.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>

namespace keyway::program {
namespace {

/// CLI11's messages may end in a hint of several lines; ours are one sentence.
std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

std::optional<Ending> ending_of(const CLI::App& app, const std::function<void()>& parse) {
  try {
    parse();
  } catch (const CLI::CallForHelp&) {
    return Ending{kExitOk, app.help(), {}};
  } catch (const CLI::CallForVersion& version) {
    return Ending{kExitOk, std::string(version.what()) + "\n", {}};
  } catch (const CLI::Error& error) {
    return Ending{
        kExitUsage, {}, fmt::format("{}; see {} --help", first_line(error.what()), app.get_name())};
  }
  return std::nullopt;
}

Result<std::uint64_t> parse_size(std::string_view name, std::string_view text) {
  std::uint64_t bytes = 0;
  std::string input(text);
  try {
    if (CLI::AsSizeValue(false)(input).empty() && CLI::detail::lexical_cast(input, bytes) &&
        bytes != 0) {
      return bytes;
    }
  } catch (const CLI::Error&) {  // the sentence is the same
  }
  return Status(Code::kInvalidArgument,
                fmt::format("{} {} is not a size: write for example 512MiB or 2GiB", name, text));
}

}  // namespace keyway::program
