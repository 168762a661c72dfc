#include "keyway/locks/fabric/mpi/mpi_agreement.h"

#include <fmt/core.h>

#include <string>
#include <vector>

namespace keyway::fabric {

Status agree(MPI_Comm comm, const Status& local) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  // The lowest rank that failed, and how many did.
  int lowest = local.ok() ? ranks : rank;
  int failures = local.ok() ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, comm);
  if (lowest == ranks) return {};
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, comm);

  int head[2] = {static_cast<int>(local.code()), static_cast<int>(local.message().size())};
  MPI_Bcast(head, 2, MPI_INT, lowest, comm);
  std::string message(local.message());
  message.resize(static_cast<std::size_t>(head[1]));
  MPI_Bcast(message.data(), head[1], MPI_CHAR, lowest, comm);
  if (failures < ranks) message = fmt::format("rank {}: {}", lowest, message);
  return {static_cast<Code>(head[0]), std::move(message)};
}

AgreedOption AgreedOption::text(std::string_view name, std::string_view text) {
  // FNV-1a: equal texts must have equal hashes on every rank, with every standard library.
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return {name, hash, true};
}

Status agree_on(MPI_Comm comm, std::span<const AgreedOption> options) {
  // The minimum of v and of ~v gives both ends in one reduction.
  std::vector<std::uint64_t> ends;
  for (const AgreedOption& option : options) {
    ends.push_back(option.value);
    ends.push_back(~option.value);
  }
  MPI_Allreduce(MPI_IN_PLACE, ends.data(), static_cast<int>(ends.size()), MPI_UINT64_T, MPI_MIN,
                comm);
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::uint64_t least = ends[2 * i];
    const std::uint64_t most = ~ends[2 * i + 1];
    if (least == most) continue;
    const std::string values = options[i].is_text ? "" : fmt::format(" ({} to {})", least, most);
    return {Code::kInvalidArgument,
            fmt::format("the ranks of the job disagree on {}{}; start all of them with the same",
                        options[i].name, values)};
  }
  return {};
}

}  // namespace keyway::fabric
