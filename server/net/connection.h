// Connection: one client's socket, from received bytes to sent replies.
//
// *What.* A cycle of three steps: read the bytes that have arrived; execute all complete requests,
// on a fiber of the worker, one batch after the other; send the replies of a batch at once. Bytes
// that the kernel does not take wait in a queue, and the cycle continues meanwhile: a client may
// send all its requests before it reads, as far as limits allow (C8). Over TLS a handshake comes
// first. If a request waits for something, as KW.LOCK does, or CLIENT PAUSE delays it, the cycle
// stops there: the connection is parked, without a fiber, until it is woken (connection_parked.cc).
// connection_state.h has the table of states and events.
// *Thread safety.* Belongs to its worker's thread.
// *Invariants.*
//   C1  Reads, executions and writes are each one at a time. While a fiber executes, requests are
//       only added behind those that have come (no read begins, one may end), out_ is written by
//       the fiber alone, and a write sends from the queue.
//   C2  Requests are executed in the order in which they came, except that independent ones may
//       overlap (PipelineRun), and replies leave in it.
//   C3  What has come before a connection drains is executed, and answered, before it closes.
//   C4  A wait for the client ends: the worker checks how long each has taken (net_options.h). A
//       stranger, which has not given the password, has login_s from its beginning on; requests do
//       not extend it.
//   C5  Where memory ends, this client is refused or cut off (E4), and no other.
//   C6  A parked connection is read from, so that its end is noticed, but no further than
//       kMaxAhead; what comes is executed after the request that waits has its reply.
//   C7  When a connection ends, the locks that its client held or waited for are released.
//   C8  Replies that wait are bounded: above the limit of one client (output_bytes) the client is
//       disconnected; above kOutputHighWater, if the memory for all clients is used up
//       (OutputMemory), the server does not read from it until it has taken some. The same bounds
//       hold while a long reply is made: if it does not fit, it is dropped, and its client
//       disconnected.
//   C9  A stranger makes the server keep little: kStrangersRequest of requests, and replies of
//       kStrangersPart; nothing more is executed until it has taken these.
//   C10 A pipeline, however long, is executed a slice (time_slice.h) or kOutputHighWater of replies
//       at a time, and a connection that has been closed executes no further request of it.
// *Source.* Design section 7.
#pragma once

#include <asio/generic/stream_protocol.hpp>
#include <asio/steady_timer.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <system_error>

#include "keyway/kvstore/resp/reply_writer.h"
#include "keyway/kvstore/resp/request_parser.h"
#include "keyway/server/commands/engine/batch.h"
#include "keyway/server/commands/engine/execute.h"
#include "keyway/server/net/connection_state.h"
#include "keyway/server/net/net_options.h"
#include "keyway/server/net/reply_queue.h"
#include "keyway/server/net/socket_read.h"

namespace keyway::server {

class Worker;
struct TlsLayer;

class Connection final : public std::enable_shared_from_this<Connection>,
                         private resp::ReplyBudget {
 public:
  using Socket = asio::generic::stream_protocol::socket;

  Connection(Worker& worker, Socket socket, std::uint64_t id, const Entrance& entrance);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  std::uint64_t id() const { return client_.id; }
  void start();
  /// Ends as soon as what has come is answered. C3.
  void drain();
  /// Ends now.
  void close();
  /// Ends if it has waited for its client for too long, by the worker's clock. C4.
  void look_at_time();
  /// Whether the client has ended with its last bytes: soon after these.
  void look_again(std::uint64_t now_ns);
  /// The event that the client's request waits for may have happened.
  void wake();
  /// On a fiber with its own executor and batch: executes complete requests. The worker calls it.
  [[gnu::hot]] void run_on_fiber(Executor& executor, Batch& batch);
  /// After run_on_fiber(), on the worker's own stack.
  void on_fiber_done();

 private:
  friend class SocketRead;  // read_some()
  using Step = ConnectionState::Step;

  void take(Step step);
  void register_client();
  void go_on();
  void schedule();

  // connection_input.cc
  void read();
  std::size_t make_room();
  void read_some(std::error_code error, std::size_t bytes);
  void read_the_rest();
  void cancel_read();
  bool more_has_come() const;
  void look_again_soon();

  // connection_execute.cc
  [[gnu::hot]] resp::RequestLimits request_limits() const;
  [[gnu::hot]] resp::RequestParser::Step parse(Batch& batch);
  [[gnu::hot]] bool is_stranger() const;
  [[gnu::hot]] bool run_batch(Executor& executor, const Batch& batch);
  [[gnu::hot]] std::size_t overlapping_from(const Batch& batch, std::size_t i);
  std::size_t run_together(Executor& executor, const Batch& batch, std::size_t first,
                           std::size_t n);
  [[gnu::hot]] void run_requests(Executor& executor, Batch& batch);
  void schedule_more();

  // connection_output.cc
  bool send();
  void queue_made(std::size_t sent);
  void write_front();
  void taken(std::error_code error, std::size_t bytes);
  bool may_make_more() const;
  void report_output();
  resp::ReplyWriter writer();
  std::size_t allow(std::size_t needed) override;
  std::size_t most() const override;

  // connection_parked.cc
  void read_ahead();
  void park();

  /// Replies are sent before more of a pipeline is executed. A client may always have this many
  /// waiting.
  static constexpr std::size_t kOutputHighWater = 256 << 10;
  /// One execution may always make this much, without regard to others: a part of many replies, and
  /// a last reply as long as that. Only longer replies meet the limit of OutputMemory.
  static constexpr std::size_t kFreeToMake = 2 * kOutputHighWater;
  /// A long reply claims memory in such steps.
  static constexpr std::size_t kClaimed = 1 << 20;
  /// C9. A part holds the replies to a login; the longest reply repeats a word of 16 KiB (HELLO). A
  /// request has at most 10 such words (resp::RequestParser).
  static constexpr std::size_t kStrangersPart = 4 << 10;
  static constexpr std::size_t kStrangersReplies = 32 << 10;
  static constexpr std::size_t kStrangersRequest = 192 << 10;
  static constexpr std::size_t kMinWanted = 4 << 10;
  static constexpr std::size_t kMaxWanted = 32 << 10;
  /// A buffer larger than this is freed when it is empty.
  static constexpr std::size_t kKept = 64 << 10;
  /// Requests that are executed one after the other, behind a value that was too long for a run.
  static constexpr std::uint32_t kInTurn = 64;
  /// Bytes to read ahead from a parked client.
  static constexpr std::size_t kMaxAhead = 1 << 20;

  Worker& worker_;
  Socket socket_;
  std::unique_ptr<TlsLayer> tls_;  // null: plain
  Client client_;
  resp::RequestParser parser_;
  std::string in_;  // received, not executed yet, from begin_ to end_
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t wanted_ = kMinWanted;  // bytes of room for a read, if no word needs more
  std::size_t parsed_ = 0;           // while a batch executes: the end of its last request
  std::string out_;                  // replies that are made, behind those of queue_
  std::size_t made_before_ = 0;      // size of out_ when the execution began
  std::uint64_t slice_ends_ns_ = 0;  // end of the execution's slice: then others have their turn
  ReplyQueue queue_;                 // replies that wait for the client
  std::uint32_t in_turn_ = 0;        // requests that are executed without a run
  std::size_t reported_ = 0;         // bytes reported to OutputMemory
  std::size_t allowed_ = 0;          // during execution: the maximum size of out_ within the
                                     // reported bytes
  std::uint32_t born_s_ = 0;
  std::uint32_t stranger_s_ = 0;  // when it last began to execute with its password given
  std::uint32_t since_s_ = 0;     // when it last began to read, by the worker's clock
  std::uint32_t taken_s_ = 0;     // when the client last took some of queue_, or had none to take
  ConnectionState state_;
  SocketRead read_;
  /// For a plain socket: the end of its client may have arrived together with its last bytes.
  enum class End : std::uint8_t {
    kNotThere,
    kLookSoon,        // the worker will
    kLookWhenReading  // the worker did when no read was in progress
  };
  End end_seen_ = End::kNotThere;
  std::unique_ptr<asio::steady_timer> alarm_;  // made when it is first parked
};

}  // namespace keyway::server
