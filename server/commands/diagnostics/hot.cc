// KW.HOTKEYS, KW.HOTSTRIPES: the most visited keys and stripes, by samples of the requests.

#include <algorithm>

#include "keyway/locks/base/words.h"
#include "keyway/server/commands/diagnostics/stripe_name.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

struct HotOptions {
  std::int64_t count = 10;
  bool reads = true;
  bool writes = true;

  bool takes(Access access) const { return access == Access::kRead ? reads : writes; }
};

std::optional<HotOptions> hot_options_or_error(const Call& call) {
  HotOptions options;
  for (std::size_t i = 1; i < call.count(); ++i) {
    if (is_word(call.word(i), "count") && i + 1 < call.count()) {
      const auto count = integer_or_error(call, ++i);
      if (!count) return std::nullopt;
      options.count = *count;
    } else if (is_word(call.word(i), "reads")) {
      options.writes = false;
    } else if (is_word(call.word(i), "writes")) {
      options.reads = false;
    } else {
      options.count = 0;
    }
    if (options.count < 1 || !(options.reads || options.writes)) {
      call.error(kSyntaxError);
      return std::nullopt;
    }
  }
  return options;
}

struct Shown {
  Access access = Access::kRead;
  double share = 0;
  HeavyHitter entry;
};

/// The spots of the requested accesses, the hottest first.
std::vector<Shown> hottest(const Call& call, Spot spot, const HotOptions& options) {
  std::vector<Shown> all;
  const auto most = static_cast<std::size_t>(options.count);
  for (const Access access : kAccesses) {
    if (!options.takes(access)) continue;
    HotReport report = call.service.statistics.hottest(spot, access, most);
    for (HeavyHitter& entry : report.entries) {
      const double share = static_cast<double>(entry.count) / static_cast<double>(report.samples);
      all.push_back({access, share, std::move(entry)});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Shown& a, const Shown& b) { return a.entry.count > b.entry.count; });
  if (all.size() > most) all.resize(most);
  return all;
}

/// The common part of keys and stripes: the last four of their fields.
void reply_figures(const Call& call, const Shown& shown) {
  call.out.bulk("access");
  call.out.bulk(shown.access == Access::kRead ? "read" : "write");
  call.out.bulk("share");
  call.out.real(shown.share);
  call.out.bulk("samples");
  call.out.integer(static_cast<std::int64_t>(shown.entry.count));
  call.out.bulk("error");
  call.out.integer(static_cast<std::int64_t>(shown.entry.max_error));
}

void run_hotkeys(const Call& call) {
  const auto options = hot_options_or_error(call);
  if (!options) return;
  const auto all = hottest(call, Spot::kKey, *options);
  call.out.array(all.size());
  for (const Shown& shown : all) {
    call.out.map(6);
    call.out.bulk("key");
    call.out.bulk(shown.entry.name);
    call.out.bulk("length");
    call.out.integer(static_cast<std::int64_t>(shown.entry.name_bytes));
    reply_figures(call, shown);
  }
}

void run_hotstripes(const Call& call) {
  const auto options = hot_options_or_error(call);
  if (!options) return;
  const auto all = hottest(call, Spot::kStripe, *options);
  call.out.array(all.size());
  for (const Shown& shown : all) {
    const StripePlace place = stripe_of_name(shown.entry.name);
    call.out.map(6);
    call.out.bulk("rank");
    call.out.integer(place.rank);
    call.out.bulk("stripe");
    call.out.integer(static_cast<std::int64_t>(place.stripe));
    reply_figures(call, shown);
  }
}

}  // namespace

CommandRows commands_of_diagnostics_hot() {
  static constexpr auto kRows = checked({
      {.name = "kw.hotkeys",
       .arity = -1,
       .group = Group::kServer,
       .flags = kOfServer,
       .run = run_hotkeys,
       .tips = "nondeterministic_output",
       .arguments = "[COUNT count] [READS | WRITES]",
       .summary = "Returns the most used keys, by samples of the requests."},
      {.name = "kw.hotstripes",
       .arity = -1,
       .group = Group::kServer,
       .flags = kOfServer,
       .run = run_hotstripes,
       .tips = "nondeterministic_output",
       .arguments = "[COUNT count] [READS | WRITES]",
       .summary = "Returns the most used stripes, by samples of the requests."},
  });
  return kRows;
}

}  // namespace keyway::server
