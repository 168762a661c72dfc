#include "keyway/client/program/output_file.h"

#include <fmt/core.h>

#include <fstream>

namespace keyway::program {
namespace {

Status lost(const std::string& path) {
  return Status(Code::kUnavailable,
                fmt::format("cannot write '{}': the results are lost, so give another path", path));
}

}  // namespace

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
  return file.fail() ? lost(path) : Status();
}

Status append_to_table(const std::string& path, const std::string& head, const std::string& rows) {
  std::ofstream file(path, std::ios::app);
  file.seekp(0, std::ios::end);
  file << (file.tellp() == std::ofstream::pos_type(0) ? head : "") << rows;
  file.close();
  return file.fail() ? lost(path) : Status();
}

}  // namespace keyway::program
