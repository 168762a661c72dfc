// A program with a separate communicator, of the same MPI as Keyway's build.
#include <cstdio>
#include <string>

#include "keyway/client/mpi.h"

int main() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  int status = 1;
  {
    auto store = keyway::open_over(MPI_COMM_WORLD);
    auto session = store.ok() ? store->session() : keyway::Result<keyway::Session>(store.status());
    std::string value;
    if (session.ok() && session->put("where", "over MPI").ok() &&
        session->get("where", value).ok()) {
      std::puts(value.c_str());
      status = 0;
    }
  }
  MPI_Finalize();
  return status;
}
