#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "tests/support/catch_run.h"

namespace keyway::test {
namespace {

using Catch::clara::Opt;

Opt parsed_into(bool* flag, const CatchOption& option) {
  return Opt(*flag)[option.name](option.what);
}
Opt parsed_into(std::uint32_t* number, const CatchOption& option) {
  return Opt(*number, "n")[option.name](option.what);
}

}  // namespace

int run_catch(int argc, char** argv, std::span<const CatchOption> options,
              const std::function<int(CatchOutput&)>& begin) {
  Catch::Session session;
  for (const CatchOption& option : options) {
    session.cli(session.cli() |
                std::visit([&](auto* into) { return parsed_into(into, option); }, option.into));
  }
  if (const int error = session.applyCommandLine(argc, argv); error != 0) return error;
  CatchOutput output;
  if (begin) {
    if (const int error = begin(output); error != 0) return error;
  }
  if (!output.colour) session.configData().useColour = Catch::UseColour::No;
  if (output.compact) session.configData().reporterName = "compact";
  return session.run();
}

}  // namespace keyway::test
