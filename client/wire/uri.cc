#include "keyway/client/wire/uri.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "keyway/locks/base/text_values.h"

namespace keyway::wire {
namespace {

constexpr std::string_view kTcp = "redis:";
constexpr std::string_view kTls = "rediss:";
constexpr std::string_view kUnix = "unix:";
constexpr std::size_t kLongestUnixPath = 107;  // sockaddr_un

Status bad(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// With %XX replaced; nothing where that is malformed.
std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

bool set_switch(bool& field, std::string_view text) {
  field = text == "on";
  return field || text == "off";
}

bool set_text(std::string& field, std::string_view text) {
  field = text;
  return !text.empty() && text.find('\0') == std::string_view::npos;
}

bool is_name(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

struct Parameter {
  std::string_view name;
  std::string_view expects;
  bool (*set)(Options&, std::string_view);
};

constexpr std::string_view kSpan = "a time such as 500ms or 10s";
constexpr std::string_view kFile = "the path of a PEM file";

const Parameter kParameters[] = {
    {"protocol", "2 or 3",
     [](Options& o, std::string_view v) {
       o.version = v == "3" ? resp::Version::kResp3 : resp::Version::kResp2;
       return v == "2" || v == "3";
     }},
    {"timeout", kSpan,
     [](Options& o, std::string_view v) { return set_from(o.request_timeout, time_span(v)); }},
    {"connect_timeout", kSpan,
     [](Options& o, std::string_view v) { return set_from(o.connect_timeout, time_span(v)); }},
    {"user", "a name", [](Options& o, std::string_view v) { return set_text(o.user, v); }},
    {"password", "a password",
     [](Options& o, std::string_view v) {
       o.password = v;
       return !v.empty();
     }},
    {"client_name", "a name without blanks",
     [](Options& o, std::string_view v) {
       o.client_name = v;
       return is_name(v);
     }},
    {"tls_ca", kFile, [](Options& o, std::string_view v) { return set_text(o.tls.ca_file, v); }},
    {"tls_cert", kFile,
     [](Options& o, std::string_view v) { return set_text(o.tls.cert_file, v); }},
    {"tls_key", kFile, [](Options& o, std::string_view v) { return set_text(o.tls.key_file, v); }},
    {"tls_name", "the name in the server's certificate",
     [](Options& o, std::string_view v) { return set_text(o.tls.server_name, v); }},
    {"tls_verify", "on or off",
     [](Options& o, std::string_view v) { return set_switch(o.tls.verify, v); }},
};

Status set_parameter(Options& options, std::string_view part) {
  const std::size_t equals = std::min(part.find('='), part.size());
  const std::string_view name = part.substr(0, equals);
  const auto value = decoded(part.substr(std::min(equals + 1, part.size())));
  for (const Parameter& parameter : kParameters) {
    if (parameter.name != name) continue;
    if (!value) return bad(fmt::format("{}: a '%' stands before two hexadecimal digits", name));
    if (name.starts_with("tls_") && !options.tls.on) {
      return bad(fmt::format("{} is for rediss: only", name));
    }
    if (parameter.set(options, *value)) return {};
    if (name == "password") return bad("the password is empty");
    return bad(fmt::format("{}='{}' is not {}", name, *value, parameter.expects));
  }
  std::string known;
  for (const Parameter& parameter : kParameters) known += fmt::format(" {}", parameter.name);
  return bad(fmt::format("there is no parameter '{}'; there are{}", name, known));
}

Status set_parameters(Options& options, std::string_view text) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('&'));
    if (Status status = set_parameter(options, part); !status.ok()) return status;
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  if (options.tls.cert_file.empty() != options.tls.key_file.empty()) {
    return bad("tls_cert and tls_key go together");
  }
  return {};
}

/// "user:password", ":password".
Status set_login(Options& options, std::string_view login) {
  const std::size_t colon = login.find(':');
  if (colon == std::string_view::npos) {
    return bad("before the '@' there is no password: write user:password@host or :password@host");
  }
  const auto user = decoded(login.substr(0, colon));
  const auto password = decoded(login.substr(colon + 1));
  if (!user || !password) {
    return bad("before the '@', a '%' stands before two hexadecimal digits: write '%' as %25");
  }
  if (password->empty()) return bad("the password before the '@' is empty");
  options.user = *user;
  options.password = *password;
  return {};
}

/// "host", "host:7400", "[::1]:7400".
Status set_host(Options& options, std::string_view text) {
  std::string_view host = text.substr(0, text.find(':'));
  std::string_view port = text.substr(host.size());
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return bad("the address after '[' has no ']'");
    host = text.substr(1, end - 1);
    port = text.substr(end + 1);
  }
  const auto name = decoded(host);
  if (!name || !is_name(*name)) {
    return bad(fmt::format(
        "'{}' is not a host: write redis://host:port, an IPv6 address in brackets", host));
  }
  options.host = *name;
  if (port.empty()) return {};
  const auto number =
      port.front() == ':' ? whole_number<std::uint16_t>(port.substr(1)) : std::nullopt;
  if (!number || *number == 0) {
    return bad(fmt::format("'{}' after the host is not a port, 1 to 65535", port));
  }
  options.port = *number;
  return {};
}

/// The part after the scheme, without parameters: "//:password@host:port/0".
Status set_server(Options& options, std::string_view text) {
  if (!text.starts_with("//")) return bad("two slashes follow the scheme: write redis://host:port");
  text.remove_prefix(2);
  std::string_view host = text.substr(0, text.find('/'));
  const std::string_view database = text.substr(host.size());
  // The last '@': one that is part of a password is let through, as by other clients.
  if (const std::size_t at = host.rfind('@'); at != std::string_view::npos) {
    if (Status status = set_login(options, host.substr(0, at)); !status.ok()) return status;
    host.remove_prefix(at + 1);
  }
  if (Status status = set_host(options, host); !status.ok()) return status;
  if (database.size() <= 1) return {};
  const auto number = whole_number<std::uint16_t>(database.substr(1));
  if (!number) return bad(fmt::format("'{}' after the host is not a database", database.substr(1)));
  options.database = *number;
  return {};
}

Status set_path(Options& options, std::string_view text) {
  if (text.starts_with("//")) text.remove_prefix(2);
  const auto path = decoded(text);
  if (!path || !path->starts_with('/') || path->find('\0') != std::string::npos) {
    return bad("the path of a Unix socket begins with '/': write unix:/path/of/socket");
  }
  if (path->size() > kLongestUnixPath) {
    return bad(fmt::format("the path of a Unix socket has {} bytes at most", kLongestUnixPath));
  }
  options.path = *path;
  return {};
}

Status parse_into(Options& options, std::string_view uri) {
  const std::size_t question = std::min(uri.find('?'), uri.size());
  const std::string_view parameters = uri.substr(std::min(question + 1, uri.size()));
  const std::string_view scheme = uri.substr(0, uri.find(':') + 1);
  const std::string_view rest = uri.substr(scheme.size(), question - scheme.size());
  Status status;
  options.tls.on = scheme == kTls;
  if (scheme == kUnix) {
    status = set_path(options, rest);
  } else {
    options.path.clear();
    status = set_server(options, rest);
    // The supposed host may be the beginning of a password: it must not be shown.
    if (!status.ok() && uri.find('@') != uri.npos &&
        rest.substr(0, rest.find('/', 2)).find('@') == rest.npos) {
      status = bad("a '/', '?' or '%' in a password is written %2F, %3F or %25");
    }
  }
  return status.ok() ? set_parameters(options, parameters) : status;
}

}  // namespace

bool is_server_uri(std::string_view uri) {
  return uri.starts_with(kTcp) || uri.starts_with(kTls) || uri.starts_with(kUnix);
}

Result<Options> parse_server_uri(std::string_view uri, Options defaults) {
  Status status = is_server_uri(uri) ? parse_into(defaults, uri)
                                     : bad("write redis://host:port, rediss://host:port or "
                                           "unix:/path");
  if (status.ok()) return defaults;
  return bad(fmt::format("server URI '{}': {}", without_password(uri), status.message()));
}

std::string text_of(const Options& options) {
  if (!options.path.empty()) return options.path;
  const bool brackets = options.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", brackets ? "[" : "", options.host, brackets ? "]" : "",
                     options.port);
}

std::string without_password(std::string_view uri) {
  std::string text(uri);
  constexpr std::string_view kPassword = "password=";
  for (std::size_t at = 0; (at = text.find(kPassword, at)) != std::string::npos;) {
    at += kPassword.size();
    text.replace(at, std::min(text.find('&', at), text.size()) - at, "***");
  }
  if (const std::size_t at = text.rfind('@'); at != std::string::npos) {
    const std::size_t slashes = text.find("//");
    const std::size_t begin = slashes < at ? slashes + 2 : std::min(text.find(':') + 1, at);
    text.replace(begin, at - begin, "***");
  }
  return text;
}

}  // namespace keyway::wire
