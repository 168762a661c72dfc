// ReadPermit<E>: whether this session may read elements of other ranks without their locks.
//
// *Why.* A session that is alone in the store changes any keys as one step. It cannot mark them all
// first (K8), and a reader cannot look for it at every read. So readers have a permit from each
// rank, which expires soon, and a session that wants to be alone says so at every rank and then
// waits until no permit that was given before can be valid. The word also counts such sessions, for
// readers of local memory, who need no permit (LR5 of local_reader.h).
// *Thread safety.* One session's; the words of volumes are shared.
// *Invariants.*
//   RP1  A read that is accepted was complete within kPermitNs of the time at which its permit was
//        asked for. Only that session's own clock is compared.
//   RP2  A session that is alone changes nothing before kPermitNs and a margin have passed since
//        every rank had its word. So an accepted read came before its first change, or after its
//        end.
//   RP3  The word may be read after what is posted with it. Then no session must have been alone in
//        between: the word counts them, and must be what it was when it was read before. So of what
//        is read with it the first read of a rank does not count, nor the first after such a
//        session.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/backoff.h"
#include "keyway/locks/fabric/endpoint.h"

namespace keyway::store {

inline constexpr std::uint64_t kPermitNs = 20'000'000;
/// A tenth more: clocks that count the same time differ by much less.
inline constexpr std::uint64_t kPermitMarginNs = kPermitNs / 10;

// A volume's word of sessions that are alone: whether there is one now, and how many there have
// been.
inline constexpr std::uint64_t kAloneNow = 1;
inline constexpr std::uint64_t kAloneBefore = 1ULL << 32;
constexpr bool is_alone(std::uint64_t word) { return word % kAloneBefore != 0; }

template <fabric::Endpoint E>
class ReadPermit {
 public:
  ReadPermit(E& ep, const Geometry& geometry)
      : ep_(ep), geometry_(geometry), of_rank_(ep.ranks()) {}
  ReadPermit(const ReadPermit&) = delete;
  ReadPermit& operator=(const ReadPermit&) = delete;

  /// A read in progress.
  struct Asked {
    std::uint32_t rank = 0;
    std::uint64_t begun_ns = 0;
    bool asks = false;
    fabric::Pending alone;
  };
  /// Asks a remote rank for another permit, when that is due. The caller then posts its read.
  Asked begin(std::uint32_t rank) {
    const Permit& permit = of_rank_[rank];
    Asked asked{.rank = rank, .begun_ns = ep_.now_ns()};
    asked.asks = !permit.given || asked.begun_ns - permit.asked_ns >= kPermitNs / 2;
    if (asked.asks) {
      asked.alone = ep_.post_load(fabric::rma, geometry_.header(rank) + kAloneOffset);
    }
    return asked;
  }
  /// Flushes the rank. Whether what was read counts (RP1); nothing if the deadline has come first.
  /// `idle`: the session holds no lock.
  std::optional<bool> end(const Asked& asked, Deadline deadline, bool idle = true) {
    Permit& permit = of_rank_[asked.rank];
    const auto flushed =
        idle ? ep_.flush_idle(asked.rank, deadline) : ep_.flush_until(asked.rank, deadline);
    if (!flushed) return std::nullopt;
    if (asked.asks) {
      const std::uint64_t word = asked.alone.value(*flushed);
      const bool as_before = permit.given && word == permit.word;  // RP3
      permit = {asked.begun_ns, word, !is_alone(word)};
      if (!as_before) return false;
    }
    return permit.given && ep_.now_ns() - permit.asked_ns < kPermitNs;
  }

  /// Whether a read that did not count would count now, posted again.
  bool has(std::uint32_t rank) const {
    const Permit& permit = of_rank_[rank];
    return permit.given && ep_.now_ns() - permit.asked_ns < kPermitNs / 2;
  }

  /// While it lives, and once ready() has returned, no read without a lock is accepted. Its session
  /// holds the locks of all stripes.
  class Alone {
   public:
    explicit Alone(ReadPermit& permit) : permit_(permit) {}
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;
    ~Alone() {
      if (said_) permit_.say(~0ULL);  // one less
    }
    void ready() {
      E& ep = permit_.ep_;
      if (ep.one_class()) return;  // then there are no such readers
      permit_.say(kAloneNow | kAloneBefore);
      said_ = true;
      const fabric::Backoff rests{.min_ns = kPermitMarginNs, .max_ns = kPermitMarginNs};
      const std::uint64_t until = ep.now_ns() + kPermitNs + kPermitMarginNs;
      ep.retry_until([&] { return ep.now_ns() >= until; }, rests, Deadline::never());
    }

   private:
    ReadPermit& permit_;
    bool said_ = false;
  };

 private:
  struct Permit {
    std::uint64_t asked_ns = 0;
    std::uint64_t word = 0;
    bool given = false;
  };

  void say(std::uint64_t more) {
    for (std::uint32_t rank = 0; rank < ep_.ranks(); ++rank) {
      ep_.post_fetch_add(fabric::rma, geometry_.header(rank) + kAloneOffset, more);
    }
    ep_.flush_all();
  }

  E& ep_;
  const Geometry& geometry_;
  std::vector<Permit> of_rank_;
};

}  // namespace keyway::store
