// CounterWord: the word that counts the readers of an RMA-RW lock, one per physical counter.
//
// *What.* A bit table and pure functions. Bits, most significant first:
//   63..38  arrive: readers that have arrived since the last reset; wraps around, and the carry
//           leaves the word
//   37..30  phase: odd while the counter is closed, for writers; each closing and each opening adds
//           one. 255 is followed by 0, and the carry counts as a reader that has arrived and left,
//           one of t_r in every 128th phase
//   29..23  given up: closings since the counter was last empty that their writer gave up before
//           the counter was empty
//   22..0   inside: readers that have arrived and not left
// The difference, `depart`, is the number of readers that have arrived and left. A reader that
// arrives in an even phase is inside at once. A reader that arrives in an odd phase is registered:
// it is inside as soon as the phase changes.
// *Thread safety.* Values.
// *Invariants.*
//   W1  Nothing overflows, however long the lock lives and however many resets fail. An agent is
//       counted in `inside` at most once, and a job has at most 2^22 agents (agent_slots.h). The
//       wrap-around of `arrive` is harmless: a writer compares the current `depart` with `arrive`
//       at closing time, the remainders of numbers that are at most 2^22 apart. For t_r, which is
//       at most 2^22, the count may restart once in 2^26 readers.
//   W2  While a registered reader has not noticed that its phase is over, no later phase has its
//       number. An opening by a writer that had the lock, or saw the counter empty, comes after all
//       earlier readers have left; so readers that may not have noticed are of the last odd phase
//       only. Each closing that is given up earlier adds two to the phase and one to `given up`,
//       and may_close() stops that before the phase wraps around.
// *Source.* HPDC'16 section 3.2.1 with two words and a bit for the mode. Deviations: one word, so
// that one read returns the mode and whether readers are inside (a model checker's advice, design
// section 5: R1, R2, R3); the number of the phase instead of a bit (R7); and the number of readers
// inside instead of those that have left, which needs no reset. The numbers of bits are parameters
// so that explorations of endless use wrap around soon; BasicCounterWord<2, 1, 3> has every rule of
// the real one, for up to seven agents.
#pragma once

#include <cstdint>

#include "keyway/locks/fabric/agent_slots.h"

namespace keyway::locks {

template <unsigned kPhaseBits, unsigned kGivenUpBits, unsigned kArriveBits>
struct BasicCounterWord {
  static constexpr unsigned kArriveShift = 64 - kArriveBits;
  static constexpr unsigned kPhaseShift = kArriveShift - kPhaseBits;
  static constexpr unsigned kGivenUpShift = kPhaseShift - kGivenUpBits;
  static_assert(kPhaseBits >= 2 && kGivenUpBits >= 1 && kGivenUpShift >= 23);

  /// Arriving and leaving add these. Leaving takes one from `inside`, and so adds one to depart().
  static constexpr std::uint64_t kArrive = (1ULL << kArriveShift) + 1;
  static constexpr std::uint64_t kDepart = 0ULL - 1;
  static constexpr std::uint64_t kGivenUp = 1ULL << kGivenUpShift;
  static constexpr std::uint64_t kPhases = 1ULL << kPhaseBits;
  /// Closing and opening both add this.
  static constexpr std::uint64_t kPhase = 1ULL << kPhaseShift;
  /// The largest t_r; W1.
  static constexpr std::uint64_t kMaxTr = 1ULL << 22;
  /// Closings that may be given up in a row; W2: 2 + 2 * kMaxGivenUp < number of phases.
  static constexpr std::uint64_t kMaxGivenUp = (1ULL << (kPhaseBits - 1)) - 2;
  static_assert(kMaxGivenUp + 1 < 1ULL << kGivenUpBits);

  static constexpr std::uint64_t make(std::uint64_t phase, std::uint64_t given_up,
                                      std::uint64_t arrive, std::uint64_t depart) {
    return arrive << kArriveShift | phase << kPhaseShift | given_up << kGivenUpShift |
           (arrive - depart);
  }
  static constexpr std::uint64_t phase(std::uint64_t word) {
    return word >> kPhaseShift & (kPhases - 1);
  }
  static constexpr std::uint64_t given_up(std::uint64_t word) {
    return word >> kGivenUpShift & ((1ULL << kGivenUpBits) - 1);
  }
  static constexpr std::uint64_t arrive(std::uint64_t word) { return word >> kArriveShift; }
  static constexpr std::uint64_t inside(std::uint64_t word) { return word & (kGivenUp - 1); }
  static constexpr std::uint64_t depart(std::uint64_t word) {
    return (arrive(word) - inside(word)) & ((1ULL << kArriveBits) - 1);
  }

  static constexpr bool closed(std::uint64_t word) { return (word & kPhase) != 0; }
  /// No reader is inside or registered.
  static constexpr bool empty(std::uint64_t word) { return inside(word) == 0; }
  /// Whether a counter that is not empty may be closed; W2.
  static constexpr bool may_close(std::uint64_t word) { return given_up(word) <= kMaxGivenUp; }

  /// The word after a reader's reset: readers that have left are no longer counted.
  static constexpr std::uint64_t trimmed(std::uint64_t word) {
    return word - depart(word) * (kArrive + kDepart);
  }
  /// The word after a writer has closed an empty open counter: closed, no reader counted.
  static constexpr std::uint64_t closed_empty(std::uint64_t word) {
    return make(phase(word) + 1, 0, 0, 0);
  }
  /// The reset: a writer adds this to a counter that it closed with `entered` readers counted, once
  /// those have left. Other readers may have registered meanwhile.
  static constexpr std::uint64_t reset_of(std::uint64_t snapshot) {
    return 0 - arrive(snapshot) * (kArrive + kDepart) - given_up(snapshot) * kGivenUp;
  }
  /// A writer that gives up adds this to open such a counter, when `gone` of those readers have
  /// left.
  static constexpr std::uint64_t give_up_of(std::uint64_t snapshot, std::uint64_t gone) {
    if (gone == arrive(snapshot)) return reset_of(snapshot) + kPhase;
    return kPhase + kGivenUp - gone * (kArrive + kDepart);
  }
};

using CounterWord = BasicCounterWord<8, 7, 26>;
static_assert(CounterWord::kArriveShift == 38 && CounterWord::kGivenUpShift == 23);
static_assert(fabric::kMaxAgents < CounterWord::kGivenUp);  // W1

}  // namespace keyway::locks
