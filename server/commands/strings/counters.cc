// INCR, DECR, INCRBY, DECRBY, INCRBYFLOAT.

#include <cmath>
#include <limits>

#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

/// The sum becomes the value; the expiry stays.
void add(const Call& call, std::int64_t delta) {
  const auto sum = call.session.increment(call.key(), delta);
  if (sum.ok()) return call.out.integer(*sum);
  if (sum.code() == Code::kNotANumber) return call.error(kNoInteger);
  if (sum.code() == Code::kOverflow) {
    return call.error("ERR increment or decrement would overflow");
  }
  call.failed(sum.status());
}

void run_incr(const Call& call) { add(call, 1); }

void run_decr(const Call& call) { add(call, -1); }

void run_incrby(const Call& call) {
  if (const auto delta = integer_or_error(call, 2)) add(call, *delta);
}

void run_decrby(const Call& call) {
  const auto delta = integer_or_error(call, 2);
  if (!delta) return;
  if (*delta == std::numeric_limits<std::int64_t>::min()) {
    return call.error("ERR decrement would overflow");
  }
  add(call, -*delta);
}

void run_incrbyfloat(const Call& call) {
  // Redis reads the value before the argument; both make the same error.
  const auto delta = parse_long_real(call.word(2));
  const Status status = call.session.modify(call.key(), [&](const ElementState* old) -> Decision {
    const auto before = old == nullptr ? 0.0L : parse_long_real(old->value);
    if (!before || !delta) return Decision::fail(Code::kNotANumber);
    const long double sum = *before + *delta;
    if (!std::isfinite(sum)) return Decision::fail(Code::kMismatch);
    format_long_real(sum, call.session.value());
    return Decision::write(call.session.value(),
                           old == nullptr ? store::kNoExpiry : old->expires_at_ms);
  });
  if (status.ok()) return call.out.bulk(call.session.value());
  if (status == Code::kNotANumber) return call.error(kNoFloat);
  if (status == Code::kMismatch) return call.error("ERR increment would produce NaN or Infinity");
  call.failed(status);
}

}  // namespace

CommandRows commands_of_strings_counters() {
  static constexpr auto kRows = checked({
      {.name = "incr",
       .arity = 2,
       .group = Group::kString,
       .flags = kWrite | kDenyOom | kFast,
       .run = run_incr,
       .keys = {1, 1, 1, "RW access update"},
       .arguments = "key",
       .summary = "Increments a number by 1; a missing key counts as 0."},
      {.name = "decr",
       .arity = 2,
       .group = Group::kString,
       .flags = kWrite | kDenyOom | kFast,
       .run = run_decr,
       .keys = {1, 1, 1, "RW access update"},
       .arguments = "key",
       .summary = "Decrements a number by 1; a missing key counts as 0."},
      {.name = "incrby",
       .arity = 3,
       .group = Group::kString,
       .flags = kWrite | kDenyOom | kFast,
       .run = run_incrby,
       .keys = {1, 1, 1, "RW access update"},
       .arguments = "key increment",
       .summary = "Increments a number by an integer."},
      {.name = "decrby",
       .arity = 3,
       .group = Group::kString,
       .flags = kWrite | kDenyOom | kFast,
       .run = run_decrby,
       .keys = {1, 1, 1, "RW access update"},
       .arguments = "key decrement",
       .summary = "Decrements a number by an integer."},
      {.name = "incrbyfloat",
       .arity = 3,
       .group = Group::kString,
       .flags = kWrite | kDenyOom | kFast,
       .run = run_incrbyfloat,
       .keys = {1, 1, 1, "RW access update"},
       .arguments = "key increment",
       .summary = "Increments a number by a floating-point number."},
  });
  return kRows;
}

}  // namespace keyway::server
