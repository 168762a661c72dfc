#include "keyway/locks/fabric/mpi/rma_channel.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "keyway/locks/base/check.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/reserve_more.h"
#include "keyway/locks/fabric/mpi/mpi_library.h"

namespace keyway::fabric {

RmaChannel::RmaChannel(std::shared_ptr<MpiInterface> mpi, const MpiMemory& memory,
                       const RankService& service, RankAnswers& answers, bool crowded, bool joins)
    : mpi_(std::move(mpi)),
      window_(&memory.window()),
      service_(&service),
      answers_(&answers),
      crowded_(crowded),
      slots_(kResultSlots),
      peers_(memory.bases().size()),
      joins_(joins && !kOpenMpi),
      held_(memory.bases().size()) {
  dirty_.reserve(peers_.size());  // what is posted is listed, also at the end of memory
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    peers_[rank].is_remote = memory.bases()[rank] == nullptr;
    make_room(static_cast<std::uint32_t>(rank));
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
  if (!peer.listed) {
    peer.listed = true;
    dirty_.push_back(rank);
  }
}

/// Operations of each vector that are sent without further memory: all that is held, if it leaves
/// singly, and one more.
constexpr std::size_t kRoom = HeldOperations::kKinds * (kMinGathered - 1) + 1;

bool RmaChannel::has_room(std::uint32_t rank) const {
  const InFlight& in_flight = peers_[rank].in_flight;
  const auto has = [](const auto& items, std::size_t more) {
    return items.size() + more <= items.capacity();
  };
  return has(in_flight.results, kRoom) && has(in_flight.requests, kRoom) &&
         (!joins_ || has(in_flight.joined, HeldOperations::kKinds));
}

void RmaChannel::make_room(std::uint32_t rank) {
  InFlight& in_flight = peers_[rank].in_flight;
  reserve_more(in_flight.results, kRoom);
  reserve_more(in_flight.requests, kRoom);
  if (joins_) reserve_more(in_flight.joined, HeldOperations::kKinds);
}

/// Before an operation is posted: there is room for it. Without memory for more, there is once the
/// others are complete, since a release must not fail.
void RmaChannel::prepare(std::uint32_t rank) {
  constexpr std::size_t kMaxJoined = 64;  // bounds the memory of an agent that never flushes
  const Peer& peer = peers_[rank];
  const bool answers = peer.given_up <= peer.flushed;
  if (peer.in_flight.joined.size() >= kMaxJoined && answers) flush(rank);
  while (!has_room(rank)) {
    try {
      make_room(rank);
    } catch (const std::bad_alloc&) {
      complete(rank, nullptr, Deadline::never());
    }
  }
}

/// prepare(), and a slot.
RmaChannel::Slot& RmaChannel::prepared_slot(Address a) {
  while (true) {
    prepare(a.rank());
    Slot& slot = next_slot(a);
    if (has_room(a.rank())) return slot;  // else other bodies have had their turn in a flush
  }
}

/// Sends an operation alone.
void RmaChannel::send(std::uint32_t rank, const HeldOperation& operation) {
  const Address at(rank, operation.offset);
  InFlight& in_flight = peers_[rank].in_flight;
  if (operation.unit == Unit::kWord) {
    auto* const result = static_cast<std::uint64_t*>(operation.out);
    mpi_->post_word(*window_, operation.op, at,
                    reinterpret_cast<const std::uint64_t*>(operation.in), result);
    in_flight.results.push_back(result);
  } else if (operation.is_load()) {
    mpi_->post_get(*window_, at, operation.out, operation.bytes, in_flight);
  } else {
    const Address whole(rank, operation.offset - operation.before);
    const std::uint64_t bytes = operation.before + operation.bytes + operation.behind;
    mpi_->post_put(*window_, whole, operation.in - operation.before, bytes, in_flight);
  }
  count_message(rank);
}

/// Holds an operation, if that is the time for it. Held or not, on return all has been sent that
/// must come before it.
bool RmaChannel::hold(std::uint32_t rank, const HeldOperation& operation) {
  if (!is_holding()) {
    send_held();  // C3
    return false;
  }
  if (!peers_[rank].is_remote) return false;
  if (operation.bytes > HeldOperations::kMaxBytes) {
    if (held_.overlaps(rank, operation.offset, operation.bytes)) send_held(rank);
    return false;
  }
  try {
    if (held_.must_leave(rank, operation)) {
      send_held(rank);
      make_room(rank);
    }
    held_.add(rank, operation);
    return true;
  } catch (const std::bad_alloc&) {  // it leaves alone, for which there is room
    if (held_.overlaps(rank, operation.offset, operation.bytes)) send_held(rank);
    return false;
  }
}

/// `as_copied`: buffers of what is written may be gone, but messages have copies.
void RmaChannel::send_held(std::uint32_t rank, bool as_copied) {
  InFlight& in_flight = peers_[rank].in_flight;
  const bool joins_words = as_copied || held_.joins_words(rank);
  held_.take(rank, [&](std::unique_ptr<JoinedMessage> message) {
    if (message->pays(joins_words) || (as_copied && !message->has_results())) {
      mpi_->post_joined(*window_, rank, *message);
      count_message(rank);
      in_flight.joined.push_back(std::move(message));
      return;
    }
    for (std::size_t i = 0; i < message->size(); ++i) {
      const HeldOperation& operation = message->operation(i);
      if (joins_words || !operation.is_edge) send(rank, operation);
    }
    held_.give_back(std::move(message));
  });
}

/// Calls post(), and then sends what is held, even if an exception leaves it.
template <class Post>
void RmaChannel::hold_during(Post&& post) {
  try {
    post();
  } catch (...) {
    together_ = false;
    held_.drop_reads();
    while (held_.any()) send_held(held_.ranks().back(), /*as_copied=*/true);
    throw;
  }
  together_ = false;
  send_held();
}

void RmaChannel::post_together(FunctionRef<void()> post) {
  if (is_holding()) return post();
  together_ = true;
  hold_during(post);
}

void RmaChannel::overlap(std::size_t n, Overlap::Body body) {
  const auto run = [&] {
    overlap_.run(n, body, {[this](std::uint32_t rank) { flush(rank); }, [this] { flush_all(); }});
  };
  if (overlap_.in_body() || together_) return run();
  hold_during(run);
}

/// Whether all is complete; else the deadline has come, and it is given up.
bool RmaChannel::complete(std::uint32_t rank, const RankService* service, Deadline deadline) {
  send_held();
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
  peer.in_flight.handed_out = 0;
  for (auto& message : peer.in_flight.joined) held_.give_back(std::move(message));
  peer.in_flight.joined.clear();
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
  Slot& slot = prepared_slot(a);
  slot.operand = operand;
  const auto in = std::as_bytes(std::span(&slot.operand, 1));
  const HeldOperation operation{op,        Unit::kWord, a.offset(),
                                in.size(), in.data(),   &slot.result.value};
  if (!hold(a.rank(), operation)) send(a.rank(), operation);
  issue(a.rank());
  return Pending::at(a.rank(), issued_, &slot.result);
}

Pending RmaChannel::post_compare_swap(Address a, std::uint64_t expected, std::uint64_t desired) {
  Slot& slot = prepared_slot(a);
  slot.operand = desired;
  slot.expected = expected;
  if (held_.overlaps(a.rank(), a.offset(), sizeof desired)) send_held(a.rank());
  mpi_->post_compare_swap(*window_, a, &slot.expected, &slot.operand, &slot.result.value);
  peers_[a.rank()].in_flight.results.push_back(&slot.result.value);
  count_message(a.rank());
  issue(a.rank());
  return Pending::at(a.rank(), issued_, &slot.result);
}

PendingBytes RmaChannel::post_read(Address a, std::span<std::byte> out) {
  prepare(a.rank());
  const HeldOperation operation{WordOp::kLoad, Unit::kBytes, a.offset(),
                                out.size(),    nullptr,      out.data()};
  if (!hold(a.rank(), operation)) send(a.rank(), operation);
  issue(a.rank());
  return {a.rank(), issued_, out};
}

void RmaChannel::post_gather(std::uint32_t rank, std::span<const Part> parts,
                             std::span<std::byte> out) {
  if (!joins_ || is_holding()) {
    for (const Part& part : parts) {
      if (part.bytes != 0) post_read({rank, part.offset}, out.first(part.bytes));
      out = out.subspan(part.bytes);
    }
    return;
  }
  send_held();
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
      prepare(rank);
      mpi_->post_gather(*window_, rank, parts.first(count), out.data(), bytes,
                        peers_[rank].in_flight);
      count_message(rank);
      issue(rank);
    }
    parts = parts.subspan(count);
    out = out.subspan(bytes);
  }
}

void RmaChannel::post_write(Address a, std::span<const std::byte> in) {
  const std::uint32_t rank = a.rank();
  while (true) {
    const std::span<const std::byte> part = in.first(std::min(in.size(), kMaxWrite));
    prepare(rank);
    const HeldOperation whole = write_of(a, part, Unit::kBytes);
    if (!hold_write(rank, whole)) send(rank, whole);
    issue(rank);
    in = in.subspan(part.size());
    if (in.empty()) return;
    a = a + part.size();
    flush(rank);
  }
}

/// hold() for a write of bytes. Its aligned words are held as such, so that others see them whole
/// if they leave with others, and its edges apart. All of them are sent at the same time.
bool RmaChannel::hold_write(std::uint32_t rank, const HeldOperation& whole) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const std::size_t head = std::min<std::size_t>(whole.bytes, -whole.offset % kWord);
  const std::size_t middle = (whole.bytes - head) / kWord * kWord;
  const bool leaves = !is_holding() || !peers_[rank].is_remote;
  if (leaves || middle == 0 || whole.bytes > HeldOperations::kMaxBytes) return hold(rank, whole);

  const Address at(rank, whole.offset);
  const std::span in(whole.in, whole.bytes);
  HeldOperation words = write_of(at + head, in.subspan(head, middle), Unit::kWords);
  words.before = static_cast<std::uint8_t>(head);
  words.behind = static_cast<std::uint8_t>(whole.bytes - head - middle);
  HeldOperation first = write_of(at, in.first(head), Unit::kBytes);
  HeldOperation last = write_of(at + head + middle, in.subspan(head + middle), Unit::kBytes);
  first.is_edge = last.is_edge = true;
  const std::array parts = {words, first, last};
  try {
    if (held_.overlaps(rank, whole.offset, whole.bytes) || !held_.has_room(rank, parts)) {
      send_held(rank);
      make_room(rank);
    }
    for (const HeldOperation& part : parts) {
      if (part.bytes != 0) held_.add(rank, part);
    }
    return true;
  } catch (const std::bad_alloc&) {  // it leaves alone, behind its parts
    send_held(rank);
    return false;
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
