// MGET, MSET, MSETNX: atomic, on whatever ranks their keys are.

#include <algorithm>
#include <iterator>
#include <vector>

#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

/// The pairs of MSET and MSETNX; nothing when the last key has no value.
std::vector<KeyValue> pairs_or_error(const Call& call) {
  std::vector<KeyValue> pairs;
  if (call.count() % 2 == 0) {
    call.wrong_arity();
    return pairs;
  }
  pairs.reserve(call.count() / 2);
  for (std::size_t i = 1; i < call.count(); i += 2) {
    pairs.emplace_back(call.word(i), call.word(i + 1));
  }
  return pairs;
}

/// Ends a read after its reply has been dropped: the locks of all its keys are held meanwhile, and
/// each value of another rank is a round trip. Thrown as bad_alloc is, through the same guards.
struct Dropped {};

void reply_value(const Call& call, const ElementState* element) {
  call.looked_up(element != nullptr);
  if (element != nullptr) {
    call.value(element->value);
  } else {
    call.out.null();
  }
  if (call.out.is_dropped()) throw Dropped();
}

/// The values of the keys that can be in the store, and nothing for each other one between them.
Status reply_values(const Call& call, std::span<const std::string_view> keys) {
  std::vector<std::string_view> storable;
  std::span<const std::string_view> read = keys;
  if (!std::all_of(keys.begin(), keys.end(), is_storable)) {
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(storable), is_storable);
    read = storable;
  }
  std::size_t next = 0;  // index in `keys`
  const auto pass_odd_keys = [&] {
    for (; next < keys.size() && !is_storable(keys[next]); ++next) reply_value(call, nullptr);
  };
  const Status status = call.session.read_all(read, [&](std::size_t, const ElementState* element) {
    pass_odd_keys();
    reply_value(call, element);
    ++next;
  });
  if (status.ok()) pass_odd_keys();
  return status;
}

void run_mget(const Call& call) {
  const auto keys = call.words.subspan(1);
  const std::size_t before = call.out.mark();
  call.out.array(keys.size());
  try {
    const Status status = reply_values(call, keys);
    if (status.ok()) return;
    call.out.back_to(before);
    call.failed(status);
  } catch (const Dropped&) {
    return;  // the connection is cut off
  }
}

void run_mset(const Call& call) {
  const auto pairs = pairs_or_error(call);
  if (pairs.empty()) return;
  const Status status = call.session.put_all(pairs);
  if (!status.ok()) return call.failed(status);
  call.ok();
}

void run_msetnx(const Call& call) {
  const auto pairs = pairs_or_error(call);
  if (pairs.empty()) return;
  const Status status = call.session.put_all(pairs, {.when = PutIf::kAbsent});
  if (!status.ok() && status.code() != Code::kExists) return call.failed(status);
  call.out.integer(status.ok() ? 1 : 0);
}

}  // namespace

CommandRows commands_of_strings_several() {
  static constexpr auto kRows = checked({
      {.name = "mget",
       .arity = -2,
       .group = Group::kString,
       .flags = kReadOnly | kFast,
       .run = run_mget,
       .keys = {1, -1, 1, "RO access"},
       .tips = "request_policy:multi_shard",
       .arguments = "key [key ...]",
       .summary = "Returns the values of several keys, all at one instant."},
      {.name = "mset",
       .arity = -3,
       .group = Group::kString,
       .flags = kWrite | kDenyOom,
       .run = run_mset,
       .keys = {1, -1, 2, "OW update"},
       .tips = "request_policy:multi_shard response_policy:all_succeeded",
       .arguments = "key value [key value ...]",
       .summary = "Sets several keys atomically."},
      {.name = "msetnx",
       .arity = -3,
       .group = Group::kString,
       .flags = kWrite | kDenyOom,
       .run = run_msetnx,
       .keys = {1, -1, 2, "OW insert"},
       .tips = "request_policy:multi_shard response_policy:agg_min",
       .arguments = "key value [key value ...]",
       .summary = "Sets several keys atomically, if none of them exists."},
  });
  return kRows;
}

}  // namespace keyway::server
