// --pipe: a bulk load.
//
// kvctl parses the requests here, lines or RESP, and sends them as RESP: so it can report the place
// of a malformed one, and match each reply to a request. It keeps enough requests in flight that
// the server does not wait, and no more.
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "keyway/kvstore/resp/request_parser.h"
#include "modes/modes.h"
#include "modes/tree.h"
#include "tools/kvctl/runner.h"

namespace keyway::kvctl {
namespace {

constexpr std::size_t kRead = 256 << 10;    // bytes of stdin at one time
constexpr std::size_t kBatch = 64 << 10;    // bytes of a batch
constexpr std::size_t kMaxUnderWay = 4096;  // requests that were sent and not answered
constexpr std::uint64_t kMaxErrorsShown = 20;

class Load {
 public:
  Load(Link& link, const Options& options) : link_(link) {
    constexpr std::chrono::hours kAnyTime(24 * 365);
    const std::chrono::seconds given(options.pipe_timeout_s);
    patience_ = given.count() == 0 ? std::chrono::milliseconds(kAnyTime) : given;
  }

  Status run() {
    Status status = send_all();
    if (Status sent = send_batch(); status.ok()) status = sent;
    // Requests that were sent before a malformed one are still answered.
    while (connection().in_doubt() != 0 && !connection().broken()) {
      if (Status received = receive(); !received.ok()) return status.ok() ? received : status;
    }
    return status;
  }

  std::uint64_t replies() const { return replies_; }
  std::uint64_t errors() const { return errors_; }

 private:
  wire::Connection& connection() { return link_.connection(); }

  Status send_all() {
    std::string bytes;
    for (;;) {
      const std::size_t before = bytes.size();
      bytes.resize(before + kRead);
      const ssize_t got = ::read(STDIN_FILENO, bytes.data() + before, kRead);
      if (got < 0 && errno == EINTR) {
        bytes.resize(before);
        continue;
      }
      if (got < 0) return {Code::kInvalidArgument, fmt::format("stdin: {}", std::strerror(errno))};
      bytes.resize(before + static_cast<std::size_t>(got));
      const bool end = got == 0;
      if (end) bytes += '\n';  // a last line may have no end
      if (Status status = take(bytes); !status.ok()) return status;
      if (end) return finish(bytes);
    }
  }

  /// Sends what is complete, and drops it.
  Status take(std::string& bytes) {
    std::size_t at = 0;
    for (;;) {
      const auto step = parser_.parse(std::string_view(bytes).substr(at), limits_);
      if (step == resp::RequestParser::Step::kError) return malformed(parser_.error());
      if (step == resp::RequestParser::Step::kMore) {
        bytes.erase(0, at + parser_.consumed());
        return {};
      }
      ++requests_;
      connection().add(parser_.words());
      at += parser_.consumed();
      if (connection().batched_bytes() < kBatch) continue;
      if (Status status = send_batch(); !status.ok()) return status;
    }
  }

  /// A request that the end of stdin has cut off.
  Status finish(const std::string& bytes) {
    const bool blank = bytes.find_first_not_of("\r\n") == std::string::npos;
    return blank ? Status() : malformed("it is cut off at the end of stdin");
  }

  Status malformed(std::string_view why) const {
    return {Code::kInvalidArgument,
            fmt::format("request {} of stdin is malformed: {}", requests_ + 1, why)};
  }

  Status send_batch() {
    if (Status status = connection().send(); !status.ok()) return status;
    while (connection().in_doubt() > kMaxUnderWay ||
           (connection().in_doubt() != 0 && connection().has_news())) {
      if (Status status = receive(); !status.ok()) return status;
    }
    return {};
  }

  Status receive() {
    const auto reply = connection().receive(patience_);
    if (!reply.ok()) return reply.status();
    ++replies_;
    const Tree tree(*reply);
    if (!tree.is_error()) return {};
    if (errors_++ < kMaxErrorsShown) fmt::print(stderr, "{}\n", tree.text());
    return {};
  }

  Link& link_;
  std::chrono::milliseconds patience_{};
  resp::RequestLimits limits_;
  resp::RequestParser parser_;
  std::uint64_t requests_ = 0;
  std::uint64_t replies_ = 0;
  std::uint64_t errors_ = 0;
};

}  // namespace

int run_pipe(Link& link, const Options& options) {
  Load load(link, options);
  const Status status = load.run();
  fmt::print("errors: {}, replies: {}\n", load.errors(), load.replies());
  if (!status.ok()) {
    complain(status.message());
    return status == Code::kInvalidArgument ? kExitUsage : kExitUnavailable;
  }
  return load.errors() == 0 ? kExitOk : kExitError;
}

}  // namespace keyway::kvctl
