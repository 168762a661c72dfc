// TLS: which side must prove its identity, and a sentence on failure.
#include <asio/ip/tcp.hpp>
#include <asio/read_until.hpp>
#include <asio/ssl.hpp>
#include <asio/write.hpp>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "keyway/client/wire/connection.h"
#include "tests/support/certificate.h"
#include "tests/support/fake_server.h"

using namespace keyway;
using namespace keyway::wire;

namespace {

namespace ssl = asio::ssl;
using Tls = ssl::stream<asio::ip::tcp::socket>;

/// Answers one connection: a PING, and echoes of `big` bytes.
class TlsServer {
 public:
  TlsServer(const test::Identity& identity, bool wants_certificate)
      : tls_(ssl::context::tls_server),
        acceptor_(io_, {asio::ip::address_v4::loopback(), 0}),
        port_(acceptor_.local_endpoint().port()) {
    tls_.use_certificate_chain_file(identity.cert_file);
    tls_.use_private_key_file(identity.key_file, ssl::context::pem);
    if (wants_certificate) {
      tls_.load_verify_file(identity.cert_file);
      tls_.set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
    }
    thread_ = std::thread([this] { serve(); });
  }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;
  ~TlsServer() { thread_.join(); }
  std::uint16_t port() const { return port_; }

 private:
  void serve() {
    std::error_code error;
    Tls peer(io_, tls_);
    acceptor_.accept(peer.lowest_layer(), error);
    peer.handshake(ssl::stream_base::server, error);
    std::string in;
    char bytes[4096];
    while (!error) {
      const std::size_t n = peer.read_some(asio::buffer(bytes), error);
      in.append(bytes, n);
      for (std::size_t end; (end = in.find("PING\r\n")) != std::string::npos;) {
        in.erase(0, end + 6);
        asio::write(peer, asio::buffer(std::string_view("+PONG\r\n")), error);
      }
    }
  }

  asio::io_context io_;
  ssl::context tls_;
  asio::ip::tcp::acceptor acceptor_;
  std::uint16_t port_;
  std::thread thread_;
};

Options tls_options(std::uint16_t port, const test::Identity& trusted) {
  Options options;
  options.host = "127.0.0.1";
  options.port = port;
  options.tls = {.on = true, .ca_file = trusted.cert_file, .server_name = "kv.example"};
  return options;
}

void check_refused(const Options& options, std::string_view says) {
  const auto opened = Connection::open(options);
  const std::string message(opened.status().message());
  CAPTURE(message);
  CHECK(opened.code() == Code::kInvalidArgument);
  CHECK(message.find(says) != std::string::npos);
}

}  // namespace

TEST_CASE("tls: a server that proves its name is asked, and answers") {
  const test::Identity identity("kv.example");
  TlsServer server(identity, false);
  auto opened = Connection::open(tls_options(server.port(), identity));
  INFO(opened.status().message());
  REQUIRE(opened.ok());
  constexpr int kMany = 5000;
  for (int i = 0; i < kMany; ++i) opened->add({"PING"});
  REQUIRE(opened->send().ok());
  for (int i = 0; i < kMany; ++i) REQUIRE(opened->receive()->front().text == "PONG");
}

TEST_CASE("tls: a server that is somebody else, or vouched for by nobody known, is refused") {
  const test::Identity identity("kv.example");
  const test::Identity other("kv.example");
  {
    TlsServer server(identity, false);
    Options options = tls_options(server.port(), identity);
    options.tls.server_name = "db.example";
    check_refused(options, "its certificate was refused: hostname mismatch");
  }
  {
    TlsServer server(identity, false);
    Options options = tls_options(server.port(), identity);
    options.tls.server_name.clear();  // then it must be for the address
    check_refused(options, "its certificate was refused: IP address mismatch");
  }
  {
    TlsServer server(identity, false);
    check_refused(tls_options(server.port(), other), "its certificate was refused: ");
  }
  {
    TlsServer server(identity, false);
    Options options = tls_options(server.port(), other);
    options.tls.verify = false;
    CHECK(Connection::open(options).ok());
  }
}

TEST_CASE("tls: a client proves who it is, where the server wants that") {
  const test::Identity identity("kv.example");
  {
    TlsServer server(identity, true);
    Options options = tls_options(server.port(), identity);
    options.tls.cert_file = identity.cert_file;
    options.tls.key_file = identity.key_file;
    const auto opened = Connection::open(options);
    INFO(opened.status().message());
    CHECK(opened.ok());
  }
  {
    TlsServer server(identity, true);
    CHECK_FALSE(Connection::open(tls_options(server.port(), identity)).ok());
  }
}

TEST_CASE("tls: files that cannot be used, and servers without TLS, have a sentence") {
  const test::Identity identity("kv.example");
  test::FakeServer plain([](test::FakePeer& peer, int) {
    peer.say("-ERR Protocol error\r\n");
    peer.wait_until_gone();
  });
  Options options = tls_options(plain.port(), identity);
  check_refused(options, "TLS with 127.0.0.1");
  options.tls.ca_file = "/nonexistent/ca.pem";
  check_refused(options, "the file of authorities '/nonexistent/ca.pem' cannot be used");
  options.tls.ca_file = identity.cert_file;
  options.tls.cert_file = identity.key_file;
  options.tls.key_file = identity.key_file;
  check_refused(options, "the certificate '" + identity.key_file + "' cannot be used");
  options.tls.cert_file = identity.cert_file;
  options.tls.key_file = identity.cert_file;
  check_refused(options, "the key '" + identity.cert_file + "' cannot be used");
}
