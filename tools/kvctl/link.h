// Link: the one connection to the server, opened again when it is lost.
//
// *What.* A request is sent once. If the connection was closed with no request in flight, a new one
// is opened first. If it breaks with a request in flight, the request may or may not have taken
// effect, and it is not sent again.
// *Thread safety.* One thread's.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "keyway/client/wire/connection.h"

namespace keyway::kvctl {

class Link {
 public:
  explicit Link(wire::Options options) : options_(std::move(options)) {}

  /// Makes a new connection. As wire::Connection::open.
  Status connect();
  bool connected() const { return connection_ && !connection_->broken(); }
  /// Connected, or connected again: true if it is a new connection.
  Result<bool> ensure();

  /// One request and its reply. kUnavailable also where Ctrl-C was pressed meanwhile.
  Result<wire::ReplyView> ask(std::span<const std::string_view> words);
  Result<wire::ReplyView> ask(std::initializer_list<std::string_view> words) {
    return ask(std::span(words.begin(), words.size()));
  }
  Result<wire::ReplyView> ask(std::span<const std::string> words);

  /// For batches. Connected.
  wire::Connection& connection() { return *connection_; }
  wire::Options& options() { return options_; }
  const wire::Options& options() const { return options_; }
  /// "127.0.0.1:7400", or a path.
  std::string server() const;

 private:
  wire::Options options_;
  std::optional<wire::Connection> connection_;
};

}  // namespace keyway::kvctl
