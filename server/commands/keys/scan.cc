// KEYS, SCAN, RANDOMKEY. None of them reads a value.

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "keyway/locks/base/rng.h"
#include "keyway/locks/base/words.h"
#include "keyway/locks/fabric/time_slice.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"
#include "keyway/server/commands/keys/glob.h"

namespace keyway::server {
namespace {

/// The beginning of a reply with keys that have been written since a mark.
template <class Write>
void begin_reply(const Call& call, std::size_t mark, Write&& write) {
  std::string beginning;
  resp::ReplyWriter out(beginning, call.out.version());
  write(out);
  call.out.put_before(mark, beginning);
}

/// The keys of the whole store, or of the one rank that the client asks about.
Result<std::uint64_t> scan(const Call& call, std::uint64_t cursor, std::uint64_t limit,
                           const KeySink& sink) {
  Session& store = call.session.whole();
  const auto rank = call.only_rank();
  return rank ? store.scan_keys_rank(*rank, cursor, limit, sink)
              : store.scan_keys(cursor, limit, sink);
}

/// As strtoul reads one, without blanks before it: it takes a sign, and nothing for 0.
std::optional<std::uint64_t> cursor_of(std::string_view word) {
  const bool negative = word.starts_with('-');
  if (negative || word.starts_with('+')) {
    word.remove_prefix(1);
    if (word.empty()) return std::nullopt;
  }
  if (word.empty()) return 0;
  std::uint64_t cursor = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), cursor);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return negative ? -cursor : cursor;
}

struct ScanOptions {
  std::int64_t count = 10;
  std::optional<std::string_view> pattern;
  bool strings = true;  // there is no other type
};

std::optional<ScanOptions> scan_options_or_error(const Call& call) {
  ScanOptions options;
  for (std::size_t i = 2; i < call.count(); i += 2) {
    const bool paired = i + 1 < call.count();
    if (paired && is_word(call.word(i), "count")) {
      const auto count = integer_or_error(call, i + 1);
      if (!count) return std::nullopt;
      options.count = *count;
    } else if (paired && is_word(call.word(i), "match")) {
      options.pattern = call.word(i + 1);
    } else if (paired && is_word(call.word(i), "type")) {
      options.strings = is_word(call.word(i + 1), "string");
    } else {
      options.count = 0;
    }
    if (options.count < 1) {
      call.error(kSyntaxError);
      return std::nullopt;
    }
  }
  return options;
}

/// Not at one instant: a key that comes or goes meanwhile may be there or not.
void run_keys(const Call& call) {
  constexpr std::uint64_t kAtOnce = 1024;
  const std::size_t mark = call.out.mark();
  std::uint64_t found = 0;
  std::size_t seen = 0;
  const auto look_at = [&](std::string_view key) {
    fabric::this_fiber::yield_if_due(seen++);
    if (!glob_match(call.word(1), key)) return;
    call.out.bulk(key);
    ++found;
  };
  std::uint64_t cursor = 0;
  do {
    const auto next = scan(call, cursor, kAtOnce, look_at);
    if (!next.ok()) {
      call.out.back_to(mark);
      return call.failed(next.status());
    }
    cursor = *next;
  } while (cursor != 0 && !call.out.is_dropped());
  begin_reply(call, mark, [&](resp::ReplyWriter& out) { out.array(found); });
}

/// A cursor that no scan returned has nothing behind it, as in Redis.
void run_scan(const Call& call) {
  const auto cursor = cursor_of(call.word(1));
  if (!cursor) return call.error("ERR invalid cursor");
  const auto options = scan_options_or_error(call);
  if (!options) return;
  const std::size_t mark = call.out.mark();
  std::uint64_t found = 0;
  std::size_t seen = 0;
  const auto look_at = [&](std::string_view key) {
    fabric::this_fiber::yield_if_due(seen++);
    const bool fits = !options->pattern || glob_match(*options->pattern, key);
    if (!fits || !options->strings) return;
    call.out.bulk(key);
    ++found;
  };
  const auto next = scan(call, *cursor, static_cast<std::uint64_t>(options->count), look_at);
  if (!next.ok() && next.code() != Code::kInvalidArgument) {
    call.out.back_to(mark);
    return call.failed(next.status());
  }
  begin_reply(call, mark, [&](resp::ReplyWriter& out) {
    out.array(2);
    out.bulk(fmt::to_string(next.ok() ? *next : 0));
    out.array(found);
  });
}

/// A key that follows a random place in the order of hashes: one behind a gap comes more often.
void run_randomkey(const Call& call) {
  std::string found;
  const auto take = [&](std::string_view key) {
    if (found.empty()) found = key;
  };
  const std::uint64_t place = splitmix64(call.client.drawn) ^ call.client.id;
  const auto seen = call.session.whole().scan_keys_from(fmt::to_string(place), 1, take);
  if (!seen.ok()) return call.failed(seen.status());
  if (found.empty()) {  // nothing from there to the end
    const auto next = call.session.whole().scan_keys(0, 1, take);
    if (!next.ok()) return call.failed(next.status());
  }
  if (found.empty()) return call.out.null();
  call.out.bulk(found);
}

}  // namespace

CommandRows commands_of_keys_scan() {
  static constexpr auto kRows = checked({
      {.name = "keys",
       .arity = 2,
       .group = Group::kGeneric,
       .flags = kReadOnly | kDangerous | kWholeStore,
       .run = run_keys,
       .tips = "request_policy:all_shards nondeterministic_output_order",
       .arguments = "pattern",
       .summary = "Returns all keys that match a pattern in one reply; SCAN suits large stores."},
      {.name = "scan",
       .arity = -2,
       .group = Group::kGeneric,
       .flags = kReadOnly | kWholeStore,
       .run = run_scan,
       .tips = "nondeterministic_output request_policy:special",
       .arguments = "cursor [MATCH pattern] [COUNT count] [TYPE type]",
       .summary = "Returns some keys and the cursor for the next call; the first and the last "
                  "cursor are 0."},
      {.name = "randomkey",
       .arity = 1,
       .group = Group::kGeneric,
       .flags = kReadOnly | kWholeStore,
       .run = run_randomkey,
       .tips = "request_policy:all_shards nondeterministic_output",
       .summary = "Returns a random key."},
  });
  return kRows;
}

}  // namespace keyway::server
