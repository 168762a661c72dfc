#include "keyway/workloads/properties.h"

#include <fmt/core.h>

#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>

namespace keyway::workloads {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

std::string_view skip_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

bool continues(std::string_view line) {
  std::size_t backslashes = 0;
  while (backslashes < line.size() && line[line.size() - 1 - backslashes] == '\\') ++backslashes;
  return backslashes % 2 == 1;
}

/// Takes the next line off `text`, without its end ("\n", "\r\n" or "\r").
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find_first_of("\r\n");
  const std::string_view line = text.substr(0, end);
  if (end == std::string_view::npos) {
    text = {};
    return line;
  }
  const bool two = text[end] == '\r' && end + 1 < text.size() && text[end + 1] == '\n';
  text.remove_prefix(end + (two ? 2 : 1));
  return line;
}

std::optional<std::uint32_t> hex4(std::string_view digits) {
  if (digits.size() < 4) return std::nullopt;
  std::uint32_t code = 0;
  for (const char c : digits.substr(0, 4)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return std::nullopt;
    code = code * 16 + static_cast<std::uint32_t>(digit);
  }
  return code;
}

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

/// Resolves escapes; nothing when a \u is not followed by four hex digits.
std::optional<std::string> unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) break;
    switch (text[i]) {
      case 't': out += '\t'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 'f': out += '\f'; break;
      case 'u': {
        const auto code = hex4(text.substr(i + 1));
        if (!code) return std::nullopt;
        append_utf8(out, *code);
        i += 4;
        break;
      }
      default: out += text[i];
    }
  }
  return out;
}

/// The end of the name in a logical line: the first separator that is not escaped.
std::size_t name_end(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '=' || line[i] == ':' || is_blank(line[i])) {
      return i;
    }
  }
  return line.size();
}

}  // namespace

Result<Properties> Properties::parse(std::string_view text, std::string_view origin) {
  Properties properties;
  std::size_t line_number = 0;
  while (!text.empty()) {
    const std::size_t first_line = ++line_number;
    const std::string_view line = skip_blanks(take_line(text));
    if (line.empty() || line.front() == '#' || line.front() == '!') continue;
    std::string logical(line);
    while (continues(logical)) {
      logical.pop_back();
      if (text.empty()) break;
      logical += skip_blanks(take_line(text));
      ++line_number;
    }
    const std::size_t end = name_end(logical);
    std::string_view rest = skip_blanks(std::string_view(logical).substr(end));
    if (!rest.empty() && (rest.front() == '=' || rest.front() == ':')) {
      rest = skip_blanks(rest.substr(1));
    }
    const auto name = unescape(std::string_view(logical).substr(0, end));
    const auto value = unescape(rest);
    const std::string where = fmt::format("{}:{}", origin, first_line);
    if (!name || !value) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{}: \\u must be followed by four hexadecimal digits", where));
    }
    if (name->empty()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{}: a property needs a name before '='", where));
    }
    properties.set(*name, *value, where);
  }
  return properties;
}

Result<Properties> Properties::read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // Opening a directory succeeds on Linux; only reading it fails.
  if (!file || (file.peek() != std::ifstream::traits_type::eof() && !(text << file.rdbuf())) ||
      file.bad()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("cannot read workload file '{}': give the path of a readable "
                              "properties file after -P",
                              path));
  }
  return parse(text.str(), path);
}

void Properties::set(std::string_view name, std::string_view value, std::string_view origin) {
  entries_.insert_or_assign(std::string(name), Entry{std::string(value), std::string(origin)});
}

void Properties::merge(const Properties& later) {
  for (const auto& [name, entry] : later.entries_) entries_.insert_or_assign(name, entry);
}

const Properties::Entry* Properties::find(std::string_view name) const {
  const auto it = entries_.find(name);
  return it == entries_.end() ? nullptr : &it->second;
}

}  // namespace keyway::workloads
