#include "shell/history_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace keyway::kvctl {
namespace {

constexpr mode_t kOwnerOnly = 0600;

/// Writes all of `text` with one call, so that lines of two shells do not mix.
Status write_to(const std::string& path, int flags, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, kOwnerOnly);
  if (file < 0) {
    return Status(Code::kUnavailable,
                  fmt::format("cannot write the history {}: {}", path, std::strerror(errno)));
  }
  ::fchmod(file, kOwnerOnly);  // a file that was there already
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  if (written) return {};
  return Status(Code::kUnavailable, fmt::format("cannot write the history {}", path));
}

/// Keeps the last lines only. On failure the file is unchanged.
void shorten(const std::string& path, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  const std::string next = path + ".new";
  if (!write_to(next, O_TRUNC, text).ok() || ::rename(next.c_str(), path.c_str()) != 0) {
    ::unlink(next.c_str());
  }
}

}  // namespace

std::string history_path() {
  if (const char* path = std::getenv("KVCTL_HISTFILE")) return path;
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? std::string() : fmt::format("{}/.kvctl_history", home);
}

std::vector<std::string> load_history(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  std::size_t in_file = 0;
  for (std::string line; std::getline(file, line); ++in_file) {
    if (!line.empty()) lines.push_back(std::move(line));
    if (lines.size() > 2 * kMaxHistoryLines)
      lines.erase(lines.begin(), lines.begin() + kMaxHistoryLines);
  }
  if (lines.size() > kMaxHistoryLines) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kMaxHistoryLines));
  }
  if (in_file > 2 * kMaxHistoryLines) shorten(path, lines);
  return lines;
}

Status append_history(const std::string& path, std::string_view line) {
  if (path.empty()) return {};
  return write_to(path, O_APPEND, fmt::format("{}\n", line));
}

}  // namespace keyway::kvctl
