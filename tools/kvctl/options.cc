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
    "With a command: sends it, prints the reply and exits. Without one: starts a shell if\n"
    "stdin is a terminal, else executes stdin, one command per line. `kvctl cluster` and\n"
    "`kvctl locks` show the ranks of a Keyway cluster and the locks of its stripes.\n\n"
    "Environment: KVCTL_PASSWORD or REDISCLI_AUTH: the password; KVCTL_HISTFILE: the shell's\n"
    "history file, empty to disable (default: .kvctl_history in the home folder).\n\n"
    "Exit codes: 0 the server answered; 1 it answered with an error, and -e was given;\n"
    "2 bad usage; 3 the server cannot be reached, rejects the login, or does not answer in\n"
    "time.\n\n"
    "Examples:\n"
    "  kvctl set user:1 Ada\n"
    "  kvctl -p 7401 --json mget user:1 user:2\n"
    "  kvctl -r 10 -i 1 info memory\n"
    "  kvctl -x set picture < picture.png\n"
    "  kvctl --scan --pattern 'user:*'\n"
    "  kvctl --pipe < commands.txt";

/// Parts of the command line in another form than in Options.
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
  app.add_option("-s", server.path, "path of its Unix socket, instead of host and port");
  app.add_option("-u,--uri", texts.uri,
                 "redis://[[user]:password@]host[:port][/db], rediss:// for TLS, unix:PATH");
  app.add_option("-a,--pass", server.password,
                 "password; other users can see it: prefer KVCTL_PASSWORD or --askpass");
  app.add_option("--user", server.user, "user name (default: the default user)");
  app.add_flag("--askpass", options.ask_password, "ask for the password");
  app.add_flag("--no-auth-warning", texts.quiet, "do not warn about -a");
  app.add_option("-n", server.database, "number of the database")->capture_default_str();
  app.add_option("-t", texts.timeout_s,
                 "timeout for each reply, in s (0: none); also for the connection, at most 5")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_flag("-2", texts.resp2, "speak RESP2");
  app.add_flag("-3", texts.resp3, "speak RESP3")->excludes("-2");
  app.add_flag("--tls", server.tls.on, "speak TLS");
  app.add_option("--cacert", server.tls.ca_file,
                 "CA certificates to trust (default: those of this host)");
  app.add_option("--cert", server.tls.cert_file, "client certificate file");
  app.add_option("--key", server.tls.key_file, "key file of --cert");
}

void declare_output(CLI::App& app, Options& options, Texts& texts) {
  app.add_flag("--raw", texts.raw, "raw replies (default if stdout is not a terminal)");
  app.add_flag("--no-raw", texts.no_raw, "formatted replies (default on a terminal)")
      ->excludes("--raw");
  app.add_flag("--csv", texts.csv, "replies as CSV")->excludes("--raw")->excludes("--no-raw");
  app.add_flag("--json", texts.json, "replies as JSON; speaks RESP3 unless -2 is given")
      ->excludes("--raw")
      ->excludes("--no-raw")
      ->excludes("--csv");
  app.add_flag("-e", options.stop_at_error,
               "stop at the first error, print it on stderr and exit with 1");
}

void declare_commands(CLI::App& app, Options& options) {
  app.add_option("-r", options.repeat,
                 "repetitions of the command (1), or lines of --stat etc. (-1: no limit)");
  app.add_option("-i", options.interval_s,
                 "seconds between repetitions (0), and between lines of --stat (1), "
                 "--latency-history (15), --latency-dist (1)")
      ->check(CLI::NonNegativeNumber);
  auto* last =
      app.add_flag("-x", options.last_from_stdin, "append stdin as the command's last argument");
  app.add_option("-X", options.tag, "replace this argument by stdin")->excludes(last);
}

void declare_modes(CLI::App& app, Options& options, Texts& texts) {
  const auto mode = [&](const char* name, Mode which, const char* what) {
    app.add_flag(name, texts.modes[which], what);
  };
  mode("--pipe", Mode::kPipe, "send stdin (lines or RESP) and count the replies");
  app.add_option("--pipe-timeout", options.pipe_timeout_s,
                 "timeout for replies after all of stdin has been sent, in s (0: none)")
      ->capture_default_str();
  mode("--stat", Mode::kStat, "one line about the server every -i seconds");
  mode("--latency", Mode::kLatency, "measure PING latency until Ctrl-C (1 s without a terminal)");
  mode("--latency-history", Mode::kLatencyHistory, "the same, one line every -i seconds");
  mode("--latency-dist", Mode::kLatencyDist, "distribution of PING latency, every -i seconds");
  mode("--scan", Mode::kScan, "print all keys, one per line");
  app.add_option("--pattern", options.pattern, "only keys that match, for --scan etc.");
  app.add_option("--type", options.type, "only keys of this type, for --scan");
  app.add_option("--count", options.count,
                 "keys per scan step (10); rows of --hotkeys and `locks` (20)");
  mode("--bigkeys", Mode::kBigKeys, "the longest values, and the distribution of lengths");
  mode("--memkeys", Mode::kMemKeys, "the keys that use most memory");
  mode("--hotkeys", Mode::kHotKeys, "the most used keys, as sampled by keywayd");
}

Status invalid_argument(std::string sentence) {
  return {Code::kInvalidArgument, std::move(sentence)};
}

/// The rest of the command line is the command; an option in it is a mistake.
Status take_words(const CLI::App& app, Options& options) {
  options.words = app.remaining();
  if (!options.words.empty() && options.words[0].size() > 1 && options.words[0][0] == '-') {
    return invalid_argument(
        fmt::format("option {} does not exist; see kvctl --help", options.words[0]));
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
  if (chosen > 1) return invalid_argument("only one of --pipe, --stat, --scan etc. can be given");
  if (chosen == 1 && !options.words.empty()) {
    return invalid_argument(fmt::format(
        "'{}' cannot be combined with an option that takes no command; see kvctl --help",
        options.words[0]));
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
Status finish_server(Options& options, const Texts& texts) {
  wire::Options& server = options.server;
  options.password_seen = !server.password.empty();
  if (!texts.uri.empty()) {
    const wire::Options before_uri = server;
    auto read = wire::parse_server_uri(texts.uri, server);
    if (!read.ok()) return read.status();
    server = std::move(*read);
    if (!before_uri.password.empty()) server.password = before_uri.password;
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

Status finish_parsing(const CLI::App& app, Options& options, const Texts& texts) {
  if (Status status = take_words(app, options); !status.ok()) return status;
  if (Status status = choose_mode(options, texts); !status.ok()) return status;
  choose_style(options, texts);
  if (options.words.empty() && (options.last_from_stdin || !options.tag.empty())) {
    return invalid_argument("-x and -X need a command that takes stdin as an argument");
  }
  return finish_server(options, texts);
}

}  // namespace

Parsed parse_command_line(int argc, const char* const* argv) {
  CLI::App app("Talks to keywayd, or to any Redis server.", "kvctl");
  Options options;
  options.server.port = kPort;
  Texts texts;
  app.set_help_flag("--help", "print this help and exit");
  app.set_version_flag("--version", program::version_line("kvctl"), "print the version and exit");
  declare_server(app, options, texts);
  declare_output(app, options, texts);
  declare_commands(app, options);
  declare_modes(app, options, texts);
  app.prefix_command();
  app.footer(kFooter);
  app.get_formatter()->column_width(28);
  if (auto ending = program::ending_of(app, [&] { app.parse(argc, argv); })) return *ending;
  if (const Status status = finish_parsing(app, options, texts); !status.ok()) {
    return {{}, kExitUsage, {}, std::string(status.message())};
  }
  if (texts.quiet) options.password_seen = false;
  return {std::move(options), kExitOk, {}, {}};
}

}  // namespace keyway::kvctl
