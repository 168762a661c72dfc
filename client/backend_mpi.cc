#include "keyway/client/backend_mpi.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <span>
#include <vector>

#include "keyway/kvstore/volume/expiry_clock.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/mpi/mpi_agreement.h"
#include "keyway/locks/fabric/mpi/mpi_library.h"
#include "keyway/locks/fabric/mpi/mpi_memory.h"

namespace keyway::client {
namespace {

// MPI cannot be initialised twice, so it stays up from the first mpi: store to the program's end.
Result<std::shared_ptr<fabric::MpiInterface>> mpi_until_exit() {
  static Result<std::shared_ptr<fabric::MpiInterface>> held = fabric::MpiInterface::acquire();
  return held;
}

Status require_agreement(fabric::MpiInterface& mpi, MPI_Comm comm, const Status& mine,
                         const StoreOptions& options) {
  const std::array agreed = {fabric::AgreedOption::text(
      "the store's options (memory, buckets, stripes, lock, ...)", fingerprint(options))};
  return mpi.call([&] {
    Status all = fabric::agree(comm, mine);
    return all.ok() ? fabric::agree_on(comm, agreed) : all;
  });
}

/// Process 0's secret, on all processes: all of them must map a key to the same bucket. Every
/// process takes part, also one with invalid options. If process 0 has no secret, it alone fails
/// here, and require_agreement() reports it to the others.
Result<store::HashSecret> share_hash_secret(fabric::MpiInterface& mpi, MPI_Comm comm,
                                            const StoreOptions& options) {
  return mpi.call([&]() -> Result<store::HashSecret> {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const auto mine = rank == 0 ? hash_secret_of(options) : store::HashSecret{};
    std::array<std::uint64_t, 2> words{};
    if (mine.ok()) words = {mine->low, mine->high};
    MPI_Bcast(words.data(), static_cast<int>(words.size()), MPI_UINT64_T, 0, comm);
    if (!mine.ok()) return mine.status();
    return store::HashSecret{.low = words[0], .high = words[1]};
  });
}

/// The nodes that the fabric will find; of a job that is forced through MPI, each rank is one.
Result<std::uint32_t> nodes_of(fabric::MpiInterface& mpi, MPI_Comm comm,
                               const StoreOptions& options, std::uint32_t ranks) {
  // All processes take part, whatever their options: those are compared later.
  const auto found =
      mpi.call([&] { return fabric::MpiMemory::count_nodes(comm, options.ranks_per_node); });
  return found.ok() && options.force_rma ? ranks : found;
}

/// Process 0 measures, the others wait in MPI, where the fabric makes progress; all have its costs.
Status measure_together(fabric::MpiFabric& fabric, Plan& plan) {
  if (!plan.policy.measured) return {};
  const Status status = fabric.rank() == 0 ? measure(fabric, plan.geometry, plan.policy) : Status();
  locks::PrimitiveCosts& costs = plan.policy.choice.costs;
  std::vector<std::byte> bytes(sizeof costs);
  std::memcpy(bytes.data(), &costs, sizeof costs);
  fabric.broadcast(bytes, 0);
  std::memcpy(&costs, bytes.data(), sizeof costs);
  return fabric.agree(status);
}

/// Refreshes the owner's clock (expiry_clock.h) also while this rank's sessions are idle.
void show_clock(fabric::MpiFabric& fabric, const store::Geometry& geometry) {
  const std::uint64_t header = geometry.header(fabric.rank()).offset();
  const auto refresh = [header, clock = store::LocalClock()](std::byte* segment) mutable {
    const auto word = [&](std::uint64_t offset) {
      return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(segment + header + offset));
    };
    // relaxed: a clock publishes nothing, and sessions of this host store it, too.
    clock.advance_to(word(store::kTimeOffset).load(std::memory_order_relaxed));
    clock.advance_to(word(store::kClockOffset).load(std::memory_order_relaxed));
    word(store::kClockOffset).store(clock.read(wall_ms(), steady_ns), std::memory_order_relaxed);
  };
  fabric.repeat(std::chrono::milliseconds(store::kClockEveryMs), refresh);
}

/// Carries out the edits of this rank's keys that other ranks send here.
Status serve_others(fabric::MpiFabric& fabric, const Plan& plan) {
  auto endpoint = fabric.service_endpoint();
  if (const Status status = fabric.agree(endpoint.status()); !status.ok()) return status;
  using Service = store::OwnerService<fabric::MpiEndpoint>;
  const auto service =
      std::make_shared<Service>(std::move(*endpoint), plan.geometry, plan.policy.lock,
                                plan.policy.automatic ? &plan.policy.choice : nullptr);
  fabric.serve([service] {
    service->serve();
    return !service->idle();
  });
  return {};
}

}  // namespace

Result<MpiBackend> MpiBackend::open_over(MPI_Comm comm, const Result<ParsedUri>& parsed) {
  auto mpi = mpi_until_exit();
  if (!mpi.ok()) return mpi.status();
  StoreOptions options = parsed.ok() ? parsed->options : StoreOptions{};
  if (options.path == EditPath::kAuto) {
    options.path = fabric::kOpenMpi ? EditPath::kOneSided : EditPath::kOwner;
  }
  int size = 1;
  (*mpi)->call([&] { MPI_Comm_size(comm, &size); });
  const auto ranks = static_cast<std::uint32_t>(size);
  const auto secret = share_hash_secret(**mpi, comm, options);
  const auto nodes = nodes_of(**mpi, comm, options, ranks);
  Status ready = parsed.ok() ? secret.status() : parsed.status();
  if (ready.ok()) ready = nodes.status();
  auto plan = ready.ok() ? Plan::make(options, ranks, *nodes, *secret)
                         : Result<std::unique_ptr<Plan>>(ready);
  const Status agreed =
      require_agreement(**mpi, comm, plan.ok() ? Status() : plan.status(), options);
  if (!agreed.ok()) return agreed;
  auto fabric = fabric::MpiFabric::create({.comm = comm,
                                           .segment_bytes = (*plan)->geometry.segment_bytes(),
                                           .agents_per_rank = options.sessions,
                                           .topology = options.topology,
                                           .force_rma = options.force_rma,
                                           .ranks_per_node = options.ranks_per_node});
  if (!fabric.ok()) return fabric.status();
  show_clock(*fabric, (*plan)->geometry);
  if (auto status = measure_together(*fabric, **plan); !status.ok()) return status;
  std::unique_ptr<store::AddressCache> addresses;
  if (options.address_bytes != 0 && !options.reads_lock && !fabric->one_class()) {
    addresses = std::make_unique<store::AddressCache>(options.address_bytes);
  }
  std::unique_ptr<store::CallSlots> calls;
  if (const auto slots = (*plan)->geometry.call_slots(); slots != 0 && !fabric->one_class()) {
    if (auto status = serve_others(*fabric, **plan); !status.ok()) return status;
    calls = std::make_unique<store::CallSlots>(ranks, slots);
  }
  return MpiBackend{{std::move(*plan), std::make_unique<fabric::MpiFabric>(std::move(*fabric)),
                     std::move(addresses), std::move(calls)}};
}

RankWaits MpiBackend::rank_waits(std::uint32_t rank) const {
  if (rank >= fabric->ranks()) return {};
  const fabric::RankAnswers::Waits waits = fabric->waits(rank);
  return {.waits = waits.answered,
          .waited_ns = waits.answered_ns,
          .unanswered = waits.unanswered,
          .silent = waits.silent};
}

std::vector<std::string> MpiBackend::gather(std::string_view bytes) {
  std::vector<std::string> all;
  for (const auto& part : fabric->gather(std::as_bytes(std::span(bytes)))) {
    all.emplace_back(reinterpret_cast<const char*>(part.data()), part.size());
  }
  return all;
}

std::vector<std::string> MpiBackend::gather_everywhere(std::string_view bytes) {
  std::vector<std::byte> packed;  // for each process: the number of bytes, and the bytes
  const auto append = [&packed](std::span<const std::byte> more) {
    packed.insert(packed.end(), more.begin(), more.end());
  };
  for (const std::string& part : gather(bytes)) {
    const std::uint64_t size = part.size();
    append(std::as_bytes(std::span(&size, 1)));
    append(std::as_bytes(std::span(part)));
  }
  fabric->broadcast(packed, 0);
  std::vector<std::string> all;
  for (std::size_t at = 0; at < packed.size();) {
    std::uint64_t size = 0;
    std::memcpy(&size, packed.data() + at, sizeof size);
    all.emplace_back(reinterpret_cast<const char*>(packed.data() + at + sizeof size), size);
    at += sizeof size + size;
  }
  return all;
}

}  // namespace keyway::client
