#include "keyway/locks/fabric/shm/shm_fabric.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace keyway::fabric {

void detail::Unmap::operator()(std::byte* base) const { munmap(base, bytes); }

Result<ShmFabric> ShmFabric::create(const Options& options) {
  if (options.ranks == 0 || options.ranks >= Address::kMaxRanks) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} ranks: ask for 1 to {}", options.ranks, Address::kMaxRanks - 1));
  }
  if (Status status = check_agents(options.ranks, options.agents_per_rank); !status.ok()) {
    return status;
  }
  if (options.segment_bytes > Address::kMaxOffset) {
    return Status(Code::kInvalidArgument, fmt::format("segments of {} bytes: ask for at most {}",
                                                      options.segment_bytes, Address::kMaxOffset));
  }
  auto topology = Topology::override_with(options.topology, Topology::single_node(options.ranks));
  if (!topology.ok()) return topology.status();

  // Huge pages: a hash table touches a new page with almost every operation, and the misses of
  // the translation buffer cost as much as those of the cache. Advice only.
  constexpr std::uint64_t kHugePage = 2u << 20;
  const std::uint64_t segment = (options.segment_bytes + kHugePage - 1) & ~(kHugePage - 1);
  const std::uint64_t total = segment * options.ranks + kHugePage;
  void* mapped = mmap(nullptr, total, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    return Status(Code::kOutOfSpace,
                  fmt::format("{} segments of {} bytes cannot be mapped ({}); ask for less memory",
                              options.ranks, options.segment_bytes, std::strerror(errno)));
  }
  madvise(mapped, total, MADV_HUGEPAGE);

  ShmFabric made;
  made.memory_ = {static_cast<std::byte*>(mapped), detail::Unmap{total}};
  const auto start = reinterpret_cast<std::uintptr_t>(mapped);
  auto* base = reinterpret_cast<std::byte*>((start + kHugePage - 1) & ~(kHugePage - 1));
  for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
    made.bases_.push_back(base + rank * segment);
    made.slots_.push_back(std::make_unique<AgentSlots>(options.agents_per_rank));
  }
  made.topology_ = std::make_unique<Topology>(std::move(*topology));
  made.segment_bytes_ = options.segment_bytes;
  return made;
}

Result<ShmEndpoint> ShmFabric::endpoint(std::uint32_t rank) {
  if (rank >= ranks()) {
    return Status(Code::kInvalidArgument, fmt::format("rank {} of {}", rank, ranks()));
  }
  auto slot = hold_slot(*slots_[rank], rank);
  if (!slot.ok()) return slot.status();
  ShmEndpoint made;
  made.bases_ = bases_.data();
  made.topology_ = topology_.get();
  made.segment_bytes_ = segment_bytes_;
  made.rank_ = rank;
  made.ranks_ = ranks();
  made.hold_ = std::move(*slot);
  return made;
}

}  // namespace keyway::fabric
