#include "keyway/server/net/connection_state.h"

namespace keyway::server {

using Phase = ConnectionState::Phase;
using Step = ConnectionState::Step;

bool ConnectionState::on_fiber() const {
  return phase_ == Phase::kExecuting || phase_ == Phase::kAborted || phase_ == Phase::kLeaving;
}

bool ConnectionState::is_open() const {
  return phase_ != Phase::kAborted && phase_ != Phase::kLeaving && phase_ != Phase::kClosed;
}

Step ConnectionState::shook_hands() {
  if (!is_open()) return Step::kNone;
  phase_ = Phase::kDeciding;
  return Step::kGoOn;
}

Step ConnectionState::read_ended(Read how, bool more) {
  input_ = Input::kIdle;
  switch (phase_) {
    case Phase::kReading: return read_in_cycle(how, more);
    case Phase::kParked:
      if (how == Read::kBytes) return Step::kReadAhead;
      return how == Read::kEnd && writing_ ? Step::kNone : Step::kClose;
    case Phase::kShakingHands:
    case Phase::kExecuting:
    case Phase::kDeciding:
    case Phase::kHeldUp:
    case Phase::kEnding:  // an end shows again
      if (how == Read::kBytes) input_ = Input::kUnseen;
      return Step::kNone;
    case Phase::kAborted:
    case Phase::kLeaving:
    case Phase::kClosed: break;
  }
  return Step::kNone;
}

Step ConnectionState::read_in_cycle(Read how, bool more) {
  if (how == Read::kBytes) return Step::kExecute;
  if (how == Read::kCancelled && draining_ && more) return Step::kRead;
  if (how != Read::kEnd || !writing_) return Step::kClose;
  phase_ = Phase::kEnding;
  return Step::kNone;
}

bool ConnectionState::write_ended() {
  writing_ = false;
  return is_open();
}

Step ConnectionState::after_write(bool room) {
  if (phase_ == Phase::kHeldUp && room) return Step::kGoOn;
  if (writing_) return Step::kNone;
  if (phase_ == Phase::kEnding) return Step::kClose;
  if (phase_ == Phase::kParked) return Step::kReadAhead;
  return phase_ == Phase::kReading && draining_ ? Step::kCancelRead : Step::kNone;
}

void ConnectionState::begin_execution() {
  woken_ = false;
  rest_ = Rest::kNothing;
  if (input_ == Input::kUnseen) input_ = Input::kIdle;
}

Step ConnectionState::fiber_done(bool holds) {
  if (phase_ == Phase::kLeaving) return closed(false);
  if (phase_ == Phase::kAborted) return closed(holds);
  phase_ = Phase::kDeciding;
  return rest_ == Rest::kCutOff ? Step::kClose : Step::kSend;
}

Step ConnectionState::next(const Outlook& outlook) {
  if (outlook.closing) {
    if (!writing_) return Step::kClose;
    phase_ = Phase::kEnding;
    return Step::kNone;
  }
  if (outlook.waits) {
    phase_ = Phase::kParked;
    if (input_ == Input::kUnseen) input_ = Input::kIdle;  // the event that wakes it checks
                                                          // everything
    return woken_ || draining_ ? Step::kExecute : Step::kPark;
  }
  if (!outlook.room) {
    phase_ = Phase::kHeldUp;
    return Step::kNone;
  }
  if (rest_ == Rest::kMore) return Step::kExecuteMore;
  if (input_ == Input::kUnseen) return Step::kExecute;
  phase_ = Phase::kReading;
  if (draining_ && !writing_) return Step::kReadRest;
  return reading() ? Step::kNone : Step::kRead;
}

Step ConnectionState::wake() {
  woken_ = true;
  return phase_ == Phase::kParked ? Step::kExecute : Step::kNone;
}

Step ConnectionState::drain() {
  draining_ = true;
  if (phase_ == Phase::kParked) return wake();
  // Bytes that have arrived are read once more: the cancelled read completes them. A write in
  // flight would be cancelled, too: it ends first.
  if (writing_) return Step::kNone;
  const bool waits = phase_ == Phase::kReading || phase_ == Phase::kShakingHands;
  return waits ? Step::kCancelRead : Step::kNone;
}

Step ConnectionState::close(bool holds) {
  if (!is_open()) return Step::kNone;
  if (phase_ != Phase::kExecuting) return closed(holds);
  phase_ = Phase::kAborted;  // until fiber_done()
  return Step::kNone;
}

Step ConnectionState::closed(bool holds) {
  phase_ = holds ? Phase::kLeaving : Phase::kClosed;
  return holds ? Step::kLeave : Step::kNone;
}

}  // namespace keyway::server
