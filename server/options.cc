#include "options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <string_view>

#include "keyway/server/net/address.h"
#include "provenance.h"

namespace keyway::server {
namespace {

constexpr const char* kFooter =
    "Every option is also read from the environment, as KEYWAYD_ and its name in capitals, and "
    "from\n"
    "the file of --config (TOML: port = 7401); the command line wins, then the environment.\n"
    "Exit codes: 0 ended by SIGTERM or SIGINT, when all that had been asked was answered; 2 bad\n"
    "usage or configuration; 3 an address, a path or memory cannot be had.\n\n"
    "Example: keywayd --memory 4GiB --workers 4 --unixsocket /run/keyway.sock";

/// What the command line says in another form than Options.
struct Texts {
  std::string memory = "1GiB";
  std::string largest_word = "512MiB";
  std::string password_file;
  bool print_config = false;
};

void declare(CLI::App& app, Options& options, Texts& texts) {
  const auto env = [](CLI::Option* option, const char* name) {
    return option->envname(name)->capture_default_str();
  };
  env(app.add_option("--bind", options.bind, "addresses to listen on, besides a Unix socket"),
      "KEYWAYD_BIND")
      ->delimiter(',');
  env(app.add_option("--port", options.port, "TCP port; 0: any that is free"), "KEYWAYD_PORT");
  env(app.add_option("--unixsocket", options.unix_socket, "path of a Unix socket to listen on"),
      "KEYWAYD_UNIXSOCKET");
  env(app.add_option("--workers", options.workers, "threads that serve clients"), "KEYWAYD_WORKERS")
      ->check(CLI::Range(1, 1024));
  env(app.add_option("--fibers", options.fibers,
                     "requests of each worker that can wait for locks at one time"),
      "KEYWAYD_FIBERS")
      ->check(CLI::Range(1, 1024));
  env(app.add_option("--maxclients", options.most_clients, "clients at one time"),
      "KEYWAYD_MAXCLIENTS")
      ->check(CLI::Range(1, 1'000'000));
  env(app.add_option("--shutdown-timeout", options.shutdown_timeout_s,
                     "s that clients have, after SIGTERM, to read what they have asked for"),
      "KEYWAYD_SHUTDOWN_TIMEOUT");
  env(app.add_option("--memory", texts.memory, "memory of the store, all included"),
      "KEYWAYD_MEMORY");
  env(app.add_option("--proto-max-bulk-len", texts.largest_word, "longest key or value taken"),
      "KEYWAYD_PROTO_MAX_BULK_LEN");
  env(app.add_option("--lock-policy", options.lock, "auto, or KIND[:LEVER=VALUE,...]"),
      "KEYWAYD_LOCK_POLICY");
  // Not captured: a default from the environment would be shown by --help.
  auto* password = app.add_option("--requirepass", options.password,
                                  "password that clients have to give by AUTH or HELLO")
                       ->envname("KEYWAYD_REQUIREPASS");
  app.add_option("--requirepass-file", texts.password_file,
                 "the same, from the first line of a file")
      ->envname("KEYWAYD_REQUIREPASS_FILE")
      ->excludes(password);
  app.set_config("--config", "", "TOML file of options by their long names");
  app.add_flag("--print-config", texts.print_config, "print all options as such a file, and end")
      ->configurable(false);
}

Status refuse(std::string sentence) { return {Code::kInvalidArgument, std::move(sentence)}; }

Status read_password(const std::string& path, std::string& password) {
  std::ifstream file(path);
  if (!file || !std::getline(file, password)) {
    return refuse(fmt::format("--requirepass-file: cannot read {}", path));
  }
  if (password.ends_with('\r')) password.pop_back();
  if (!password.empty()) return {};
  return refuse(fmt::format("--requirepass-file: the first line of {} is empty", path));
}

/// Fills in what is told in another form; kInvalidArgument for what is wrong.
Status settle(Options& options, const Texts& texts) {
  const auto memory = tools::parse_size("--memory", texts.memory);
  if (!memory.ok()) return memory.status();
  options.memory_bytes = *memory;
  const auto word = tools::parse_size("--proto-max-bulk-len", texts.largest_word);
  if (!word.ok()) return word.status();
  options.largest_word_bytes = *word;
  if (!texts.password_file.empty()) {
    const Status status = read_password(texts.password_file, options.password);
    if (!status.ok()) return status;
  }
  for (const std::string& address : options.bind) {
    const Status status = check_bind(address, !options.password.empty());
    if (!status.ok()) return refuse(fmt::format("--bind: {}", status.message()));
  }
  return {};
}

}  // namespace

Parsed parse_command_line(int argc, const char* const* argv) {
  CLI::App app("Serves a Keyway store to Redis clients, over TCP and Unix sockets.", "keywayd");
  Options options;
  Texts texts;
  declare(app, options, texts);
  app.set_version_flag("--version", tools::version_line("keywayd"));
  app.footer(kFooter);
  app.get_formatter()->column_width(28);
  if (auto ending = tools::ending_of(app, [&] { app.parse(argc, argv); })) return *ending;
  if (const Status status = settle(options, texts); !status.ok()) {
    return {{}, kExitUsage, {}, std::string(status.message())};
  }
  if (texts.print_config) return {{}, kExitOk, app.config_to_str(true), {}};
  return {std::move(options), kExitOk, {}, {}};
}

}  // namespace keyway::server
