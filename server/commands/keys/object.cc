// OBJECT ...: the encoding that Redis would report for a value, judged by the value alone: the
// store does not record how a value was made, or when it was last read.

#include <limits>

#include "keyway/kvstore/resp/numbers.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"
#include "keyway/server/commands/engine/help.h"

namespace keyway::server {
namespace {

/// Shows the value of the key behind the subcommand; if it is missing, replies so.
void look_at(const Call& call, FunctionRef<void(std::string_view value)> show) {
  const Status status =
      call.session.read(call.word(2), [&](const ElementState& element) { show(element.value); });
  if (status.ok()) return call.looked_up(true);
  if (!is_absent(status)) return call.failed(status);
  call.looked_up(false);
  call.out.null();
}

void run_object_encoding(const Call& call) {
  constexpr std::size_t kLongestEmbedded = 44;
  look_at(call, [&](std::string_view value) {
    call.out.bulk(resp::parse_integer(value)         ? "int"
                  : value.size() <= kLongestEmbedded ? "embstr"
                                                     : "raw");
  });
}

/// Redis shares the integers below 10,000 among all keys, and says the largest count of them.
void run_object_refcount(const Call& call) {
  constexpr std::int64_t kShared = 10'000;
  look_at(call, [&](std::string_view value) {
    const auto number = resp::parse_integer(value);
    const bool shared = number && *number >= 0 && *number < kShared;
    call.out.integer(shared ? std::numeric_limits<std::int32_t>::max() : 1);
  });
}

/// Reads leave no trace here.
void run_object_idletime(const Call& call) {
  look_at(call, [&](std::string_view) { call.out.integer(0); });
}

void run_object_freq(const Call& call) {
  look_at(call, [&](std::string_view) {
    call.error(
        "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note "
        "that when switching between policies at runtime LRU and LFU data will take some time to "
        "adjust.");
  });
}

void run_object_help(const Call& call) {
  reply_help(call, "OBJECT",
             {"ENCODING <key>",
              "    Return the kind of internal representation used in order to store the value",
              "    associated with a <key>.", "FREQ <key>",
              "    Return the access frequency index of the <key>. The returned integer is",
              "    proportional to the logarithm of the recent access frequency of the key.",
              "IDLETIME <key>",
              "    Return the idle time of the <key>, that is the approximated number of",
              "    seconds elapsed since the last access to the key.", "REFCOUNT <key>",
              "    Return the number of references of the value associated with the specified",
              "    <key>."});
}

}  // namespace

CommandRows commands_of_keys_object() {
  static constexpr auto kRows = checked({
      {.name = "object", .arity = -2, .group = Group::kGeneric, .flags = kContainer},
      {.name = "object|encoding",
       .arity = 3,
       .group = Group::kGeneric,
       .flags = kReadOnly,
       .run = run_object_encoding,
       .keys = {2, 2, 1, "RO"},
       .tips = "nondeterministic_output",
       .arguments = "key",
       .summary = "Returns the encoding of a value in memory."},
      {.name = "object|freq",
       .arity = 3,
       .group = Group::kGeneric,
       .flags = kReadOnly,
       .run = run_object_freq,
       .keys = {2, 2, 1, "RO"},
       .tips = "nondeterministic_output",
       .arguments = "key",
       .summary = "Returns the access frequency of a key; Keyway does not record it."},
      {.name = "object|help",
       .arity = 2,
       .group = Group::kGeneric,
       .flags = kLoading | kStale,
       .run = run_object_help},
      {.name = "object|idletime",
       .arity = 3,
       .group = Group::kGeneric,
       .flags = kReadOnly,
       .run = run_object_idletime,
       .keys = {2, 2, 1, "RO"},
       .tips = "nondeterministic_output",
       .arguments = "key",
       .summary = "Returns the seconds since the last access to a key; always 0, because reads are "
                  "not recorded."},
      {.name = "object|refcount",
       .arity = 3,
       .group = Group::kGeneric,
       .flags = kReadOnly,
       .run = run_object_refcount,
       .keys = {2, 2, 1, "RO"},
       .tips = "nondeterministic_output",
       .arguments = "key",
       .summary = "Returns the reference count of a value."},
  });
  return kRows;
}

}  // namespace keyway::server
