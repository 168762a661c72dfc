// PipelineRun: requests of one pipeline that are executed at the same time.
//
// *What.* A request for a key of another node waits for the network. So requests of a pipeline that
// follow each other, and are independent (Batch::independent_from()), are executed by several
// fibers of the worker: first all that read, then all that write. Each fiber takes the next request
// when it is done with one. Before that, the keys that are read on other nodes are fetched in one
// round trip, if their places are known: these reads need not wait. Replies are made apart, and
// leave in the order of the requests.
// *Thread safety.* One worker's fibers. The fiber that made it ends it, when all requests that were
// taken are executed; then no other fiber is in it.
// *Invariants.*
//   PR1  Replies that are made apart take at most the room that the run was given, beside
//        kShortReply of each.
//   PR2  A run may be cut: at a read whose reply does not fit, or at a request that was not taken
//        because more() was false or the room was used up. No write behind the cut has been
//        executed, and reads behind it count as not executed. The pipeline continues at the cut.
// *Source.* Ours; docs/decisions/035.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "keyway/kvstore/resp/reply_writer.h"
#include "keyway/locks/base/function_ref.h"
#include "keyway/server/commands/engine/batch.h"
#include "keyway/server/commands/engine/execute.h"

namespace keyway::server {

class PipelineRun {
 public:
  /// Requests [first, first + n) of the batch. All outlive the run.
  PipelineRun(Client& client, Service& service, const Batch& batch, std::size_t first,
              std::size_t n, std::size_t room, FunctionRef<bool()> more);
  PipelineRun(const PipelineRun&) = delete;
  PipelineRun& operator=(const PipelineRun&) = delete;

  /// First: reads ahead by the session of the executor, and executes the reads of which it then has
  /// the keys.
  void read_ahead(Executor& executor);
  /// Executes requests that no other fiber has taken, until there is none.
  void work(Executor& executor);
  /// Whether a fiber that came now would find a request.
  bool has_work() const { return next_ < end_; }
  /// Whether all requests that were taken are executed, and none is left to take.
  bool is_at_rest() const { return !has_work() && busy_ == 0; }
  /// When it is at rest after the reads: there are writes to make.
  bool begin_writes();
  /// At the end: how many requests, from the first one on, have been executed. Their replies are
  /// appended to `out`.
  std::size_t append_replies(std::string& out);
  /// Whether it was cut at a reply that did not fit.
  bool has_long_reply() const { return has_long_reply_; }

 private:
  /// Of a status, a number or an error: any reply of a request that writes.
  static constexpr std::size_t kShortReply = 8 << 10;

  struct Part final : resp::ReplyBudget {
    std::size_t allow(std::size_t needed) override;
    std::size_t most() const override { return run->room_ + kShortReply; }

    PipelineRun* run = nullptr;
    std::string bytes;
    std::size_t allowed = 0;
  };

  Batch::Request request(std::size_t i) const { return batch_[first_ + i]; }
  bool may_take();
  void execute(Executor& executor, std::size_t i);

  Client& client_;
  Service& service_;
  const Batch& batch_;
  std::size_t first_;
  std::size_t room_;
  FunctionRef<bool()> more_;
  // Reads, first those that were read ahead, then writes; each of the three as they came.
  std::array<std::size_t, Batch::kMaxRequests> order_;
  std::size_t reads_ = 0;
  std::size_t all_ = 0;
  std::size_t next_ = 0;  // in order_, and so is end_
  std::size_t end_ = 0;
  std::size_t busy_ = 0;  // fibers that execute a request
  std::size_t cut_;
  std::size_t apart_ = 0;  // bytes of room that replies have used
  bool has_long_reply_ = false;
  std::array<Part, Batch::kMaxRequests> parts_;
};

}  // namespace keyway::server
