#include "keyway/server/commands/admin/info_writer.h"

#include <array>
#include <iterator>

namespace keyway::server {

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array kUnits = {'K', 'M', 'G', 'T', 'P'};
  if (bytes < 1024) return fmt::format("{}B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.2f}{}", value, kUnits[unit]);
}

void InfoWriter::section(std::string_view title) {
  if (!text_.empty()) text_ += "\r\n";
  fmt::format_to(std::back_inserter(text_), "# {}\r\n", title);
}

void InfoWriter::bytes(std::string_view name, std::uint64_t value) {
  field(name, value);
  fmt::format_to(std::back_inserter(text_), "{}_human:{}\r\n", name, human_bytes(value));
}

}  // namespace keyway::server
