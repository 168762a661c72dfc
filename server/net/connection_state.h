// ConnectionState: the state of a connection in its cycle, and the step that follows an event.
//
// *What.* Three regions change side by side (C1): the phase of the cycle, the read, and the write.
// Every event returns the step that the connection takes; the connection itself keeps no state
// about that. For example, bytes in kReading return kExecute. Bytes in kExecuting are noted, and
// next() returns kExecute for them after the execution.
//
// Each phase, and what an event makes of it: a step, another phase, or both.
// clang-format off
//
//   phase          bytes      end, error   fiber done   written     woken     drain        close
//   kShakingHands  noted      -            -            -           noted     kCancelRead  kClosed
//   kReading       kExecute   kClose (2)   -            (3)         noted     (4)          kClosed
//   kExecuting     noted      -            kSend (1)    -           noted     noted        kAborted
//   kDeciding      noted      -            -            -           noted     noted        kClosed
//   kParked        kReadAhead kClose (2)   -            kReadAhead  kExecute  kExecute     kClosed
//   kHeldUp        noted      -            -            kGoOn (5)   noted     noted        kClosed
//   kEnding        noted      -            -            kClose      noted     noted        kClosed
//   kAborted       -          -            kClosed (6)  -           -         -            -
//   kLeaving       -          -            kClosed      -           -         -            -
//   kClosed        -          -            -            -           -         -            -
//
//   (1) and kDeciding, from where next() chooses; kClose after a cut-off (C8).
//   (2) The client may have ended its half alone: while a write is in progress, kReading becomes
//       kEnding, and kParked waits for the write. A read that drain() cancelled is repeated (kRead)
//       if more has come (C3).
//   (3) kCancelRead if it drains.
//   (4) kCancelRead unless a write is in progress.
//   (5) if there is room for more replies.
//   (6) as every close: kLeaving and kLeave if the client holds something (C7).
//
// next(), from kDeciding or kHeldUp, takes the first that fits:
//
//   the client is to be closed      kEnding while a write is under way, else kClose
//   its request waits               kParked: kExecute if woken or draining, else kPark
//   no room for replies             kHeldUp
//   the execution stopped early     kExecuteMore
//   bytes were noted                kExecute
//   it drains, and writes nothing   kReading: kReadRest
//   else                            kReading: kRead unless a read is under way
//
// clang-format on
// *Thread safety.* Belongs to its connection.
// *Invariants.* N1: one read and one write at a time. N2: a fiber runs exactly in kExecuting,
// kAborted and kLeaving. N3: from kAborted, kLeaving and kClosed no way leads back.
#pragma once

#include <cstdint>

namespace keyway::server {

class ConnectionState {
 public:
  enum class Phase : std::uint8_t {
    kShakingHands,
    kReading,
    kExecuting,  // on a fiber, or scheduled for one
    kDeciding,   // between an execution and the next step; at the beginning, too
    kParked,     // its request waits
    kHeldUp,     // until the client takes replies (C8)
    kEnding,     // until the client has taken all replies
    kAborted,    // closed while a fiber executes
    kLeaving,    // closed; a fiber releases what the client held
    kClosed
  };
  enum class Step : std::uint8_t {
    kNone,
    kRead,
    kReadAhead,
    kReadRest,
    kCancelRead,
    kExecute,
    kExecuteMore,
    kSend,  // the replies, and then next()
    kGoOn,  // next()
    kPark,
    kLeave,
    kClose
  };
  enum class Read : std::uint8_t { kBytes, kEnd, kCancelled, kFailed };
  /// The inputs of next().
  struct Outlook {
    bool closing = false;  // the client is to be closed
    bool waits = false;    // its request is not done
    bool room = true;      // for more replies
  };

  Phase phase() const { return phase_; }
  bool reading() const { return input_ == Input::kUnderWay; }
  bool writing() const { return writing_; }
  bool on_fiber() const;
  /// Its socket is open.
  bool is_open() const;

  void shake_hands() { phase_ = Phase::kShakingHands; }
  /// The handshake succeeded: kGoOn, unless the connection was closed meanwhile.
  Step shook_hands();
  /// Before a read begins.
  void begin_read() { input_ = Input::kUnderWay; }
  /// `more`: bytes wait in the kernel.
  Step read_ended(Read how, bool more);
  void begin_write() { writing_ = true; }
  /// False when nothing follows, as the connection has been closed.
  bool write_ended();
  /// After write_ended(), and after another write began if one did.
  Step after_write(bool room);
  void schedule() { phase_ = Phase::kExecuting; }
  /// On the fiber: it reads all that has come.
  void begin_execution();
  /// On the fiber: it stops before the end of what has come (C10).
  void stop_early() { rest_ = Rest::kMore; }
  /// On the fiber: the client is cut off (C8).
  void cut_off() { rest_ = Rest::kCutOff; }
  bool stopped_early() const { return rest_ == Rest::kMore; }
  /// `holds`: the client has locks, or waits for some.
  Step fiber_done(bool holds);
  Step next(const Outlook& outlook);
  Step wake();
  Step drain();
  bool draining() const { return draining_; }
  Step close(bool holds);

 private:
  Step closed(bool holds);
  enum class Input : std::uint8_t {
    kIdle,
    kUnderWay,
    kUnseen  // something came that no execution has looked at
  };
  enum class Rest : std::uint8_t { kNothing, kMore, kCutOff };

  Step read_in_cycle(Read how, bool more);

  Phase phase_ = Phase::kDeciding;
  Input input_ = Input::kIdle;
  Rest rest_ = Rest::kNothing;  // the result of the last execution
  bool writing_ = false;
  bool draining_ = false;
  bool woken_ = false;  // since the last execution began
};

}  // namespace keyway::server
