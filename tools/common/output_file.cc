#include "output_file.h"

#include <fmt/core.h>

#include <fstream>

namespace keyway::tools {

Status check_writable(const std::string& path) {
  if (const std::ofstream file(path, std::ios::app); file) return {};
  return Status(
      Code::kInvalidArgument,
      fmt::format("cannot write '{}': give a path in a folder that exists and can be written",
                  path));
}

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text;
  file.close();
  if (!file.fail()) return {};
  return Status(Code::kUnavailable,
                fmt::format("cannot write '{}': the results are lost, so give another path", path));
}

}  // namespace keyway::tools
