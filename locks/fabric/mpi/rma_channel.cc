#include "keyway/locks/fabric/mpi/rma_channel.h"

#include <algorithm>
#include <utility>

#include "keyway/locks/base/check.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/mpi/mpi_library.h"

namespace keyway::fabric {

RmaChannel::RmaChannel(std::shared_ptr<MpiInterface> mpi, const MpiMemory& memory,
                       const RankService& service, RankAnswers& answers, bool crowded)
    : mpi_(std::move(mpi)),
      window_(&memory.window()),
      service_(&service),
      answers_(&answers),
      crowded_(crowded),
      slots_(kResultSlots),
      peers_(memory.bases().size()) {
  dirty_.reserve(peers_.size());  // what is posted is listed, also at the end of memory
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    peers_[rank].is_remote = memory.bases()[rank] == nullptr;
  }
}

RmaChannel::~RmaChannel() {
  for (const std::uint32_t rank : dirty_) flush(rank);
}

RmaChannel::Slot& RmaChannel::next_slot(Address a) {
  const auto in_flight = [&](const Slot& slot) {
    return slot.result.sequence > peers_[slot.rank].flushed;
  };
  // N1: those in flight from the last round may be operations that nobody waits for any more, on a
  // rank that does not answer.
  for (std::uint64_t i = 0; i < kResultSlots && in_flight(slots_[posted_ % kResultSlots]); ++i) {
    ++posted_;
  }
  Slot& slot = slots_[posted_++ % kResultSlots];
  if (in_flight(slot)) flush(slot.rank);
  slot.result = {mpi_->unset(), issued_ + 1};
  slot.rank = a.rank();
  return slot;
}

void RmaChannel::issue(std::uint32_t rank) {
  Peer& peer = peers_[rank];
  if (peer.flushed == peer.issued) peer.posted_ns = steady_ns();
  peer.issued = ++issued_;
  ++(peer.is_remote ? traffic_.messages : traffic_.loopbacks);
  if (!peer.listed) {
    peer.listed = true;
    dirty_.push_back(rank);
  }
}

/// The operation that has been posted with this slot shows there when it is complete.
void RmaChannel::expect(std::uint32_t rank, const Slot& slot) {
  peers_[rank].in_flight.results.push_back(&slot.result.value);
}

/// Whether all is complete; else the deadline has come, and it is given up.
bool RmaChannel::complete(std::uint32_t rank, const RankService* service, Deadline deadline) {
  Peer& peer = peers_[rank];
  traffic_.round_trips += peer.is_remote;
  const CompletionWait wait{.crowded = crowded_,
                            .answers = answers_,
                            .posted_ns = peer.posted_ns,
                            .service = service,
                            .deadline = deadline};
  const bool completed = mpi_->complete(*window_, rank, peer.in_flight, wait);
  traffic_.flushes += std::exchange(peer.in_flight.flushes, 0);
  if (!completed) {
    peer.given_up = peer.issued;
    return false;
  }
  peer.flushed = peer.issued;
  peer.kept.clear();
  return true;
}

void RmaChannel::keep(std::uint32_t rank, const std::shared_ptr<void>& buffer) {
  Peer& peer = peers_[rank];
  if (peer.flushed < peer.issued) peer.kept.push_back(buffer);
}

bool RmaChannel::answers(std::uint32_t rank, Deadline deadline) {
  if (kOpenMpi || answers_->is_fresh(rank)) return true;
  const Peer& peer = peers_[rank];
  // An operation under way is as good a question, and takes no further slot; but one that was
  // answered long ago is none.
  if (peer.flushed < peer.issued && complete(rank, nullptr, Deadline::now()) &&
      answers_->is_fresh(rank)) {
    return true;
  }
  if (peer.flushed == peer.issued) post_word(WordOp::kLoad, Address(rank, 0), 0);
  return complete(rank, nullptr, deadline);
}

void RmaChannel::flush_all() {
  if (overlap_.in_body()) return overlap_.flush_all();
  std::size_t left = 0;
  for (const std::uint32_t rank : dirty_) {
    Peer& peer = peers_[rank];
    if (peer.flushed < peer.issued && peer.given_up == peer.issued) {  // C2
      dirty_[left++] = rank;
      continue;
    }
    flush(rank);
    peer.listed = false;
  }
  dirty_.resize(left);
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

void RmaChannel::post_gather(std::uint32_t rank, std::span<const Part> parts,
                             std::span<std::byte> out) {
  while (!parts.empty()) {
    std::size_t count = 1;
    std::uint64_t bytes = parts.front().bytes;
    KW_DCHECK(bytes <= out.size());
    const auto fits = [&](const Part& next, const Part& last) {
      return next.offset >= last.offset + last.bytes && count < kMaxGathered &&
             bytes + next.bytes <= kMaxGatheredBytes;
    };
    while (count < parts.size() && fits(parts[count], parts[count - 1])) {
      bytes += parts[count++].bytes;
    }
    if (count < kMinGathered) {
      count = 1;
      bytes = parts.front().bytes;
      if (bytes != 0) post_read({rank, parts.front().offset}, out.first(bytes));
    } else {
      mpi_->post_gather(*window_, rank, parts.first(count), out.data(), bytes,
                        peers_[rank].in_flight);
      issue(rank);
    }
    parts = parts.subspan(count);
    out = out.subspan(bytes);
  }
}

void RmaChannel::post_write(Address a, std::span<const std::byte> in) {
  while (true) {
    const std::span<const std::byte> part = in.first(std::min(in.size(), kMaxWrite));
    mpi_->post_put(*window_, a, part.data(), part.size(), peers_[a.rank()].in_flight);
    issue(a.rank());
    in = in.subspan(part.size());
    if (in.empty()) return;
    a = a + part.size();
    flush(a.rank());
  }
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
