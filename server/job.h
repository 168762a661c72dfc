// The job: the processes that are one store, each of them a keywayd with separate clients.
//
// *What.* Under a launcher (mpirun, srun) each process is a rank; else this process is alone, and
// MPI is never entered. Ranks open the store together, and serve only when all of them can.
// *Thread safety.* The main thread of every process calls the collective functions.
// *Invariants.*
//   J1  No rank serves before every rank can, and where one cannot, all end with its sentence.
//   J2  A rank that receives the order to end passes it to the others; each answers its received
//       requests.
//   J3  A process that receives the order while it starts ends once it has started: a rank that
//       died would leave the others waiting in MPI, and its launcher with an accident to report.
//   J4  The end of a job does not wait for a rank that has stopped: each process has a limit
//       (signals.h), and a launcher ends the others with the first that ends so.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "keyway/client/client.h"
#include "keyway/server/commands/cluster/cluster_view.h"
#include "options.h"
#include "periodic.h"
#include "signals.h"

namespace keyway::server {

/// Whether this process is one of a job, as --fabric says or a launcher's environment shows.
bool is_of_job(const Options& options);
/// The store's URI.
std::string store_uri(const Options& options);

/// Makes the ports and the path of the options those of a process: its number is added to the
/// ports, and put behind the path. kInvalidArgument beyond the last port.
Status take_own_addresses(Options& options, std::uint32_t process);

/// Collective: all learn where all are; `ready` says whether this process can serve, where
/// `options` says. The same failure everywhere when one cannot. J1.
Result<ClusterView> exchange_addresses(Store& store, const Options& options, const Status& ready);

/// Calls `end` once, when SIGTERM or SIGINT comes, here or to another rank, or when any rank calls
/// Store::ask_all_to_end(). J2.
class Ending {
 public:
  Ending(asio::io_context& events, Store& store, std::function<void()> end);
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

 private:
  void begin();

  static constexpr std::chrono::milliseconds kBetweenLooks{100};

  Store& store_;
  std::function<void()> end_;
  EndSignals signals_;
  Periodic looks_;
  bool begun_ = false;
};

}  // namespace keyway::server
