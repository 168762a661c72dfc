#include "keyway/locks/fabric/mpi/rma_channel.h"

#include <utility>

#include "keyway/locks/fabric/fiber.h"
#include "keyway/locks/fabric/mpi/mpi_library.h"

namespace keyway::fabric {

RmaChannel::RmaChannel(std::shared_ptr<MpiInterface> mpi, const MpiWindow& window,
                       const RankService& service, std::uint32_t ranks, bool crowded)
    : mpi_(std::move(mpi)),
      window_(&window),
      service_(&service),
      crowded_(crowded),
      slots_(kResultSlots),
      peers_(ranks) {}

RmaChannel::~RmaChannel() { flush_all(); }

RmaChannel::Slot& RmaChannel::next_slot(Address a) {
  Slot& slot = slots_[posted_++ % kResultSlots];
  // N1: still in flight from the last round.
  if (slot.result.sequence > peers_[slot.rank].flushed) complete(slot.rank, nullptr);
  slot.result = {mpi_->unset(), issued_ + 1};
  slot.rank = a.rank();
  return slot;
}

void RmaChannel::issue(std::uint32_t rank) {
  Peer& peer = peers_[rank];
  peer.issued = ++issued_;
  if (!peer.listed) {
    peer.listed = true;
    dirty_.push_back(rank);
  }
}

/// The operation that has been posted with this slot shows there when it is complete.
void RmaChannel::expect(std::uint32_t rank, const Slot& slot) {
  peers_[rank].in_flight.results.push_back(&slot.result.value);
}

void RmaChannel::complete(std::uint32_t rank, const RankService* service) {
  Peer& peer = peers_[rank];
  const bool gives_way = crowded_ || this_fiber::active();
  if (peer.in_flight.needs_flush && gives_way && !kOpenMpi) mark_end(rank);
  mpi_->complete(*window_, rank, peer.in_flight, crowded_, service);
  peer.flushed = peer.issued;
}

// A large put gives no notice of its arrival, and MPI_Win_flush keeps the processor while it waits,
// which the target, or a sibling of this fiber, may need. A load posted after the puts shows when
// they have probably arrived.
void RmaChannel::mark_end(std::uint32_t rank) {
  marker_.result.value = mpi_->unset();
  mpi_->post_word(*window_, WordOp::kLoad, Address(rank, 0), &marker_.operand,
                  &marker_.result.value);
  expect(rank, marker_);
}

void RmaChannel::flush_all() {
  for (const std::uint32_t rank : dirty_) {
    flush(rank);
    peers_[rank].listed = false;
  }
  dirty_.clear();
}

void RmaChannel::push(std::uint32_t rank) {
  if constexpr (kOpenMpi) flush(rank);
}

Pending RmaChannel::post_word(WordOp op, Address a, std::uint64_t operand) {
  Slot& slot = next_slot(a);
  slot.operand = operand;
  mpi_->post_word(*window_, op, a, &slot.operand, &slot.result.value);
  issue(a.rank());
  expect(a.rank(), slot);
  return Pending::at(a.rank(), issued_, &slot.result);
}

Pending RmaChannel::post_compare_swap(Address a, std::uint64_t expected, std::uint64_t desired) {
  Slot& slot = next_slot(a);
  slot.operand = desired;
  slot.expected = expected;
  mpi_->post_compare_swap(*window_, a, &slot.expected, &slot.operand, &slot.result.value);
  issue(a.rank());
  expect(a.rank(), slot);
  return Pending::at(a.rank(), issued_, &slot.result);
}

PendingBytes RmaChannel::post_read(Address a, std::span<std::byte> out) {
  mpi_->post_get(*window_, a, out.data(), out.size(), peers_[a.rank()].in_flight);
  issue(a.rank());
  return {a.rank(), issued_, out};
}

void RmaChannel::post_write(Address a, std::span<const std::byte> in) {
  mpi_->post_put(*window_, a, in.data(), in.size(), peers_[a.rank()].in_flight);
  issue(a.rank());
}

std::uint64_t RmaChannel::word(WordOp op, Address a, std::uint64_t operand) {
  const Pending pending = post_word(op, a, operand);
  return pending.value(flush(a.rank()));
}

std::uint64_t RmaChannel::compare_swap(Address a, std::uint64_t expected, std::uint64_t desired) {
  const Pending pending = post_compare_swap(a, expected, desired);
  return pending.value(flush(a.rank()));
}

void RmaChannel::read(Address a, std::span<std::byte> out) {
  post_read(a, out);
  flush(a.rank());
}

void RmaChannel::write(Address a, std::span<const std::byte> in) {
  post_write(a, in);
  flush(a.rank());
}

}  // namespace keyway::fabric
