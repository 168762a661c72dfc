// MGET, MSET, MSETNX: atomic, on whatever ranks their keys are.

#include <algorithm>
#include <vector>

#include "keyway/server/commands/handlers.h"

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

/// MGET of keys among which there are some that cannot be in the store.
void get_odd_keys(const Call& call) {
  const auto values = values_of(call.session, call.words.subspan(1));
  if (!values.ok()) return call.failed(values.status());
  call.out.array(values->size());
  for (const auto& value : *values) {
    call.looked_up(value.has_value());
    if (value) {
      call.out.bulk(*value);
    } else {
      call.out.null();
    }
  }
}

}  // namespace

void run_mget(const Call& call) {
  const auto keys = call.words.subspan(1);
  if (!std::all_of(keys.begin(), keys.end(), is_storable)) return get_odd_keys(call);
  const std::size_t before = call.out.mark();
  call.out.array(keys.size());
  const Status status = call.session.read_all(keys, [&](std::size_t, const ElementState* element) {
    call.looked_up(element != nullptr);
    if (element != nullptr) {
      call.out.bulk(element->value);
    } else {
      call.out.null();
    }
  });
  if (status.ok()) return;
  call.out.back_to(before);
  call.failed(status);
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

}  // namespace keyway::server
