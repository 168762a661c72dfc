// PipelineRun: requests of one pipeline that are executed at the same time.
//
// *What.* A request for a key of another node waits for the network. So requests of a pipeline that
// follow each other, and are independent (Batch::independent_from()), are executed by several
// fibers of the worker: each takes the next request when it is done with one. Their replies are
// made apart, and leave in the order of the requests.
// *Thread safety.* One worker's fibers. The fiber that made it ends it, when all requests are
// executed; then no other fiber is in it.
// *Invariants.*
//   PR1  What is made apart counts for the budget of the connection's replies (C8).
// *Source.* Ours; docs/decisions/018.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "keyway/kvstore/resp/reply_writer.h"
#include "keyway/server/commands/engine/batch.h"
#include "keyway/server/commands/engine/execute.h"

namespace keyway::server {

class PipelineRun {
 public:
  /// Requests [first, first + n) of the batch. The replies will be appended to `out`, which
  /// `budget` bounds. All outlive the run.
  PipelineRun(Client& client, Service& service, const Batch& batch, std::size_t first,
              std::size_t n, std::string& out, resp::ReplyBudget& budget)
      : client_(client),
        service_(service),
        batch_(batch),
        first_(first),
        n_(n),
        out_(out),
        budget_(budget) {}
  PipelineRun(const PipelineRun&) = delete;
  PipelineRun& operator=(const PipelineRun&) = delete;

  /// Executes requests that no other fiber has taken, until there is none.
  void work(Executor& executor);
  /// Requests that no fiber has taken.
  std::size_t left() const { return n_ - taken_; }
  bool is_over() const { return done_ == n_; }
  /// When it is over: appends the replies. False if one did not fit, or memory was lacking: then
  /// the connection is to be closed.
  bool append_replies();

 private:
  struct Part final : resp::ReplyBudget {
    std::size_t allow(std::size_t needed) override;
    std::size_t most() const override { return run->budget_.most(); }

    PipelineRun* run = nullptr;
    std::string bytes;
    std::size_t allowed = 0;
    bool failed = false;
  };

  Client& client_;
  Service& service_;
  const Batch& batch_;
  std::size_t first_;
  std::size_t n_;
  std::string& out_;
  resp::ReplyBudget& budget_;
  std::size_t apart_ = 0;  // bytes that the parts are allowed
  std::size_t taken_ = 0;
  std::size_t done_ = 0;
  std::array<Part, Batch::kMaxRequests> parts_;
};

}  // namespace keyway::server
