// Starts a server, has every store of the tests be that one, and runs them.
//
//   store_remote_tests PROGRAM [words for Catch2]     PROGRAM: keywayd or redis-server
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "tests/store/accounting.h"
#include "tests/support/running_server.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const auto server = keyway::test::RunningServer::of(argv[1]);
  keyway::test::elsewhere() = server.uri();
  argv[1] = argv[0];
  return Catch::Session().run(argc - 1, argv + 1);
}
