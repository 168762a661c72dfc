#include "options.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>

#include "keyway/client/program/provenance.h"
#include "keyway/client/wire/uri.h"

namespace keyway::kvctl {
namespace {

constexpr const char* kFooter =
    "With a command: sends it, prints the reply, ends. Without one: a shell where stdin is a\n"
    "terminal, else the commands that stdin has, a line each. `kvctl cluster` and `kvctl locks`\n"
    "show the ranks of a Keyway cluster and the locks of its stripes.\n\n"
    "Environment: KVCTL_PASSWORD or REDISCLI_AUTH: the password; KVCTL_HISTFILE: where the shell\n"
    "keeps its history, empty for nowhere (default: .kvctl_history in the home folder).\n\n"
    "Exit codes: 0 the server answered; 1 it answered an error, and -e was given; 2 bad usage;\n"
    "3 the server cannot be reached, does not let us in, or does not answer in time.\n\n"
    "Examples:\n"
    "  kvctl set user:1 Ada\n"
    "  kvctl -p 7401 --json mget user:1 user:2\n"
    "  kvctl -r 10 -i 1 info memory\n"
    "  kvctl -x set picture < picture.png\n"
    "  kvctl --scan --pattern 'user:*'\n"
    "  kvctl --pipe < commands.txt";

/// What the command line says in another form than Options.
struct Texts {
  std::string uri;
  double timeout_s = 60;
  bool resp2 = false, resp3 = false;
  bool raw = false, no_raw = false, csv = false, json = false;
  bool quiet = false;
  std::map<Mode, bool> modes;
};

void declare_server(CLI::App& app, Options& options, Texts& texts) {
  wire::Options& server = options.server;
  app.add_option("-h", server.host, "host of the server")->capture_default_str();
  app.add_option("-p", server.port, "its TCP port")->capture_default_str();
  app.add_option("-s", server.path, "path of its Unix socket, in place of host and port");
  app.add_option("-u,--uri", texts.uri,
                 "redis://[[user]:password@]host[:port][/db], rediss:// for TLS, unix:PATH");
  app.add_option("-a,--pass", server.password,
                 "password; others can see it: better KVCTL_PASSWORD or --askpass");
  app.add_option("--user", server.user, "user whose password it is; without: the default one");
  app.add_flag("--askpass", options.ask_password, "ask for the password");
  app.add_flag("--no-auth-warning", texts.quiet, "do not warn of -a");
  app.add_option("-n", server.database, "number of the database")->capture_default_str();
  app.add_option(
         "-t", texts.timeout_s,
         "s to wait for each reply, 0: as long as it takes; and for the connection, up to 5")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_flag("-2", texts.resp2, "speak RESP2");
  app.add_flag("-3", texts.resp3, "speak RESP3")->excludes("-2");
  app.add_flag("--tls", server.tls.on, "speak TLS");
  app.add_option("--cacert", server.tls.ca_file,
                 "file of the authorities to trust; without: those of this host");
  app.add_option("--cert", server.tls.cert_file, "file of our own certificate");
  app.add_option("--key", server.tls.key_file, "file of its key");
}

void declare_output(CLI::App& app, Options& options, Texts& texts) {
  app.add_flag("--raw", texts.raw, "the bytes of replies; the default where stdout is no terminal");
  app.add_flag("--no-raw", texts.no_raw, "replies for people; the default on a terminal")
      ->excludes("--raw");
  app.add_flag("--csv", texts.csv, "replies as CSV")->excludes("--raw")->excludes("--no-raw");
  app.add_flag("--json", texts.json, "replies as JSON; speaks RESP3 unless -2 is given")
      ->excludes("--raw")
      ->excludes("--no-raw")
      ->excludes("--csv");
  app.add_flag("-e", options.stop_at_error, "an error goes to stderr, ends all, and the code is 1");
}

void declare_commands(CLI::App& app, Options& options) {
  app.add_option("-r", options.repeat,
                 "times to send the command (1), or lines of --stat and the like; -1: for ever");
  app.add_option("-i", options.interval_s,
                 "s between repetitions (0), and between lines of --stat (1), --latency-history "
                 "(15), --latency-dist (1)")
      ->check(CLI::NonNegativeNumber);
  auto* last =
      app.add_flag("-x", options.last_from_stdin, "the command's last word is what stdin has");
  app.add_option("-X", options.tag, "what stdin has stands where this word is")->excludes(last);
}

void declare_modes(CLI::App& app, Options& options, Texts& texts) {
  const auto mode = [&](const char* name, Mode which, const char* what) {
    app.add_flag(name, texts.modes[which], what);
  };
  mode("--pipe", Mode::kPipe, "send stdin, lines or RESP, and count the replies");
  app.add_option("--pipe-timeout", options.pipe_timeout_s,
                 "s to wait for a reply when all of stdin has been sent; 0: as long as it takes")
      ->capture_default_str();
  mode("--stat", Mode::kStat, "a line about the server each -i s");
  mode("--latency", Mode::kLatency, "how long PING takes, until Ctrl-C; 1 s where no terminal is");
  mode("--latency-history", Mode::kLatencyHistory, "the same, a line each -i s");
  mode("--latency-dist", Mode::kLatencyDist, "how its times are spread, each -i s");
  mode("--scan", Mode::kScan, "all keys, a line each");
  app.add_option("--pattern", options.pattern, "keys that fit it, of --scan and the like");
  app.add_option("--type", options.type, "keys of that type, of --scan");
  app.add_option("--count", options.count,
                 "keys in one step of a scan (10); rows of --hotkeys and of `locks` (20)");
  mode("--bigkeys", Mode::kBigKeys, "the longest values, and how lengths are spread");
  mode("--memkeys", Mode::kMemKeys, "the keys that take most memory");
  mode("--hotkeys", Mode::kHotKeys, "the keys that are used most, as keywayd has sampled them");
}

Status refuse(std::string sentence) { return {Code::kInvalidArgument, std::move(sentence)}; }

/// What is left of the command line is the command; what looks like an option there is a mistake.
Status take_words(const CLI::App& app, Options& options) {
  options.words = app.remaining();
  if (!options.words.empty() && options.words[0].size() > 1 && options.words[0][0] == '-') {
    return refuse(fmt::format("there is no option {}; see kvctl --help", options.words[0]));
  }
  return {};
}

Status choose_mode(Options& options, const Texts& texts) {
  int chosen = 0;
  for (const auto& [mode, on] : texts.modes) {
    if (!on) continue;
    options.mode = mode;
    ++chosen;
  }
  if (chosen > 1) return refuse("only one of --pipe, --stat, --scan and the like can be done");
  if (chosen == 1 && !options.words.empty()) {
    return refuse(fmt::format(
        "'{}' does not go with an option that has no command; see kvctl --help", options.words[0]));
  }
  return {};
}

void choose_style(Options& options, const Texts& texts) {
  if (texts.raw) options.style = Style::kRaw;
  if (texts.no_raw) options.style = Style::kPretty;
  if (texts.csv) options.style = Style::kCsv;
  if (texts.json) options.style = Style::kJson;
  if (texts.resp3 || (texts.json && !texts.resp2)) options.server.version = resp::Version::kResp3;
}

/// The command line wins over the address, that over the environment.
Status settle_server(Options& options, const Texts& texts) {
  wire::Options& server = options.server;
  options.password_seen = !server.password.empty();
  if (!texts.uri.empty()) {
    wire::Options told = server;
    auto read = wire::parse_server_uri(texts.uri, server);
    if (!read.ok()) return read.status();
    server = std::move(*read);
    if (!told.password.empty()) server.password = told.password;
    options.password_seen = !server.password.empty();
  }
  constexpr std::chrono::seconds kLongestConnect(5);
  constexpr std::chrono::hours kAnyTime(24 * 365 * 10);
  const std::chrono::duration<double> given(texts.timeout_s);
  const auto timeout = texts.timeout_s == 0 || given > kAnyTime
                           ? std::chrono::milliseconds(kAnyTime)
                           : std::chrono::ceil<std::chrono::milliseconds>(given);
  server.request_timeout = timeout;
  server.connect_timeout = std::min<std::chrono::milliseconds>(timeout, kLongestConnect);
  for (const char* name : {"KVCTL_PASSWORD", "REDISCLI_AUTH"}) {
    const char* value = std::getenv(name);
    if (server.password.empty() && value != nullptr) server.password = value;
  }
  return {};
}

Status settle(const CLI::App& app, Options& options, const Texts& texts) {
  if (Status status = take_words(app, options); !status.ok()) return status;
  if (Status status = choose_mode(options, texts); !status.ok()) return status;
  choose_style(options, texts);
  if (options.words.empty() && (options.last_from_stdin || !options.tag.empty())) {
    return refuse("-x and -X need a command that takes what stdin has");
  }
  return settle_server(options, texts);
}

}  // namespace

Parsed parse_command_line(int argc, const char* const* argv) {
  CLI::App app("Talks to keywayd, or to any Redis server.", "kvctl");
  Options options;
  options.server.port = kPort;
  Texts texts;
  app.set_help_flag("--help", "print this help and end");
  app.set_version_flag("--version", program::version_line("kvctl"), "print the version and end");
  declare_server(app, options, texts);
  declare_output(app, options, texts);
  declare_commands(app, options);
  declare_modes(app, options, texts);
  app.prefix_command();
  app.footer(kFooter);
  app.get_formatter()->column_width(28);
  if (auto ending = program::ending_of(app, [&] { app.parse(argc, argv); })) return *ending;
  if (const Status status = settle(app, options, texts); !status.ok()) {
    return {{}, kExitUsage, {}, std::string(status.message())};
  }
  if (texts.quiet) options.password_seen = false;
  return {std::move(options), kExitOk, {}, {}};
}

}  // namespace keyway::kvctl
