#include "measured.h"

#include "keyway/locks/base/bytes.h"

namespace keyway::lockbench {
namespace {

/// Calls use(word) for every plain number of a result, in one order.
template <class Result, class Use>
void each_number(Result& r, Use&& use) {
  for (auto* word : {&r.begin_ns, &r.end_ns, &r.end_order, &r.exclusive, &r.shared, &r.torn,
                     &r.overlap, &r.inserted, &r.missed, &r.stats.reads, &r.stats.writes,
                     &r.stats.contended, &r.stats.try_failures, &r.stats.timeouts}) {
    use(*word);
  }
  for (auto& handovers : r.stats.handovers_at) use(handovers);
}

template <class Counts, class Use>
void each_row(Counts& counts, Use&& use) {
  for (auto& kinds : counts.operations) {
    for (auto& row : kinds) use(row);
  }
  use(counts.looks);
  use(counts.flushes);
}

/// Rest of a message that claims to have `size` parts of `bytes` each.
bool fits(std::string_view in, std::uint64_t size, std::uint64_t bytes) {
  return size <= in.size() / bytes;
}

bool take_use(std::string_view& in, AgentResult& result) {
  std::uint64_t size = 0;
  if (!take_word(in, size) || !fits(in, size, 16)) return false;
  result.use.resize(size);
  for (LockUse& use : result.use) take_word(in, use.exclusive), take_word(in, use.increments);
  return true;
}

bool take_accesses(std::string_view& in, AgentResult& result) {
  std::uint64_t size = 0;
  if (!take_word(in, size) || !fits(in, size, 24)) return false;
  result.accesses.resize(size);
  for (Access& access : result.accesses) {
    std::uint64_t lock = 0;
    take_word(in, access.request), take_word(in, access.grant), take_word(in, lock);
    access.lock = static_cast<std::uint32_t>(lock >> 1);
    access.exclusive = (lock & 1) != 0;
  }
  return true;
}

bool take_counts(std::string_view& in, AgentResult& result) {
  std::uint64_t levels = 0;
  if (!take_word(in, levels) || !fits(in, levels, 8)) return false;
  result.counts = fabric::OpCounts(levels);
  bool whole = true;
  each_row(result.counts, [&](fabric::OpCounts::Row& row) {
    for (std::uint64_t& word : row) whole = whole && take_word(in, word);
  });
  return whole;
}

}  // namespace

void append(std::string& out, const AgentResult& result) {
  each_number(result, [&](std::uint64_t word) { append_word(out, word); });
  append_word(out, result.use.size());
  for (const LockUse& use : result.use) {
    append_word(out, use.exclusive);
    append_word(out, use.increments);
  }
  append_word(out, result.accesses.size());
  for (const Access& access : result.accesses) {
    append_word(out, access.request);
    append_word(out, access.grant);
    append_word(out, std::uint64_t{access.lock} << 1 | (access.exclusive ? 1 : 0));
  }
  append_word(out, result.counts.levels());
  each_row(result.counts, [&](const fabric::OpCounts::Row& row) {
    for (const std::uint64_t word : row) append_word(out, word);
  });
  append_word(out, result.trouble.size());
  out += result.trouble;
}

bool take(std::string_view& in, AgentResult& result) {
  bool whole = true;
  each_number(result, [&](std::uint64_t& word) { whole = whole && take_word(in, word); });
  std::uint64_t size = 0;
  if (!whole || !take_use(in, result) || !take_accesses(in, result) || !take_counts(in, result) ||
      !take_word(in, size) || !fits(in, size, 1)) {
    return false;
  }
  result.trouble = in.substr(0, size);
  in.remove_prefix(size);
  return true;
}

}  // namespace keyway::lockbench
