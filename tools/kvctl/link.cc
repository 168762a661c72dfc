#include "link.h"

#include <fmt/core.h>

#include <chrono>
#include <vector>

#include "interrupts.h"
#include "keyway/client/wire/uri.h"

namespace keyway::kvctl {

Status Link::connect() {
  connection_.reset();
  auto made = wire::Connection::open(options_);
  if (!made.ok()) return made.status();
  connection_.emplace(std::move(*made));
  return {};
}

Result<bool> Link::ensure() {
  // Input without a request is the end of the connection.
  if (connected() && !connection_->has_news()) return false;
  if (Status status = connect(); !status.ok()) return status;
  return true;
}

Result<wire::ReplyView> Link::ask(std::span<const std::string_view> words) {
  if (!connected()) {
    return Status(Code::kUnavailable, fmt::format("not connected to {}", server()));
  }
  connection_->add(words);
  if (Status status = connection_->send(); !status.ok()) return status;
  const std::chrono::duration<double> patience = options_.request_timeout;
  while (!connection_->has_news() &&
         wait_for(connection_->descriptor(), patience.count()) == Waited::kSignal) {
    if (!Interrupts::take_stop()) continue;
    connection_.reset();
    return Status(Code::kUnavailable, "stopped: the command may or may not have taken effect");
  }
  return connection_->receive();
}

Result<wire::ReplyView> Link::ask(std::span<const std::string> words) {
  const std::vector<std::string_view> views(words.begin(), words.end());
  return ask(views);
}

std::string Link::server() const { return wire::text_of(options_); }

}  // namespace keyway::kvctl
