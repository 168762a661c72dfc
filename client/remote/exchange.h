// Exchange: requests to whichever server owns a key, and their replies.
//
// *What.* One connection to each server, opened as it is needed. A server that sends us on (MOVED,
// ASK) or asks for patience (TRYAGAIN) is done as it says. A request that only reads is sent once
// more when its connection breaks; one that writes is not, and the failure says that it is in
// doubt. *Thread safety.* One session's. *Invariants.*
//   X1  What writes is sent at most once: again only where the server has said that it did nothing.
//   X2  No call outlasts twice the time that connecting and a reply may take, and kMaxTurns
//       redirections.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "keyway/client/remote/errors.h"
#include "keyway/client/remote/link.h"
#include "keyway/client/remote/servers.h"
#include "keyway/locks/base/function_ref.h"

namespace keyway::remote {

using Words = std::span<const std::string_view>;

class Exchange {
 public:
  /// Adds requests to a batch; may be called again.
  using Adder = FunctionRef<void(wire::Connection&)>;
  /// Is shown the replies in turn; may be called again, from the first one on.
  using Taker = FunctionRef<void(std::size_t index, wire::ReplyView reply)>;

  /// The servers outlive it.
  explicit Exchange(const Servers& servers);

  /// One request to the owner of a key, and its reply, which is no error: those are statuses.
  Result<wire::ReplyView> ask(std::string_view key, Words words, Effect effect);
  /// One request to the server with this index.
  Result<wire::ReplyView> ask_server(std::uint32_t index, Words words, Effect effect);
  /// Several at once to the owner of a key. The first error among the replies is the status, after
  /// all were taken. The connection is valid until the next call of the exchange.
  Result<wire::Connection*> converse(std::string_view key, Effect effect, Adder add, Taker take);

  /// The connection to a key's owner, for callers that spread a batch over servers themselves.
  Result<wire::Connection*> connection_for(std::string_view key) {
    return link(slots_.owner_of(key)).ready();
  }
  /// A reply of another kind than the command has.
  Status unexpected(std::string_view command) const;
  std::uint32_t servers() const { return slots_.servers(); }
  std::chrono::milliseconds timeout() const { return servers_.options.request_timeout; }

 private:
  static constexpr int kMaxTurns = 16;

  /// How often a request has been redirected or repeated, and its next server.
  struct Course {
    std::uint32_t server = 0;
    std::uint32_t turns = 0;
    bool asking = false;
    bool repeated = false;  // after a connection that broke
    std::optional<BackOff> patience{};
    std::uint64_t until_ns = 0;  // end of the patience
  };

  Result<wire::ReplyView> ask_with_redirects(Course course, Words words, Effect effect);
  bool may_repeat(Course& course, Effect effect) const;
  bool follow(Course& course, std::string_view error);
  void refresh(std::uint32_t index);
  Link& link(std::uint32_t index);

  const Servers& servers_;
  SlotMap slots_;
  std::vector<std::unique_ptr<Link>> links_;  // by server, made as they are needed
  std::uint64_t refreshed_ns_ = 0;
};

}  // namespace keyway::remote
