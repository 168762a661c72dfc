// The table of server/net/connection_state.h, row by row, and what no event changes.
#include "keyway/server/net/connection_state.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <map>
#include <random>

namespace keyway::server {
namespace {

using Phase = ConnectionState::Phase;
using Step = ConnectionState::Step;
using Read = ConnectionState::Read;

constexpr std::array kPhases = {
    Phase::kShakingHands, Phase::kReading, Phase::kExecuting, Phase::kDeciding, Phase::kParked,
    Phase::kHeldUp,       Phase::kEnding,  Phase::kAborted,   Phase::kLeaving,  Phase::kClosed};

/// A state in the phase, by events that lead there. kEnding comes with a write in flight.
ConnectionState in(Phase phase) {
  ConnectionState state;
  switch (phase) {
    case Phase::kShakingHands: state.shake_hands(); break;
    case Phase::kReading: state.next({}); break;
    case Phase::kExecuting: state.schedule(); break;
    case Phase::kDeciding: break;
    case Phase::kParked: state.next({.waits = true}); break;
    case Phase::kHeldUp: state.next({.room = false}); break;
    case Phase::kEnding:
      state.begin_write();
      state.next({.closing = true});
      break;
    case Phase::kAborted:
      state.schedule();
      state.close(false);
      break;
    case Phase::kLeaving: state.close(true); break;
    case Phase::kClosed: state.close(false); break;
  }
  REQUIRE(state.phase() == phase);
  return state;
}

ConnectionState reading(Phase phase) {
  ConnectionState state = in(phase);
  state.begin_read();
  return state;
}

/// The result of an event, and the next state.
struct Way {
  Step step;
  Phase to;
};

template <class Event>
void check(const std::map<Phase, Way>& ways, Event&& event) {
  for (const Phase phase : kPhases) {
    CAPTURE(static_cast<int>(phase));
    ConnectionState state = in(phase);
    const auto way = ways.find(phase);
    const Step step = event(state);
    CHECK(step == (way == ways.end() ? Step::kNone : way->second.step));
    CHECK(state.phase() == (way == ways.end() ? phase : way->second.to));
  }
}

TEST_CASE("connection state: bytes come") {
  check({{Phase::kReading, {Step::kExecute, Phase::kReading}},
         {Phase::kParked, {Step::kReadAhead, Phase::kParked}}},
        [](ConnectionState& state) {
          state.begin_read();
          CHECK(state.reading());
          const Step step = state.read_ended(Read::kBytes, false);
          CHECK_FALSE(state.reading());
          return step;
        });
}

TEST_CASE("connection state: a read fails or ends") {
  for (const Read how : {Read::kEnd, Read::kFailed, Read::kCancelled}) {
    check({{Phase::kReading, {Step::kClose, Phase::kReading}},
           {Phase::kParked, {Step::kClose, Phase::kParked}}},
          [&](ConnectionState& state) {
            state.begin_read();
            // The end of kEnding's client shows again, as its write fails or is taken.
            return state.read_ended(how, true);
          });
  }
}

TEST_CASE("connection state: a client that ended its half may take its replies") {
  ConnectionState state = reading(Phase::kReading);
  state.begin_write();
  CHECK(state.read_ended(Read::kEnd, false) == Step::kNone);
  CHECK(state.phase() == Phase::kEnding);
  REQUIRE(state.write_ended());
  CHECK(state.after_write(true) == Step::kClose);

  state = reading(Phase::kParked);
  state.begin_write();
  CHECK(state.read_ended(Read::kEnd, false) == Step::kNone);
  CHECK(state.phase() == Phase::kParked);
  REQUIRE(state.write_ended());
  CHECK(state.after_write(true) == Step::kReadAhead);
}

TEST_CASE("connection state: what a draining connection reads by a cancelled read (C3)") {
  for (const bool more : {false, true}) {
    ConnectionState state = reading(Phase::kReading);
    CHECK(state.drain() == Step::kCancelRead);
    CHECK(state.read_ended(Read::kCancelled, more) == (more ? Step::kRead : Step::kClose));
  }
}

TEST_CASE("connection state: a fiber is done") {
  ConnectionState state = in(Phase::kExecuting);
  CHECK(state.fiber_done(false) == Step::kSend);
  CHECK(state.phase() == Phase::kDeciding);

  state = in(Phase::kExecuting);
  state.begin_execution();
  state.stop_early();
  state.cut_off();
  CHECK(state.fiber_done(false) == Step::kClose);

  state = in(Phase::kAborted);
  CHECK(state.fiber_done(false) == Step::kNone);
  CHECK(state.phase() == Phase::kClosed);

  state = in(Phase::kAborted);
  CHECK(state.fiber_done(true) == Step::kLeave);
  CHECK(state.phase() == Phase::kLeaving);
  CHECK(state.fiber_done(true) == Step::kNone);  // once
  CHECK(state.phase() == Phase::kClosed);
}

TEST_CASE("connection state: a write ends") {
  for (const bool room : {false, true}) {
    const Way held = {room ? Step::kGoOn : Step::kNone, Phase::kHeldUp};
    check({{Phase::kHeldUp, held},
           {Phase::kEnding, {Step::kClose, Phase::kEnding}},
           {Phase::kParked, {Step::kReadAhead, Phase::kParked}}},
          [&](ConnectionState& state) {
            const bool open = state.is_open();
            CHECK(state.write_ended() == open);
            return open ? state.after_write(room) : Step::kNone;
          });
  }
  ConnectionState state = in(Phase::kEnding);  // more of the queue goes first
  REQUIRE(state.write_ended());
  state.begin_write();
  CHECK(state.after_write(true) == Step::kNone);
  state = in(Phase::kReading);
  state.begin_write();
  CHECK(state.drain() == Step::kNone);  // it would cancel the write
  REQUIRE(state.write_ended());
  CHECK(state.after_write(true) == Step::kCancelRead);
}

TEST_CASE("connection state: it is woken") {
  check({{Phase::kParked, {Step::kExecute, Phase::kParked}}},
        [](ConnectionState& state) { return state.wake(); });
}

TEST_CASE("connection state: it drains") {
  check({{Phase::kShakingHands, {Step::kCancelRead, Phase::kShakingHands}},
         {Phase::kReading, {Step::kCancelRead, Phase::kReading}},
         {Phase::kParked, {Step::kExecute, Phase::kParked}}},
        [](ConnectionState& state) { return state.drain(); });
}

TEST_CASE("connection state: it is closed") {
  for (const bool holds : {false, true}) {
    const Way way = {holds ? Step::kLeave : Step::kNone, holds ? Phase::kLeaving : Phase::kClosed};
    check({{Phase::kShakingHands, way},
           {Phase::kReading, way},
           {Phase::kExecuting, {Step::kNone, Phase::kAborted}},
           {Phase::kDeciding, way},
           {Phase::kParked, way},
           {Phase::kHeldUp, way},
           {Phase::kEnding, way}},
          [&](ConnectionState& state) { return state.close(holds); });
  }
}

TEST_CASE("connection state: a handshake that ends after a close changes nothing") {
  ConnectionState state = in(Phase::kShakingHands);
  CHECK(state.shook_hands() == Step::kGoOn);
  CHECK(state.phase() == Phase::kDeciding);
  state = in(Phase::kShakingHands);
  state.close(false);
  CHECK(state.shook_hands() == Step::kNone);
  CHECK(state.phase() == Phase::kClosed);
}

TEST_CASE("connection state: next() takes the first that fits") {
  ConnectionState::Outlook all{.closing = true, .waits = true, .room = false};
  ConnectionState state;
  state.begin_execution();
  state.stop_early();
  state.begin_read();
  state.schedule();
  CHECK(state.read_ended(Read::kBytes, false) == Step::kNone);  // noted
  REQUIRE(state.fiber_done(false) == Step::kSend);

  const auto next = [&](const ConnectionState::Outlook& outlook) {
    ConnectionState copy = state;
    const Step step = copy.next(outlook);
    return std::pair(step, copy.phase());
  };
  CHECK(next(all) == std::pair(Step::kClose, Phase::kDeciding));
  all.closing = false;
  CHECK(next(all) == std::pair(Step::kPark, Phase::kParked));
  all.waits = false;
  CHECK(next(all) == std::pair(Step::kNone, Phase::kHeldUp));
  CHECK(next({}) == std::pair(Step::kExecuteMore, Phase::kDeciding));
  state.begin_execution();  // checks all
  CHECK(next({}) == std::pair(Step::kRead, Phase::kReading));
  state.begin_read();
  state.schedule();
  state.read_ended(Read::kBytes, false);
  state.fiber_done(false);
  CHECK(next({}) == std::pair(Step::kExecute, Phase::kDeciding));
  state.begin_execution();
  state.drain();
  CHECK(next({}) == std::pair(Step::kReadRest, Phase::kReading));
  CHECK(next({.waits = true}) == std::pair(Step::kExecute, Phase::kParked));
  state.begin_write();
  state.begin_read();
  CHECK(next({}) == std::pair(Step::kNone, Phase::kReading));
  CHECK(next({.closing = true}) == std::pair(Step::kNone, Phase::kEnding));
}

TEST_CASE("connection state: a wake-up during an execution is not lost") {
  ConnectionState state = in(Phase::kExecuting);
  state.begin_execution();
  CHECK(state.wake() == Step::kNone);
  REQUIRE(state.fiber_done(false) == Step::kSend);
  CHECK(state.next({.waits = true}) == Step::kExecute);
}

TEST_CASE("connection state: N2 and N3, after any events") {
  std::mt19937 draw(1);
  for (int run = 0; run < 2'000; ++run) {
    ConnectionState state;
    bool open = true, fiber = false;
    for (int event = 0; event < 50; ++event) {
      const bool flag = draw() % 2 != 0;
      Step step = Step::kNone;
      switch (draw() % 8) {
        case 0: step = state.wake(); break;
        case 1: step = state.drain(); break;
        case 2:
          if (draw() % 8 == 0) step = state.close(flag);
          break;
        case 3: step = state.read_ended(static_cast<Read>(draw() % 4), flag); break;
        case 4:
          if (state.write_ended()) step = state.after_write(flag);
          break;
        case 5:
          if (fiber) step = state.fiber_done(flag);
          break;
        case 6:
          if (state.phase() == Phase::kDeciding || state.phase() == Phase::kHeldUp) {
            step = state.next({.closing = draw() % 9 == 0, .waits = draw() % 4 == 0, .room = flag});
          }
          break;
        default:
          if (open && !fiber) state.schedule();
      }
      const Phase phase = state.phase();
      fiber = phase == Phase::kExecuting || phase == Phase::kAborted || phase == Phase::kLeaving;
      REQUIRE(state.on_fiber() == fiber);
      if (!open) {
        REQUIRE_FALSE(state.is_open());
        REQUIRE((step == Step::kNone || (step == Step::kLeave && phase == Phase::kLeaving)));
      }
      open = state.is_open();
    }
  }
}

}  // namespace
}  // namespace keyway::server
