#include "keyway/client/wire/connection.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "keyway/client/wire/channel.h"
#include "keyway/client/wire/handshake.h"
#include "keyway/client/wire/uri.h"
#include "keyway/kvstore/resp/request_writer.h"

namespace keyway::wire {
namespace {

constexpr std::size_t kMinRead = 16 << 10;
constexpr std::size_t kMaxRead = 1 << 20;
constexpr std::size_t kKept = 1 << 20;  // capacity that a buffer keeps between batches

std::uint64_t in_ns(std::chrono::milliseconds span) {
  return Deadline::within(span).started(steady_ns()).absolute_ns();
}

}  // namespace

Connection::Connection(const Options& options)
    : options_(options), server_(text_of(options)), channel_(std::make_unique<Channel>()) {}
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;
Connection::~Connection() = default;

Result<Connection> Connection::open(const Options& options) {
  const std::uint64_t by_ns = in_ns(options.connect_timeout);
  Connection made(options);
  if (Status status = made.channel_->open(options, by_ns); !status.ok()) return status;
  Handshake handshake(options);
  handshake.for_each_request([&](auto words) { made.add(words); });
  Status sent = made.write(by_ns);
  if (!sent.ok()) return sent;
  while (made.in_doubt() != 0) {
    const auto reply = made.receive_by(by_ns);
    Status status = reply.ok() ? handshake.judge(reply->front()) : handshake.judge(reply.status());
    if (!status.ok()) return status;
  }
  return made;
}

Result<ReplyView> Connection::ask(std::span<const std::string_view> words) {
  KW_CHECK(sent_ == 0 && ends_.empty());
  add(words);
  const std::uint64_t by_ns = in_ns(options_.request_timeout);
  if (Status status = write(by_ns); !status.ok()) return status;
  return receive_by(by_ns);
}

void Connection::add(std::span<const std::string_view> words) {
  resp::append_request(out_, words);
  ends_.push_back(out_.size());
}

Status Connection::send() { return write(in_ns(options_.request_timeout)); }

Status Connection::write(std::uint64_t by_ns) {
  if (broken_) return {Code::kUnavailable, fmt::format("the connection to {} is closed", server_)};
  channel_->set_deadline(by_ns);
  std::size_t written = 0;
  std::error_code error;
  while (written < out_.size() && !error) {
    written += channel_->write_some(std::string_view(out_).substr(written), error);
    for (; !ends_.empty() && ends_.front() <= written; ends_.pop_front()) ++sent_;
  }
  if (error) return fail(status_of(error, server_));
  out_.clear();
  if (out_.capacity() > kKept) out_ = std::string();
  return {};
}

Result<ReplyView> Connection::receive(std::chrono::milliseconds within) {
  return receive_by(in_ns(within));
}

bool Connection::has_news() const {
  return !broken_ && (begin_ + parser_.consumed() != end_ || channel_->has_news());
}

int Connection::descriptor() const { return broken_ ? -1 : channel_->descriptor(); }

Result<ReplyView> Connection::receive_by(std::uint64_t by_ns) {
  if (broken_) {
    return Status(Code::kUnavailable, fmt::format("the connection to {} is closed", server_));
  }
  KW_CHECK_MSG(sent_ != 0, "a reply is awaited without a request", server_);
  channel_->set_deadline(by_ns);
  while (!parsed_reply()) {
    if (!parser_.error().empty()) {
      return fail({Code::kCorruption,
                   fmt::format("{} sent a malformed reply: {}", server_, parser_.error())});
    }
    // As in the server's connection: never more room than has already come.
    const std::size_t held = end_ - begin_;
    const std::size_t room =
        std::clamp<std::size_t>(parser_.missing(), kMinRead, std::max(kMaxRead, held));
    if (begin_ != 0 && in_.size() - end_ < room) {
      in_.erase(0, begin_);
      end_ = held;
      begin_ = 0;
    }
    if (in_.size() - end_ < room) in_.resize(end_ + room);
    std::error_code error;
    end_ += channel_->read_some(in_.data() + end_, room, error);
    if (error) return fail(status_of(error, server_));
  }
  --sent_;
  return parser_.nodes();
}

/// Whether the received bytes hold a complete reply; pushed messages are skipped.
bool Connection::parsed_reply() {
  do {
    begin_ += parser_.consumed();
    if (begin_ == end_) {
      begin_ = end_ = 0;
      if (in_.capacity() > kKept) in_ = std::string();
    }
    const auto come = std::string_view(in_).substr(begin_, end_ - begin_);
    if (parser_.parse(come) != resp::ReplyParser::Step::kReply) return false;
  } while (parser_.nodes().front().kind == resp::Kind::kPush);
  return true;
}

Status Connection::fail(Status status) {
  broken_ = true;
  channel_ = std::make_unique<Channel>();  // closes the socket
  return status;
}

}  // namespace keyway::wire
