// A server for a test: it sends scripted replies, byte for byte, to each client that connects.
//
// A body serves one connection, on its own thread; when it returns, the connection is closed. Every
// read has a deadline, so a silent client fails the test instead of hanging it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "keyway/kvstore/resp/request_parser.h"

namespace keyway::test {

/// A socket on 127.0.0.1, on a free port. It refuses connections until it listens.
class BoundSocket {
 public:
  BoundSocket() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    auto* address = reinterpret_cast<sockaddr*>(&at);
    if (::bind(fd_, address, size) != 0 || ::getsockname(fd_, address, &size) != 0) {
      throw std::runtime_error("a test's server cannot have a port");
    }
    port_ = ntohs(at.sin_port);
  }
  BoundSocket(const BoundSocket&) = delete;
  BoundSocket& operator=(const BoundSocket&) = delete;
  ~BoundSocket() { ::close(fd_); }

  void listen(int backlog) const { ::listen(fd_, backlog); }
  int fd() const { return fd_; }
  std::uint16_t port() const { return port_; }

 private:
  int fd_;
  std::uint16_t port_ = 0;
};

/// One client, as the server's body sees it.
class FakePeer {
 public:
  explicit FakePeer(int fd) : fd_(fd) {}
  FakePeer(const FakePeer&) = delete;
  FakePeer& operator=(const FakePeer&) = delete;
  ~FakePeer() { ::close(fd_); }

  /// The words of the next request; none when the client has gone.
  std::vector<std::string> request() {
    for (;;) {
      const auto step = parser_.parse(in_, {});
      std::vector<std::string> words;
      if (step == resp::RequestParser::Step::kRequest) {
        for (const auto word : parser_.words()) words.emplace_back(word);
      }
      in_.erase(0, parser_.consumed());
      if (!words.empty() || step == resp::RequestParser::Step::kError || !read()) return words;
    }
  }
  void say(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;  // the client has gone
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  /// Answers the first requests of a client of a server without a password.
  bool greet() {
    if (request() != std::vector<std::string>{"PING"}) return false;
    say("+PONG\r\n");
    return true;
  }
  void wait_until_gone() {
    while (read()) in_.clear();
  }
  int fd() const { return fd_; }

 private:
  bool read() {
    constexpr int kPatienceMs = 20000;
    pollfd wanted{fd_, POLLIN, 0};
    char bytes[4096];
    if (::poll(&wanted, 1, kPatienceMs) <= 0) return false;
    const ssize_t n = ::read(fd_, bytes, sizeof bytes);
    if (n <= 0) return false;
    in_.append(bytes, static_cast<std::size_t>(n));
    return true;
  }

  int fd_;
  std::string in_;
  resp::RequestParser parser_;
};

class FakeServer {
 public:
  using Body = std::function<void(FakePeer&, int nth)>;

  /// `nth` counts the connections from 0.
  explicit FakeServer(Body body) : body_(std::move(body)) {
    socket_.listen(16);
    if (::pipe(stop_) != 0) throw std::runtime_error("a test's server has no pipe");
    thread_ = std::thread([this] { serve(); });
  }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;
  ~FakeServer() {
    ::close(stop_[1]);
    thread_.join();
    ::close(stop_[0]);
  }

  std::uint16_t port() const { return socket_.port(); }
  // Relaxed: a count; a test compares it only after an answer over the socket.
  int connections() const { return connections_.load(std::memory_order_relaxed); }

 private:
  void serve() {
    std::vector<std::thread> peers;
    pollfd wanted[] = {{socket_.fd(), POLLIN, 0}, {stop_[0], POLLIN, 0}};
    while (::poll(wanted, 2, -1) >= 0 && wanted[1].revents == 0) {
      const int fd = ::accept(socket_.fd(), nullptr, nullptr);
      if (fd < 0) continue;
      const int nth = connections_.fetch_add(1, std::memory_order_relaxed);
      peers.emplace_back([this, fd, nth] {
        FakePeer peer(fd);
        body_(peer, nth);
      });
    }
    for (auto& peer : peers) peer.join();
  }

  Body body_;
  BoundSocket socket_;
  std::atomic<int> connections_{0};
  int stop_[2] = {-1, -1};
  std::thread thread_;
};

}  // namespace keyway::test
