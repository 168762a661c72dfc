// Has every store of the tests be a server's, and runs them.
//
//   store_remote_tests PROGRAM|URI [words for Catch2]
//   store_remote_tests --list-test-names-only [words for Catch2]
//
// PROGRAM: keywayd or redis-server, which the tests start. URI: of a running server.
#include <string>

#include "keyway/client/wire/uri.h"
#include "tests/store/accounting.h"
#include "tests/support/catch_run.h"
#include "tests/support/running_server.h"

using namespace keyway::test;

namespace {

int run_on(const std::string& uri, int argc, char** argv) {
  elsewhere() = uri;
  argv[1] = argv[0];
  return run_catch(argc - 1, argv + 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string server = argv[1];
  if (server.starts_with("-")) return run_catch(argc, argv);  // such as a list of the cases
  if (keyway::wire::is_server_uri(server)) return run_on(server, argc, argv);
  const auto started = RunningServer::of(server);
  return run_on(started.uri(), argc, argv);
}
