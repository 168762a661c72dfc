// DEL (UNLINK), EXISTS (TOUCH), TYPE, DBSIZE, FLUSHDB (FLUSHALL).

#include <algorithm>
#include <vector>

#include "keyway/locks/base/words.h"
#include "keyway/locks/fabric/time_slice.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

void run_del(const Call& call) {
  std::vector<std::string_view> keys(call.words.begin() + 1, call.words.end());
  std::erase_if(keys, [](std::string_view key) { return !is_storable(key); });
  if (keys.size() == 1) {
    const Status status = call.session.erase(keys[0]);
    if (!status.ok() && !is_absent(status)) return call.failed(status);
    return call.out.integer(status.ok() ? 1 : 0);
  }
  const auto erased = call.session.erase_all(keys);
  if (!erased.ok()) return call.failed(erased.status());
  call.out.integer(static_cast<std::int64_t>(*erased));
}

/// A key that is named twice counts twice.
void run_exists(const Call& call) {
  std::int64_t there = 0;
  for (std::size_t i = 1; i < call.count(); ++i) {
    fabric::this_fiber::yield_if_due(i);
    const auto info = call.session.info(call.word(i));
    if (!info.ok() && !is_absent(info.status())) return call.failed(info.status());
    call.looked_up(info.ok());
    there += info.ok() ? 1 : 0;
  }
  call.out.integer(there);
}

void run_type(const Call& call) {
  const auto info = call.session.info(call.key());
  if (!info.ok() && !is_absent(info.status())) return call.failed(info.status());
  call.looked_up(info.ok());
  call.out.simple(info.ok() ? "string" : "none");
}

void run_dbsize(const Call& call) {
  Session& store = call.session.whole();
  const auto rank = call.only_rank();
  const auto size = rank ? store.size_of(*rank) : store.size();
  if (!size.ok()) return call.failed(size.status());
  call.out.integer(static_cast<std::int64_t>(*size));
}

/// SYNC and ASYNC are the same here: the reply comes when all is gone.
void run_flush(const Call& call) {
  const bool known =
      call.count() == 1 ||
      (call.count() == 2 && (is_word(call.word(1), "sync") || is_word(call.word(1), "async")));
  if (!known) return call.error(kSyntaxError);
  const auto rank = call.only_rank();
  Session& store = call.session.whole();
  const Status status = rank ? store.clear_rank(*rank) : store.clear();
  if (!status.ok()) return call.failed(status);
  call.ok();
}

}  // namespace

CommandRows commands_of_keys_keys() {
  static constexpr auto kRows = checked({
      {.name = "del",
       .arity = -2,
       .group = Group::kGeneric,
       .flags = kWrite,
       .run = run_del,
       .keys = {1, -1, 1, "RM delete"},
       .tips = "request_policy:multi_shard response_policy:agg_sum",
       .arguments = "key [key ...]",
       .summary = "Deletes keys and returns the number that existed."},
      {.name = "unlink",
       .arity = -2,
       .group = Group::kGeneric,
       .flags = kWrite | kFast,
       .run = run_del,
       .keys = {1, -1, 1, "RM delete"},
       .tips = "request_policy:multi_shard response_policy:agg_sum",
       .arguments = "key [key ...]",
       .summary = "Deletes keys as DEL does; the memory may be freed later."},
      {.name = "exists",
       .arity = -2,
       .group = Group::kGeneric,
       .flags = kReadOnly | kFast,
       .run = run_exists,
       .keys = {1, -1, 1, "RO"},
       .tips = "request_policy:multi_shard response_policy:agg_sum",
       .arguments = "key [key ...]",
       .summary = "Returns the number of these keys that exist."},
      {.name = "touch",
       .arity = -2,
       .group = Group::kGeneric,
       .flags = kReadOnly | kFast,
       .run = run_exists,
       .keys = {1, -1, 1, "RO"},
       .tips = "request_policy:multi_shard response_policy:agg_sum",
       .arguments = "key [key ...]",
       .summary = "Returns the number of these keys that exist, as EXISTS does."},
      {.name = "type",
       .arity = 2,
       .group = Group::kGeneric,
       .flags = kReadOnly | kFast,
       .run = run_type,
       .keys = {1, 1, 1, "RO"},
       .arguments = "key",
       .summary = "Returns the type of a value: string, or none."},
      {.name = "dbsize",
       .arity = 1,
       .group = Group::kServer,
       .category = Category::kKeyspace,
       .flags = kReadOnly | kFast | kWholeStore,
       .run = run_dbsize,
       .tips = "request_policy:all_shards response_policy:agg_sum",
       .summary = "Returns the number of keys."},
      {.name = "flushdb",
       .arity = -1,
       .group = Group::kServer,
       .category = Category::kKeyspace,
       .flags = kWrite | kDangerous | kWholeStore,
       .run = run_flush,
       .tips = "request_policy:all_shards response_policy:all_succeeded",
       .arguments = "[ASYNC | SYNC]",
       .summary = "Deletes every key of this database."},
      {.name = "flushall",
       .arity = -1,
       .group = Group::kServer,
       .category = Category::kKeyspace,
       .flags = kWrite | kDangerous | kWholeStore,
       .run = run_flush,
       .tips = "request_policy:all_shards response_policy:all_succeeded",
       .arguments = "[ASYNC | SYNC]",
       .summary = "Deletes every key."},
  });
  return kRows;
}

}  // namespace keyway::server
