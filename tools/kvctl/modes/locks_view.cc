// `locks`: the locks of the stripes of all ranks, the most contended first.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "modes/modes.h"
#include "modes/ranks.h"
#include "modes/tree.h"
#include "tools/kvctl/runner.h"

namespace keyway::kvctl {
namespace {

struct Row {
  std::uint64_t rank = 0, stripe = 0;
  std::string kind;
  std::uint64_t samples = 0, switches = 0;
  double reads = 0, local = 0, others = 0;
  std::string why;
};

Row row_of(const Tree& stripe) {
  return {.rank = stripe.field("rank").count(),
          .stripe = stripe.field("stripe").count(),
          .kind = std::string(stripe.field("kind").text()),
          .samples = stripe.field("samples").count(),
          .switches = stripe.field("switches").count(),
          .reads = stripe.field("reads").number(),
          .local = stripe.field("local").number(),
          .others = stripe.field("others").number(),
          .why = std::string(stripe.field("why").text())};
}

/// Each rank is asked for its own.
Status add_rows(Link& rank, std::uint64_t count, std::vector<Row>& rows) {
  const std::string rows_of_each = std::to_string(count);
  const auto reply = rank.ask({"KW.STRIPES", "COUNT", rows_of_each});
  if (!reply.ok()) return reply.status();
  const Tree tree(*reply);
  if (tree.is_error()) {
    return {Code::kUnsupported,
            fmt::format("{} did not report its locks: {}", rank.server(), tree.text())};
  }
  for (const Tree& stripe : tree.elements()) rows.push_back(row_of(stripe));
  return {};
}

void print_table(const std::vector<Row>& rows) {
  if (rows.empty()) {
    fmt::print(
        "No stripe has been seen in use: samples are taken where the server chooses lock kinds "
        "(--lock-policy auto).\n");
    return;
  }
  fmt::print("{:>4} {:>7} {:<14} {:>8} {:>6} {:>6} {:>8} {:>8}  {}\n", "rank", "stripe", "kind",
             "samples", "reads", "local", "at lock", "switches", "why");
  for (const Row& row : rows) {
    fmt::print("{:>4} {:>7} {:<14} {:>8} {:>5.0f}% {:>5.0f}% {:>8.2f} {:>8}  {}\n", row.rank,
               row.stripe, row.kind, row.samples, row.reads * 100, row.local * 100, row.others,
               row.switches, row.why);
  }
}

void print_json(const std::vector<Row>& rows) {
  std::string text = "[";
  for (const Row& row : rows) {
    text += fmt::format("{}{{\"rank\":{},\"stripe\":{},\"kind\":", text.size() == 1 ? "" : ",",
                        row.rank, row.stripe);
    append_json_string(row.kind, text);
    text += fmt::format(
        ",\"samples\":{},\"reads\":{},\"local\":{},\"others\":{},\"switches\":{},\"why\":",
        row.samples, row.reads, row.local, row.others, row.switches);
    append_json_string(row.why, text);
    text += '}';
  }
  fmt::print("{}]\n", text);
}

}  // namespace

int show_locks(Link& link, std::uint64_t count, Style style) {
  const auto ranks = ranks_of(link);
  Status status = ranks.status();
  std::vector<Row> rows;
  for (std::size_t i = 0; status.ok() && i < ranks->size(); ++i) {
    Link own(options_for((*ranks)[i], link));
    status = own.connect();
    if (status.ok()) status = add_rows(own, count, rows);
  }
  if (!status.ok()) {
    complain(status.message());
    return status == Code::kUnsupported ? kExitError : kExitUnavailable;
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.others != b.others ? a.others > b.others : a.samples > b.samples;
  });
  rows.resize(std::min<std::size_t>(rows.size(), count));
  if (style == Style::kJson) {
    print_json(rows);
  } else {
    print_table(rows);
  }
  std::fflush(stdout);
  return kExitOk;
}

}  // namespace keyway::kvctl
