// ServerInfo: constant information about a server, for INFO and similar requests.
//
// *Thread safety.* Set before any request is executed, and only read from then on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keyway::server {

/// The version of Redis with these commands.
inline constexpr std::string_view kLikeRedis = "7.0.15";

struct ServerInfo {
  std::string version;     // Keyway's
  std::string revision;    // its source's
  std::string run_id;      // 40 hexadecimal digits, of this run
  std::string executable;  // its path
  std::string config_file;
  std::uint64_t begin_ns = 0;  // by steady_ns()
  std::uint32_t workers = 0;
  std::uint32_t fibers = 0;  // per worker
  std::uint32_t ranks = 1;   // ranks of the store
  std::uint32_t processes = 1;
  std::uint32_t process = 0;       // this one; where there are several, also its rank
  std::string fabric;              // "shm", "mpi"
  std::string topology;            // the store and its locks, one line for people
  std::string lock;                // the policy that the store was opened with
  bool reached_by_others = false;  // other hosts may connect: a password is required
  std::uint64_t memory_bytes = 0;  // per rank, all included
  /// Parameters of CONFIG GET that cannot be changed: the options by the names of Redis, or ours.
  std::vector<std::pair<std::string, std::string>> parameters;

  /// The ranks with memory in this process: from, and up to but not.
  std::uint32_t first_rank() const { return processes > 1 ? process : 0; }
  std::uint32_t end_rank() const { return processes > 1 ? process + 1 : ranks; }
};

}  // namespace keyway::server
