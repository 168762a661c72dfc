// CounterWord: the word in which readers of an RMA-RW lock are counted, one per physical counter.
//
// *What.* A bit table and pure functions. Bits, most significant first:
//   63..56  phase: odd while the counter is closed, for writers; one more with each closing and
//           each opening, and 255 is followed by 0 (the carry leaves the word)
//   55..49  given up: closings since the counter was last empty whose writer gave up before it was
//   48..24  arrive: readers that have come since the last reset
//   23..0   depart: those of them that have gone again
// A reader that arrives in an even phase is inside at once. One that arrives in an odd phase is
// registered: it is inside as soon as the phase is another.
// *Thread safety.* Values.
// *Invariants.*
//   W1  arrive and depart never overflow. Only arrivals at a number below t_r go on without
//       another condition. An agent that arrives at or above t_r stays in its acquire until the
//       counter has been reset or closed, or else takes its arrival back; one that arrives while
//       the counter is closed stays until it is opened, or takes its arrival back. A closing ends
//       with a reset in any case. So between two resets each agent is counted at most once above
//       t_r and at most once registered: arrive <= t_r + 2 * agents. t_r is at most kMostTr = 2^22,
//       and there are at most 2^16 ranks with 64 agents each, 2^22: that makes 3 * 2^22 < 2^24.
//   W2  While a registered reader has not noticed that its phase is over, no later phase has its
//       number. An opening by a writer that had the lock, or saw the counter empty, comes after all
//       earlier readers have left, so those that may not have noticed are of the last odd phase
//       only. Each closing that is given up earlier adds two to the phase and one to `given up`,
//       and may_close() ends that before the phase has gone round.
// *Source.* HPDC'16 section 3.2.1 with two words and a bit for the mode. Deviation: one word, so
// that one read tells the mode and whether readers are inside (a model checker's advice, design
// section 5: R1, R2, R3), and the number of the phase instead of a bit (R7). The numbers of bits
// are parameters so that explorations of endless use go round soon; BasicCounterWord<2, 1> shows
// every rule that the real one has.
#pragma once

#include <cstdint>

#include "keyway/locks/base/check.h"

namespace keyway::locks {

template <unsigned kPhaseBits, unsigned kGivenUpBits>
struct BasicCounterWord {
  static constexpr unsigned kDepartBits = (64 - kPhaseBits - kGivenUpBits) / 2;
  static constexpr unsigned kArriveShift = kDepartBits;
  static constexpr unsigned kGivenUpShift = 64 - kPhaseBits - kGivenUpBits;
  static constexpr unsigned kPhaseShift = 64 - kPhaseBits;
  static_assert(kPhaseBits >= 2 && kGivenUpBits >= 1 && kDepartBits >= 24);

  static constexpr std::uint64_t kDepart = 1;
  static constexpr std::uint64_t kArrive = 1ULL << kArriveShift;
  static constexpr std::uint64_t kGivenUp = 1ULL << kGivenUpShift;
  /// Closing and opening both add this.
  static constexpr std::uint64_t kPhase = 1ULL << kPhaseShift;
  /// The largest t_r; W1.
  static constexpr std::uint64_t kMostTr = 1ULL << 22;
  /// Closings that may be given up in a row; W2: 2 + 2 * kMostGivenUp < number of phases.
  static constexpr std::uint64_t kMostGivenUp = (1ULL << (kPhaseBits - 1)) - 2;
  static_assert(kMostGivenUp + 1 < 1ULL << kGivenUpBits);

  static constexpr std::uint64_t make(std::uint64_t phase, std::uint64_t given_up,
                                      std::uint64_t arrive, std::uint64_t depart) {
    return phase << kPhaseShift | given_up << kGivenUpShift | arrive << kArriveShift | depart;
  }
  static constexpr std::uint64_t phase(std::uint64_t word) { return word >> kPhaseShift; }
  static constexpr std::uint64_t given_up(std::uint64_t word) {
    return word >> kGivenUpShift & ((1ULL << kGivenUpBits) - 1);
  }
  static constexpr std::uint64_t arrive(std::uint64_t word) {
    return word >> kArriveShift & ((1ULL << (kGivenUpShift - kArriveShift)) - 1);
  }
  static constexpr std::uint64_t depart(std::uint64_t word) {
    return word & ((1ULL << kDepartBits) - 1);
  }

  static constexpr bool closed(std::uint64_t word) { return (word & kPhase) != 0; }
  /// Nobody is inside or registered.
  static constexpr bool empty(std::uint64_t word) { return arrive(word) == depart(word); }
  /// Whether a counter that is not empty may be closed; W2.
  static constexpr bool may_close(std::uint64_t word) { return given_up(word) <= kMostGivenUp; }

  /// What a reader leaves of a word by a reset: those who have gone are not counted any more.
  static constexpr std::uint64_t trimmed(std::uint64_t word) {
    return word - depart(word) * (kArrive + kDepart);
  }
  /// What a writer makes of the word of an empty open counter: closed, nobody counted.
  static constexpr std::uint64_t closed_empty(std::uint64_t word) {
    return (word & ~(kPhase - 1)) + kPhase;
  }
  /// What a writer adds to a counter that it closed with `entered` readers counted, once those have
  /// gone: a reset. Others may have registered meanwhile.
  static constexpr std::uint64_t reset_of(std::uint64_t snapshot) {
    return 0 - arrive(snapshot) * (kArrive + kDepart) - given_up(snapshot) * kGivenUp;
  }
  /// What a writer adds to open such a counter that it gives up while `gone` of them have gone.
  static constexpr std::uint64_t give_up_of(std::uint64_t snapshot, std::uint64_t gone) {
    if (gone == arrive(snapshot)) return reset_of(snapshot) + kPhase;
    return kPhase + kGivenUp - gone * (kArrive + kDepart);
  }
};

using CounterWord = BasicCounterWord<8, 7>;
static_assert(CounterWord::kGivenUpShift == 49 && CounterWord::kArriveShift == 24);
static_assert(3 * CounterWord::kMostTr < 1ULL << CounterWord::kDepartBits);  // W1

}  // namespace keyway::locks
