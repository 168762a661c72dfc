// Connection: requests, from received bytes to replies.
#include <algorithm>
#include <asio/post.hpp>
#include <new>

#include "keyway/locks/base/clear_and_shrink.h"
#include "keyway/locks/fabric/time_slice.h"
#include "keyway/server/net/connection.h"
#include "keyway/server/net/pipeline_run.h"
#include "keyway/server/net/worker.h"

namespace keyway::server {

bool Connection::is_stranger() const { return !may_execute(client_, worker_.service()); }

resp::RequestLimits Connection::request_limits() const {
  return {.word_bytes = worker_.service().settings.word_bytes, .trusted = !is_stranger()};
}

void Connection::run_on_fiber(Executor& executor, Batch& batch) {
  if (state_.phase() == ConnectionState::Phase::kLeaving) return leave(client_, worker_.service());
  state_.begin_execution();
  made_before_ = out_.size();
  allowed_ = 0;
  slice_ends_ns_ = client_.statistics->now_ns() + fabric::kSliceNs;
  if (client_.paused_until_ns != 0) end_pause(client_, worker_.service());
  try {
    if (client_.locks.wait) {
      resp::ReplyWriter replies = writer();
      if (server::resume(client_, worker_.service(), replies) == Outcome::kParked) return;
    }
    run_requests(executor, batch);
  } catch (const std::bad_alloc&) {  // not even the refusal of a request has room (C5)
    client_.closing = true;
  }
}

void Connection::run_requests(Executor& executor, Batch& batch) {
  while (socket_.is_open() && !client_.closing && !state_.stopped_early() && !client_.locks.wait &&
         client_.paused_until_ns == 0) {
    const auto step = parse(batch);
    batch.prefetch(executor.session);
    const bool all = run_batch(executor, batch);
    if (!all || step == resp::RequestParser::Step::kRequest) continue;
    if (step == resp::RequestParser::Step::kError) {
      writer().error("ERR " + parser_.error());
      client_.closing = true;
    }
    return;
  }
}

/// Fills the batch with requests that are complete. kRequest: there may be more.
resp::RequestParser::Step Connection::parse(Batch& batch) {
  batch.clear();
  std::size_t at = begin_;
  while (true) {
    const auto step = parser_.parse(std::string_view(in_).substr(at, end_ - at), request_limits());
    at += parser_.consumed();
    parsed_ = at;
    if (step != resp::RequestParser::Step::kRequest) return step;
    const bool room = batch.add(parser_.words(), at);
    if (!room || !parser_.in_place() || !client_.authenticated) return step;
  }
}

/// False if it has stopped before the end: then the remaining requests are parsed again, later.
bool Connection::run_batch(Executor& executor, const Batch& batch) {
  resp::ReplyWriter replies = writer();
  const std::size_t part = is_stranger() ? kStrangersPart : kOutputHighWater;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Batch::Request request = batch[i];
    Outcome outcome = Outcome::kReplied;
    const std::size_t n = overlapping_from(batch, i);
    const std::size_t executed = n > 1 ? run_together(executor, batch, i, n) : 0;
    if (executed > 0) {
      i += executed - 1;
    } else if (!socket_.is_open() || client_.closing) {  // the client has gone, in a wait
      outcome = Outcome::kPaused;
    } else {
      outcome = server::execute(client_, executor, worker_.service(), request.command,
                                request.words, replies);
    }
    if (outcome == Outcome::kPaused) {  // not begun: it is parsed again, if its client is there
      if (i != 0) begin_ = batch[i - 1].end;
      parser_.rewind();
      return false;
    }
    const bool parked = outcome == Outcome::kParked;
    // By the clock as of the end of the last request (worker_statistics.h), without another
    // reading.
    const bool enough = !parked && (out_.size() - made_before_ >= part ||
                                    client_.statistics->now_ns() >= slice_ends_ns_);
    if (enough) state_.stop_early();
    if (replies.is_dropped()) {
      clear_and_shrink(out_, 0);  // as Redis does: no word about it
      client_.closing = true;
      state_.cut_off();
    }
    if (!enough && !parked && !client_.closing) continue;
    begin_ = batch[i].end;
    parser_.rewind();
    return false;
  }
  begin_ = parsed_;
  return true;
}

/// How many requests from `i` on are executed at the same time.
std::size_t Connection::overlapping_from(const Batch& batch, std::size_t i) {
  if (!batch.is_far()) return 1;
  const Service& service = worker_.service();
  if (service.settings.strict_pipelines || !may_execute_beside(client_, service)) return 1;
  if (in_turn_ > 0) {
    --in_turn_;
    return 1;
  }
  return batch.independent_from(i);
}

/// How many requests it has executed. If none, the first one is to be executed alone.
std::size_t Connection::run_together(Executor& executor, const Batch& batch, std::size_t first,
                                     std::size_t n) {
  // Not the slice: a run is short, but for its waits, and reads behind a write that is not made any
  // more would be for nothing.
  const auto more = [this] {
    return socket_.is_open() && !client_.closing && may_execute_beside(client_, worker_.service());
  };
  const std::size_t made = out_.size() - made_before_;
  const std::size_t room = std::min(kOutputHighWater - std::min(made, kOutputHighWater),
                                    most() - std::min(out_.size(), most()));
  PipelineRun run(client_, worker_.service(), batch, first, n, room, more);
  run.read_ahead(executor);
  worker_.work_together(run, executor);
  if (run.begin_writes()) worker_.work_together(run, executor);
  if (run.has_long_reply()) in_turn_ = kInTurn;
  return run.append_replies(out_);
}

/// Others first: this client may have sent a million requests.
void Connection::schedule_more() {
  state_.schedule();
  asio::post(worker_.events(), [self = shared_from_this()] {
    self->client_.statistics->look_at_clock();  // the client had to take sent replies first
    self->worker_.schedule(self);
  });
}

}  // namespace keyway::server
