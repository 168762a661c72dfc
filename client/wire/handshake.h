// Handshake: the requests to a server before any other. Internal to client/wire.
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "keyway/client/wire/options.h"
#include "keyway/kvstore/resp/reply_parser.h"
#include "keyway/locks/base/function_ref.h"
#include "keyway/locks/base/status.h"

namespace keyway::wire {

class Handshake {
 public:
  using Words = std::span<const std::string_view>;

  /// The options outlive it.
  explicit Handshake(const Options& options);

  /// The requests, in order; all are sent at once.
  void for_each_request(FunctionRef<void(Words)> each) const;
  /// The state of the connection after the next reply.
  Status judge(const resp::Reply& reply);
  /// The state of the connection after a failure to get a reply.
  Status judge(const Status& failure) const;

 private:
  enum class Step : std::uint8_t { kHello, kAuth, kPing, kName, kSelect };

  Status handshake_error(std::string_view what, std::string_view error) const;

  const Options& options_;
  std::string database_;
  std::array<Step, 4> steps_{};
  std::size_t count_ = 0;
  std::size_t judged_ = 0;
};

}  // namespace keyway::wire
