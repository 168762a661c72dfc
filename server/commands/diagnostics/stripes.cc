// KW.STRIPES: the locks of this rank's stripes, and why each is as it is.

#include <algorithm>
#include <optional>
#include <vector>

#include "keyway/locks/base/words.h"
#include "keyway/server/commands/engine/arguments.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

constexpr std::int64_t kDefaultCount = 20;

struct Stripe {
  std::uint64_t number = 0;
  StripeReport report;
};

std::uint64_t stripes_of(Session& session, std::uint32_t rank) {
  std::uint64_t stripes = 0;
  for (const LockKindReport& kind : session.inspector().lock_kinds(rank)) stripes += kind.stripes;
  return stripes;
}

/// Those that were seen in use, the most contended first; of equals, those with more samples.
std::vector<Stripe> most_contended(Session& session, std::uint32_t rank, std::size_t most) {
  std::vector<Stripe> all;
  const std::uint64_t stripes = stripes_of(session, rank);
  for (std::uint64_t number = 0; number < stripes; ++number) {
    StripeReport report = session.inspector().stripe_report(rank, number);
    if (report.samples + report.switches != 0) all.push_back({number, std::move(report)});
  }
  std::stable_sort(all.begin(), all.end(), [](const Stripe& a, const Stripe& b) {
    const StripeReport& x = a.report;
    const StripeReport& y = b.report;
    return x.contenders != y.contenders ? x.contenders > y.contenders : x.samples > y.samples;
  });
  if (all.size() > most) all.resize(most);
  return all;
}

/// The requested number of rows; if it is not a number above 0, replies with an error and returns
/// nothing.
std::optional<std::int64_t> count_or_error(const Call& call) {
  if (call.count() == 1) return kDefaultCount;
  if (call.count() == 3 && is_word(call.word(1), "count")) {
    const auto count = integer_or_error(call, 2);
    if (!count || *count > 0) return count;
  }
  call.error(kSyntaxError);
  return std::nullopt;
}

void reply_stripe(resp::ReplyWriter& out, std::uint32_t rank, const Stripe& stripe) {
  const StripeReport& report = stripe.report;
  const auto integer = [&](std::string_view name, std::uint64_t value) {
    out.bulk(name);
    out.integer(static_cast<std::int64_t>(value));
  };
  const auto share = [&](std::string_view name, double value) {
    out.bulk(name);
    out.real(value);
  };
  out.map(9);
  integer("rank", rank);
  integer("stripe", stripe.number);
  out.bulk("kind");
  out.bulk(report.kind);
  integer("samples", report.samples);
  integer("switches", report.switches);
  share("reads", report.reads);
  share("local", report.local);
  share("others", report.contenders);
  out.bulk("why");
  out.bulk(report.why);
}

void run_stripes(const Call& call) {
  const auto count = count_or_error(call);
  if (!count) return;
  const std::uint32_t rank = call.service.cluster.self;
  const auto found = most_contended(call.session.whole(), rank, static_cast<std::size_t>(*count));
  call.out.array(found.size());
  for (const Stripe& stripe : found) reply_stripe(call.out, rank, stripe);
}

}  // namespace

CommandRows commands_of_diagnostics_stripes() {
  static constexpr auto kRows = checked({
      {.name = "kw.stripes",
       .arity = -1,
       .group = Group::kServer,
       .flags = kNoScript | kLoading | kStale | kDangerous,
       .run = run_stripes,
       .tips = "nondeterministic_output",
       .arguments = "[COUNT count]",
       .summary = "Lists the locks of the stripes, the most contended first; `locks` shows them "
                  "as a table."},
  });
  return kRows;
}

}  // namespace keyway::server
