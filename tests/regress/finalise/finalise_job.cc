// A rank that opens MPI and lets it go.
#include <cstdio>

#include "keyway/locks/fabric/mpi/mpi_interface.h"

int main() {
  const auto mpi = keyway::fabric::MpiInterface::acquire();
  if (mpi.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(mpi.status().message()).c_str());
  return 1;
}
