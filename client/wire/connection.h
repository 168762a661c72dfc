// Connection: requests to a Redis server, or Keyway's, and their replies; one socket, blocking.
//
// *What.* Requests are added to a batch, the batch is sent, and the replies are received in the
// order of the requests. Every wait has a deadline (Options). A failure is one sentence that names
// the server; an error that the server answers with is a reply, not a failure.
// *Thread safety.* One thread's.
// *Invariants.*
//   W1  After a failure nothing is sent or received any more: replies can never be taken for those
//       of other requests.
//   W2  `unsent()` requests have not reached the server: no byte of their end was given to the
//       system. `in_doubt()` ones were sent whole, and not answered: they may have taken effect.
//   W3  What is allocated grows with the bytes that have come, never with what was announced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "keyway/client/wire/options.h"
#include "keyway/kvstore/resp/reply_parser.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/status.h"

namespace keyway::wire {

class Channel;

/// A reply: its nodes, the root first (resp::Reply). Valid until the next call of the connection.
using ReplyView = std::span<const resp::Reply>;

class Connection {
 public:
  /// Connects to the first address that answers, agrees on TLS, says the password, chooses version
  /// and database.
  ///   kUnavailable      refused, closed, busy with something that passes
  ///   kTimeout          no answer within connect_timeout
  ///   kInvalidArgument  a wrong password, a certificate that was refused, not a Redis server:
  ///                     retrying does not help
  static Result<Connection> open(const Options& options);
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;
  ~Connection();

  /// One request and its reply: add, send, receive. No other request may be open.
  Result<ReplyView> ask(std::span<const std::string_view> words);
  Result<ReplyView> ask(std::initializer_list<std::string_view> words) {
    return ask(std::span(words.begin(), words.size()));
  }

  /// Adds a request to the batch; nothing is sent yet.
  void add(std::span<const std::string_view> words);
  void add(std::initializer_list<std::string_view> words) {
    add(std::span(words.begin(), words.size()));
  }
  /// Sends the batch. kTimeout, kUnavailable.
  Status send();
  /// The next reply. kTimeout, kUnavailable; kCorruption if the bytes are not a reply.
  Result<ReplyView> receive() { return receive(options_.request_timeout); }
  /// The same, of a request that may take this long.
  Result<ReplyView> receive(std::chrono::milliseconds within);
  /// Whether the server has sent something that is not received yet, or closed the connection.
  bool has_news() const;
  /// The socket's file, for callers that wait for several events; -1 after a failure.
  int descriptor() const;

  bool broken() const { return broken_; }
  /// Bytes of the batch, not sent yet.
  std::size_t batched_bytes() const { return out_.size(); }
  std::size_t unsent() const { return ends_.size(); }
  std::size_t in_doubt() const { return sent_; }
  const Options& options() const { return options_; }
  /// For people: host and port, or a path.
  const std::string& server() const { return server_; }

 private:
  explicit Connection(const Options& options);

  Status write(std::uint64_t by_ns);
  Result<ReplyView> receive_by(std::uint64_t by_ns);
  bool parsed_reply();
  Status fail(Status status);

  Options options_;
  std::string server_;
  std::unique_ptr<Channel> channel_;
  std::string out_;               // the batch
  std::deque<std::size_t> ends_;  // ends of its requests in out_
  std::size_t sent_ = 0;          // requests sent and not answered
  std::string in_;
  std::size_t begin_ = 0;  // consumed bytes of in_
  std::size_t end_ = 0;    // received bytes of in_
  resp::ReplyParser parser_;
  bool broken_ = false;
};

}  // namespace keyway::wire
