// OwnerService<E>: carries out the edits and reads that other ranks send to this rank.
//
// *What.* serve() looks into slots, and makes the edits that it finds there as an agent of
// this node, under the stripes' locks. An edit of a stripe with a taken lock stays in its slot
// until a later call, or is declined when the patience of its caller ends. Bodies are in
// owner_service_impl.h, for the files that instantiate it.
// *Thread safety.* serve() by any thread; while one is in it, the others return at once.
// *Invariants.*
//   OS1  Each call is carried out once at most, and answered once, also one that its caller has
//        taken back. Before it is answered its number is in the slot's claim word (OC2).
//   OS2  An edit is answered after its stripe is unlocked, so the caller's next read sees it.
//   OS3  It never waits for a lock, nor, with MPICH, for a caller. If a kind of lock has words on
//        other ranks, a try waits for these ranks. To release a queue lock it may wait for an
//        agent between that agent's entry into the queue and its word to the one before it; so an
//        agent never serves there (Endpoint::flush_idle).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "keyway/kvstore/owner/call_message.h"
#include "keyway/kvstore/owner/call_slots.h"
#include "keyway/kvstore/session.h"
#include "keyway/locks/fabric/endpoint.h"
#include "keyway/locks/fabric/time_slice.h"

namespace keyway::store {

template <fabric::Endpoint E>
class OwnerService {
 public:
  /// For the rank of the endpoint. Geometry, lock and choice outlive it. `choice` as of
  /// SessionOptions: samples only, since a change of a lock's kind waits.
  OwnerService(E endpoint, const Geometry& geometry, const locks::StripeLock& lock,
               const KindChoice* choice = nullptr);
  ~OwnerService();
  OwnerService(const OwnerService&) = delete;
  OwnerService& operator=(const OwnerService&) = delete;

  /// Looks into some slots, all in turn. The number of calls that it has answered.
  std::size_t serve();
  /// Whether every slot has been looked at since there was a call in one.
  bool idle() const { return idle_.load(std::memory_order_relaxed); }
  /// Calls answered so far.
  std::uint64_t answered() const { return answered_.load(std::memory_order_relaxed); }
  E& endpoint();

 private:
  struct Slot {
    std::uint32_t caller = 0;
    std::uint32_t slot = 0;
    std::uint64_t answered = 0;  // number of the last call
    std::uint64_t seen = 0;      // number of the call that was seen first at
    std::uint64_t seen_ns = 0;
    bool claimed = false;               // the call that was seen: the claim word has its number
    std::uint64_t next_ns = 0;          // its next try, after a lock that was taken
    std::uint64_t rest_ns = 0;          // 0: no try yet
    AnswerWords answer;                 // unchanged until the next call: then it has come
    std::vector<std::byte> value = {};  // the same of a read: the whole answer, or empty
    bool owes = false;                  // the answer is still to be sent
  };

  /// After this long without a call it returns the blocks that it has leased: others may need them,
  /// and no caller waits for it then.
  static constexpr std::uint64_t kIdleNs = 10'000'000;
  /// Between tries of a lock that is taken; twice as long each time.
  static constexpr std::uint64_t kShortestRestNs = 2'000;
  static constexpr std::uint64_t kLongestRestNs = 64'000;
  /// An edit that makes, moves or frees a value longer than this is the caller's: others wait for
  /// this rank.
  static constexpr std::uint64_t kMaxBytes = 64 << 10;
  // The copy of an edit's value gives no turns: serve() is not left in the middle.
  static_assert(kMaxBytes <= fabric::kSliceBytes);

  static bool is_slow(std::uint64_t bytes_before, const Decision& decision);
  bool serve(Slot& slot);
  bool claim(Slot& slot, std::uint64_t number);
  CallAnswer carry_out(Slot& slot, const Call& call);
  CallAnswer read(Slot& slot, const Call& call);
  void answer(Slot& slot, std::uint64_t number, const CallAnswer& answer);
  void send(Slot& slot);

  std::unique_ptr<SessionCore<E>> core_;
  std::vector<Slot> slots_;
  std::size_t next_ = 0;   // slot
  bool found_ = false;     // there was a call in a slot of this look
  std::size_t empty_ = 0;  // slots since then
  std::vector<std::byte> call_;
  std::uint64_t active_ns_ = 0;  // the last answer's; 0: none since the blocks were returned
  std::atomic<bool> busy_{false};
  std::atomic<bool> idle_{false};
  std::atomic<std::uint64_t> answered_{0};
};

}  // namespace keyway::store
