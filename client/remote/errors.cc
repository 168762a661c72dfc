#include "keyway/client/remote/errors.h"

#include <fmt/core.h>

#include <string>

namespace keyway::remote {
namespace {

struct Meaning {
  std::string_view begins;
  Code code;
  std::string_view advice;
};

// In the order in which they are looked for; the texts are those of Redis 7.
constexpr Meaning kMeanings[] = {
    {"OOM ", Code::kOutOfSpace, ""},
    {"ERR value is not an integer", Code::kNotANumber, ""},
    {"ERR increment or decrement would overflow", Code::kOverflow, ""},
    {"WRONGTYPE ", Code::kInvalidArgument, "the key holds something other than a string"},
    {"CROSSSLOT ", Code::kUnsupported,
     "on this server the keys of one atomic operation must be of one slot: give them one {tag}"},
    {"ERR unknown command", Code::kUnsupported, ""},
    {"ERR unknown subcommand", Code::kUnsupported, ""},
    {"LOADING ", Code::kUnavailable, ""},
    {"BUSY ", Code::kUnavailable, ""},
    {"CLUSTERDOWN ", Code::kUnavailable, ""},
    {"MASTERDOWN ", Code::kUnavailable, ""},
    {"TRYAGAIN ", Code::kTimeout, ""},
    {"INDOUBT ", Code::kInDoubt, ""},
    {"READONLY ", Code::kUnavailable, ""},
    {"MISCONF ", Code::kUnavailable, ""},
    {"MOVED ", Code::kUnavailable, "too many redirections from server to server"},
    {"ASK ", Code::kUnavailable, "too many redirections from server to server"},
};

}  // namespace

Status status_of_error(std::string_view error, std::string_view server) {
  constexpr std::string_view kAborted = "EXECABORT Transaction discarded because of: ";
  const std::string_view why = error.starts_with(kAborted) ? error.substr(kAborted.size()) : error;
  for (const Meaning& meaning : kMeanings) {
    if (!why.starts_with(meaning.begins)) continue;
    if (meaning.advice.empty()) return {meaning.code, fmt::format("{}: {}", server, error)};
    return {meaning.code, fmt::format("{}: {} ({})", server, meaning.advice, error)};
  }
  return {Code::kInvalidArgument, fmt::format("{}: {}", server, error)};
}

Status not_sent(const Status& failure) {
  return {failure.code(), fmt::format("{}; nothing was sent", failure.message())};
}

Status in_doubt(const Status& failure, Effect effect, std::size_t sent, std::size_t unsent) {
  if (effect == Effect::kReads) return failure;
  if (sent == 0) return not_sent(failure);
  std::string text(failure.message());
  text += sent == 1 ? "; the request was sent and not answered: it may have taken effect, or not"
                    : fmt::format(
                          "; {} requests were sent and not answered: they may have taken "
                          "effect, or not",
                          sent);
  if (unsent != 0) text += fmt::format(", and {} were not sent", unsent);
  return {failure.code(), std::move(text)};
}

}  // namespace keyway::remote
