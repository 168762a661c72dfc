#include "keyway/client/wire/handshake.h"

#include <fmt/core.h>

#include <vector>

#include "keyway/client/wire/uri.h"

namespace keyway::wire {
namespace {

/// The user's name, where only a password was given.
constexpr std::string_view kDefaultUser = "default";

bool is_unknown_command(std::string_view error) { return error.starts_with("ERR unknown command"); }

}  // namespace

Handshake::Handshake(const Options& options)
    : options_(options), database_(std::to_string(options.database)) {
  if (options.version == resp::Version::kResp3) {
    steps_[count_++] = Step::kHello;
  } else {
    if (!options.password.empty()) steps_[count_++] = Step::kAuth;
    steps_[count_++] = Step::kPing;  // HELLO is not known to every server that speaks RESP2
  }
  if (!options.client_name.empty()) steps_[count_++] = Step::kName;
  if (options.database != 0) steps_[count_++] = Step::kSelect;
}

void Handshake::for_each_request(FunctionRef<void(Words)> each) const {
  const std::string_view user = options_.user.empty() ? kDefaultUser : options_.user;
  for (std::size_t i = 0; i < count_; ++i) {
    std::vector<std::string_view> words;
    switch (steps_[i]) {
      case Step::kHello:
        words = {"HELLO", "3"};
        if (!options_.password.empty())
          words.insert(words.end(), {"AUTH", user, options_.password});
        break;
      case Step::kAuth:
        words = {"AUTH"};
        if (!options_.user.empty()) words.push_back(user);
        words.push_back(options_.password);
        break;
      case Step::kPing: words = {"PING"}; break;
      case Step::kName: words = {"CLIENT", "SETNAME", options_.client_name}; break;
      case Step::kSelect: words = {"SELECT", database_}; break;
    }
    each(words);
  }
}

Status Handshake::judge(const resp::Reply& reply) {
  const Step step = steps_[judged_++];
  if (reply.kind != resp::Kind::kError) return {};
  const std::string_view error = reply.text;
  if (error.starts_with("NOAUTH")) {
    return handshake_error("wants a password", "give one with the URI or the environment");
  }
  if (error.starts_with("WRONGPASS"))
    return handshake_error("refused the password or the user", error);
  if (error.starts_with("LOADING") || error.starts_with("ERR max number of clients")) {
    return {Code::kUnavailable, fmt::format("{} is busy: {}", text_of(options_), error)};
  }
  if (error.starts_with("DENIED")) {
    return handshake_error("serves its own host alone", error.substr(0, error.find('.')));
  }
  switch (step) {
    case Step::kHello: return handshake_error("does not speak RESP3 (protocol=3)", error);
    case Step::kAuth: return handshake_error("refused the password", error);
    case Step::kSelect:
      return handshake_error(fmt::format("has no database {}", options_.database), error);
    case Step::kPing:
      return is_unknown_command(error) ? Status()
                                       : handshake_error("refused the connection", error);
    case Step::kName: return {};  // a name is nothing to fail for
  }
  return {};
}

Status Handshake::judge(const Status& failure) const {
  if (failure == Code::kCorruption) {
    return {
        Code::kInvalidArgument,
        fmt::format("{}: is it the right port, and not one for TLS (rediss:)?", failure.message())};
  }
  if (failure == Code::kUnavailable) {
    return {Code::kUnavailable, fmt::format("{} before the first reply: is it a Redis server, "
                                            "and not one for TLS (rediss:)?",
                                            failure.message())};
  }
  if (failure == Code::kTimeout) {
    return {
        Code::kTimeout,
        fmt::format("{} accepted the connection and did not answer within {} ms: it is not a Redis "
                    "server, expects TLS (rediss:), or hangs",
                    text_of(options_), options_.connect_timeout.count())};
  }
  return failure;
}

Status Handshake::handshake_error(std::string_view what, std::string_view error) const {
  return {Code::kInvalidArgument, fmt::format("{} {} ({})", text_of(options_), what, error)};
}

}  // namespace keyway::wire
