// run_catch(): runs the test cases of a program. Catch2's runner is slow to compile, so all test
// programs share one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>

namespace keyway::test {

/// An option of a test program beside Catch2's own.
struct CatchOption {
  std::variant<bool*, std::uint32_t*> into;
  std::string name;
  std::string what;
};

/// How results are printed.
struct CatchOutput {
  bool colour = true;
  bool compact = false;  // without what passes
};

/// Runs the test cases that the command line names, and returns the program's exit code. begin() is
/// called once the command line is understood; any result but 0 ends the program as its exit code.
int run_catch(int argc, char** argv, std::span<const CatchOption> options = {},
              const std::function<int(CatchOutput&)>& begin = {});

}  // namespace keyway::test
