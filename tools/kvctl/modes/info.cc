#include "modes/info.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "modes/tree.h"

namespace keyway::kvctl {
namespace {

std::uint64_t number_of(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

Info::Info(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t colon = line.find(':');
    if (line.starts_with('#') || colon == std::string_view::npos) continue;
    fields_.emplace(line.substr(0, colon), line.substr(colon + 1));
  }
}

Result<Info> Info::of(Link& link) {
  const auto reply = link.ask({"INFO"});
  if (!reply.ok()) return reply.status();
  const Tree tree(*reply);
  if (!tree.is_error()) return Info(tree.text());
  return Status(Code::kUnsupported,
                fmt::format("{} rejected INFO: {}", link.server(), tree.text()));
}

std::string_view Info::text(std::string_view name) const {
  const auto found = fields_.find(name);
  return found == fields_.end() ? std::string_view() : found->second;
}

std::uint64_t Info::number(std::string_view name) const { return number_of(text(name)); }

std::uint64_t Info::keys() const {
  constexpr std::string_view kKeys = "keys=";
  std::uint64_t sum = 0;
  for (const auto& [name, value] : fields_) {
    const std::size_t at = value.find(kKeys);
    if (!name.starts_with("db") || at != 0) continue;
    sum += number_of(std::string_view(value).substr(kKeys.size()));
  }
  return sum;
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "K", "M", "G", "T"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{}B", bytes) : fmt::format("{:.2f}{}", value, kUnits[unit]);
}

}  // namespace keyway::kvctl
