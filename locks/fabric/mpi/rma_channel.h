// RmaChannel: one agent's operations that go through MPI, and what it must keep until they are
// complete.
//
// *What.* Slots for operands and results (N1 of mpi_endpoint.h), and per rank how far the agent has
// issued and flushed, so that the flush of a rank costs nothing if no operation to it is in flight.
// *Thread safety.* Belongs to one agent.
// *Invariants.* N1 of mpi_endpoint.h. C1: `flushed <= issued` for every rank, and every operation
// to the rank with a sequence up to `flushed` is complete at the target. C2: nobody waits for the
// operations up to `given_up`; what they still use belongs to the channel. C3: when the agent
// waits, and outside bodies and post_together(), nothing is held: all that was posted has been
// sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "keyway/locks/base/function_ref.h"
#include "keyway/locks/fabric/mpi/held_operations.h"
#include "keyway/locks/fabric/mpi/joined_message.h"
#include "keyway/locks/fabric/mpi/mpi_interface.h"
#include "keyway/locks/fabric/mpi/mpi_memory.h"
#include "keyway/locks/fabric/overlap.h"
#include "keyway/locks/fabric/pending.h"

namespace keyway::fabric {

/// Words that an agent can have in flight and unread at one time: see N1.
inline constexpr std::uint64_t kResultSlots = 1024;

/// Longer writes are made in parts of this many bytes, one after the other: with MPICH the target
/// keeps a copy of what has come until it has replaced the bytes.
inline constexpr std::size_t kMaxWrite = 16 << 20;

class RmaChannel {
 public:
  /// Memory, service and answers outlive the channel. `crowded` as in mpi_wait.h. `joins`: several
  /// operations on a rank of another node leave as one message.
  RmaChannel(std::shared_ptr<MpiInterface> mpi, const MpiMemory& memory, const RankService& service,
             RankAnswers& answers, bool crowded, bool joins);
  /// Completes the operations in flight: MPI still writes to our slots and the caller's buffers.
  ~RmaChannel();
  RmaChannel(const RmaChannel&) = delete;
  RmaChannel& operator=(const RmaChannel&) = delete;

  // Blocking: complete at the target on return.
  std::uint64_t word(WordOp op, Address a, std::uint64_t operand);
  std::uint64_t compare_swap(Address a, std::uint64_t expected, std::uint64_t desired);
  void read(Address a, std::span<std::byte> out);
  void write(Address a, std::span<const std::byte> in);

  Pending post_word(WordOp op, Address a, std::uint64_t operand);
  Pending post_compare_swap(Address a, std::uint64_t expected, std::uint64_t desired);
  PendingBytes post_read(Address a, std::span<std::byte> out);
  void post_write(Address a, std::span<const std::byte> in);
  /// As gather.h says.
  void post_gather(std::uint32_t rank, std::span<const Part> parts, std::span<std::byte> out);
  void post_together(FunctionRef<void()> post);

  Flushed flush(std::uint32_t rank) {
    if (peers_[rank].flushed < peers_[rank].issued) {
      if (overlap_.in_body()) {
        overlap_.flush(rank);
      } else {
        complete(rank, nullptr, Deadline::never());
      }
    }
    return {rank, issued_};
  }
  /// As Endpoint::flush_idle(). With Open MPI it waits as long as flush() does.
  std::optional<Flushed> flush_idle(std::uint32_t rank, Deadline deadline) {
    return flush_by(rank, service_, deadline);
  }
  std::optional<Flushed> flush_until(std::uint32_t rank, Deadline deadline) {
    return flush_by(rank, nullptr, deadline);
  }
  /// As Endpoint::keep().
  void keep(std::uint32_t rank, const std::shared_ptr<void>& buffer);
  /// As Endpoint::answers(). With Open MPI, which does not look at deadlines, it is always true.
  bool answers(std::uint32_t rank, Deadline deadline);
  /// As Endpoint::note_answer().
  void note_answer(std::uint32_t rank, std::uint64_t since_ns) {
    answers_->answered(rank, since_ns, RankAnswers::Came::kMeanwhile);
  }
  /// All that is not given up.
  void flush_all();
  Traffic traffic() const { return traffic_; }
  /// As Endpoint::overlap().
  void overlap(std::size_t n, Overlap::Body body);
  /// A wait of the endpoint: on the agent's stack.
  template <class Wait>
  auto wait(Wait&& wait) {
    return overlap_.wait([&] {
      send_held();
      return wait();
    });
  }
  /// MPICH sends an operation when it is posted, or when the agent next waits or has done with its
  /// bodies, and the target carries it out when it comes; Open MPI may hold it back until the
  /// flush.
  void push(std::uint32_t rank);
  /// For loops that wait.
  void progress() {
    mpi_->progress(*window_);
    service_->run();
  }

 private:
  struct Slot {
    ResultSlot result;
    std::uint64_t operand = 0;
    std::uint64_t expected = 0;
    std::uint32_t rank = 0;
  };
  struct Peer {
    std::uint64_t issued = 0;
    std::uint64_t flushed = 0;
    std::uint64_t given_up = 0;
    std::uint64_t posted_ns = 0;  // when the first of those in flight was
    InFlight in_flight;
    std::vector<std::shared_ptr<void>> kept;  // buffers of what is given up
    bool listed = false;                      // in dirty_
    bool is_remote = false;                   // on another node
  };

  Slot& next_slot(Address a);
  Slot& prepared_slot(Address a);
  void prepare(std::uint32_t rank);
  bool has_room(std::uint32_t rank) const;
  void make_room(std::uint32_t rank);
  void issue(std::uint32_t rank);
  void count_message(std::uint32_t rank) {
    ++(peers_[rank].is_remote ? traffic_.messages : traffic_.loopbacks);
  }
  /// Whether operations are held: they leave at the end of the bodies, or of post_together().
  bool is_holding() const { return joins_ && (together_ || overlap_.in_body()); }
  bool hold(std::uint32_t rank, const HeldOperation& operation);
  bool hold_write(std::uint32_t rank, const HeldOperation& whole);
  static HeldOperation write_of(Address a, std::span<const std::byte> in, Unit unit) {
    return {WordOp::kStore, unit, a.offset(), in.size(), in.data(), nullptr};
  }
  template <class Post>
  void hold_during(Post&& post);
  void send(std::uint32_t rank, const HeldOperation& operation);
  void send_held(std::uint32_t rank, bool as_copied = false);
  /// All. C3.
  void send_held() {
    while (held_.any()) send_held(held_.ranks().back());
  }
  bool complete(std::uint32_t rank, const RankService* service, Deadline deadline);
  std::optional<Flushed> flush_by(std::uint32_t rank, const RankService* service,
                                  Deadline deadline) {
    const Peer& peer = peers_[rank];
    if (peer.flushed < peer.issued && !complete(rank, service, deadline)) return std::nullopt;
    return Flushed(rank, issued_);
  }

  std::shared_ptr<MpiInterface> mpi_;
  const MpiWindow* window_;
  const RankService* service_;
  RankAnswers* answers_;
  bool crowded_;
  std::uint64_t issued_ = 0;  // operations so far: the sequence of the last one
  Traffic traffic_;
  std::uint64_t posted_ = 0;  // slots handed out so far
  std::vector<Slot> slots_;
  std::vector<Peer> peers_;
  std::vector<std::uint32_t> dirty_;
  const bool joins_;
  bool together_ = false;  // in post_together()
  HeldOperations held_;
  Overlap overlap_;
};

}  // namespace keyway::fabric
