// Session<E>: several keys in one call. Included by session_impl.h.
//
// get_many() is a batch of single gets that overlaps their cache misses, and the reads of elements
// on other nodes; the others are atomic: they hold the locks of all their stripes at once
// (HeldKeys).
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "keyway/kvstore/held_keys.h"
#include "keyway/kvstore/held_keys_read.h"
#include "keyway/kvstore/session.h"
#include "keyway/kvstore/session_core.h"
#include "keyway/kvstore/session_core_read.h"
#include "keyway/locks/base/check.h"

namespace keyway::store {

/// The places of several keys; fails on the first that is out of bounds.
template <fabric::Endpoint E, class Items, class KeyOf>
Result<std::vector<Location>> place_all(SessionCore<E>& core, const Items& items, KeyOf key_of) {
  std::vector<Location> locations;
  locations.reserve(items.size());
  for (const auto& item : items) {
    if (auto status = check_key(std::invoke(key_of, item)); !status.ok()) return status;
    locations.push_back(core.place(std::invoke(key_of, item)));
  }
  return locations;
}

/// Ranks that a batch has waited for until its deadline: it does not wait for them once more.
class LateRanks {
 public:
  void add(std::uint32_t rank) {
    if (!contains(rank)) ranks_.push_back(rank);
  }
  bool contains(std::uint32_t rank) const {
    return !ranks_.empty() && std::find(ranks_.begin(), ranks_.end(), rank) != ranks_.end();
  }

 private:
  std::vector<std::uint32_t> ranks_;
};

/// The gets of at most kPrefetchWindow keys that are not done.
template <fabric::Endpoint E>
void get_window(SessionCore<E>& core, std::span<const Location> window,
                std::span<const std::string_view> keys, std::span<const bool> done,
                std::span<std::string> out, std::span<Code> codes, LateRanks& late) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (codes[i] == Code::kOk && core.ep.is_local(window[i].rank)) {
      core.prefetch(window[i], locks::Mode::kRead);
    }
  }
  core.prefetch_elements(window);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (codes[i] != Code::kOk || done[i]) continue;
    const std::uint32_t rank = window[i].rank;
    const auto is_silent = [&] {
      return !core.gate.reach(rank, locks::Mode::kRead, Deadline::now()).ok();
    };
    if (late.contains(rank) && is_silent()) {
      codes[i] = Code::kTimeout;
      continue;
    }
    codes[i] = core.read_at(window[i], keys[i], whole_value,
                            [&](const ElementPart& part) { out[i].assign(part.bytes); })
                   .code();
    if (codes[i] == Code::kTimeout && is_silent()) late.add(rank);
  }
}

/// Places at most kBatchWindow keys; codes[i] says whether key i is within bounds.
template <fabric::Endpoint E>
std::span<const Location> place_batch(SessionCore<E>& core, std::span<const std::string_view> keys,
                                      std::span<Code> codes) {
  core.batch.clear();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    codes[i] = check_key(keys[i]).code();
    core.batch.push_back(codes[i] == Code::kOk ? core.place(keys[i]) : Location());
  }
  return core.batch;
}

/// The gets of at most kBatchWindow keys.
template <fabric::Endpoint E>
void get_batch(SessionCore<E>& core, std::span<const std::string_view> keys,
               std::span<std::string> out, std::span<Code> codes, LateRanks& late) {
  const std::span<const Location> batch = place_batch(core, keys, codes);
  std::array<bool, kBatchWindow> done{};
  if (!core.gate.holds_all()) {
    const auto is_remote = [&](std::size_t i) {
      return codes[i] == Code::kOk && !core.ep.is_local(batch[i].rank);
    };
    core.optimistic.read_several(batch, keys, is_remote,
                                 [&](std::size_t i, const ElementView& element) {
                                   out[i].assign(element.value);
                                   done[i] = true;
                                 });
    for (const std::uint32_t rank : core.optimistic.late()) late.add(rank);
  }
  for (std::size_t at = 0; at < keys.size(); at += kPrefetchWindow) {
    const std::size_t n = std::min(kPrefetchWindow, keys.size() - at);
    get_window(core, batch.subspan(at, n), keys.subspan(at, n),
               std::span<const bool>(done).subspan(at, n), out.subspan(at, n), codes.subspan(at, n),
               late);
  }
}

template <fabric::Endpoint E>
void Session<E>::get_many(std::span<const std::string_view> keys, std::span<std::string> out,
                          std::span<Code> codes) {
  KW_CHECK(out.size() >= keys.size() && codes.size() >= keys.size());
  LateRanks late;
  for (std::size_t at = 0; at < keys.size(); at += kBatchWindow) {
    const std::size_t n = std::min(kBatchWindow, keys.size() - at);
    get_batch(*core_, keys.subspan(at, n), out.subspan(at, n), codes.subspan(at, n), late);
  }
}

template <fabric::Endpoint E>
std::uint64_t Session<E>::prefetch(std::span<const std::string_view> keys) {
  std::uint64_t far = 0;
  core_->placed.clear();
  for (std::size_t at = 0; at < keys.size();) {
    std::array<Location, kPrefetchWindow> window;
    std::size_t placed = 0;
    for (const std::size_t end = std::min(keys.size(), at + kPrefetchWindow); at < end; ++at) {
      const std::string_view key = keys[at];
      if (key.empty() || key.size() > kMaxKeyBytes) continue;
      const Location location = core_->location(key);
      core_->placed.add(key, location);
      if (core_->ep.is_local(location.rank)) {
        core_->prefetch(window[placed++] = location, std::nullopt);
      } else if (at < 64) {
        far |= std::uint64_t{1} << at;
      }
    }
    core_->prefetch_elements(std::span(window).first(placed));
  }
  return far;
}

template <fabric::Endpoint E>
std::uint64_t Session<E>::read_ahead(std::span<const std::string_view> keys) {
  if (core_->gate.holds_all()) keys = {};
  keys = keys.first(std::min(keys.size(), kBatchWindow));  // a bit for each
  std::array<Code, kBatchWindow> codes;
  const std::span<const Location> batch = place_batch(*core_, keys, codes);
  const auto is_remote = [&](std::size_t i) {
    return codes[i] == Code::kOk && !core_->ep.is_local(batch[i].rank);
  };
  std::uint64_t has = 0;
  core_->optimistic.read_ahead(batch, keys, is_remote,
                               [&](std::size_t i) { has |= std::uint64_t{1} << i; });
  return has;
}

/// One key, as get() reads it.
template <fabric::Endpoint E>
Status read_one(SessionCore<E>& core, const Location& location, std::string_view key,
                ElementsReader reader) {
  const Status status = core.read_at(location, key, whole_value, [&](const ElementPart& part) {
    const ElementState state{part.bytes, part.expires_at_ms};
    reader(0, &state);
  });
  if (status != Code::kNotFound) return status;
  reader(0, nullptr);
  return {};
}

template <fabric::Endpoint E>
Status Session<E>::read_all(std::span<const std::string_view> keys, ElementsReader reader) {
  auto placed = place_all(*core_, keys, std::identity());
  if (!placed.ok()) return placed.status();
  if (keys.size() == 1) return read_one(*core_, placed->front(), keys.front(), reader);
  const Deadline until = core_->gate.begun();
  if (const auto done = HeldKeys<E>::read_together(*core_, *placed, keys, reader, until)) {
    return *done;
  }
  HeldKeys<E> held(*core_, *placed);
  if (auto status = held.acquire(locks::Mode::kRead, until); !status.ok()) return status;
  return held.read(keys, reader);
}

template <fabric::Endpoint E>
Status put_all_once(SessionCore<E>& core, std::span<const Location> locations,
                    std::span<const std::pair<std::string_view, std::string_view>> pairs,
                    const PutOptions& options) {
  HeldKeys<E> held(core, locations);
  if (auto status = held.acquire(locks::Mode::kWrite); !status.ok()) return status;
  std::vector<PlannedWrite> writes;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    writes.push_back({locations[i], pairs[i].first, pairs[i].second.size(),
                      options.expires_at_ms != kNoExpiry, options.keep_expiry});
  }
  if (const Code code = held.presence(writes, options.when); code != Code::kOk) {
    return Status(code);
  }
  if (auto status = core.reserve.writes(writes); !status.ok()) return status;
  const auto key_of = [](const auto& pair) { return pair.first; };
  return held.change(locations, pairs, key_of, [&](std::size_t i, const ElementPart* old) {
    const bool keep = options.keep_expiry && old != nullptr;
    return Decision::write(pairs[i].second, keep ? old->expires_at_ms : options.expires_at_ms);
  });
}

/// The pairs without those of which a later pair has the key.
inline std::vector<std::pair<std::string_view, std::string_view>> last_of_each(
    std::span<const std::pair<std::string_view, std::string_view>> pairs) {
  std::vector<std::size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(pairs[a].first, a) < std::pair(pairs[b].first, b);
  });
  std::vector<std::pair<std::string_view, std::string_view>> last;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool repeated =
        i + 1 < order.size() && pairs[order[i + 1]].first == pairs[order[i]].first;
    if (!repeated) last.push_back(pairs[order[i]]);
  }
  return last;
}

template <fabric::Endpoint E>
Status Session<E>::put_all(std::span<const std::pair<std::string_view, std::string_view>> pairs,
                           const PutOptions& options) {
  if (pairs.size() == 1) return this->put(pairs[0].first, pairs[0].second, options);
  for (const auto& pair : pairs) {
    if (auto status = check_value(pair.second.size()); !status.ok()) return status;
  }
  // A reader without a lock would see the first value of a key that is named twice (K8).
  std::vector<std::pair<std::string_view, std::string_view>> last;
  if (!core_->ep.one_class()) pairs = last = last_of_each(pairs);
  auto placed = place_all(*core_, pairs, [](const auto& pair) { return pair.first; });
  if (!placed.ok()) return placed.status();
  return core_->room.with_room(*placed,
                               [&] { return put_all_once(*core_, *placed, pairs, options); });
}

template <fabric::Endpoint E>
Result<std::uint64_t> Session<E>::erase_all(std::span<const std::string_view> keys) {
  if (keys.size() == 1) {
    const Status status = this->erase(keys[0]);
    if (status.ok() || status == Code::kNotFound) return std::uint64_t{status.ok()};
    return status;
  }
  auto placed = place_all(*core_, keys, std::identity());
  if (!placed.ok()) return placed.status();
  HeldKeys<E> held(*core_, *placed);
  if (auto status = held.acquire(locks::Mode::kWrite); !status.ok()) return status;
  std::uint64_t erased = 0;
  const auto erase = [&](std::size_t, const ElementPart* old) {
    erased += old != nullptr;
    return old != nullptr ? Decision::erase() : Decision();
  };
  if (auto status = held.change(*placed, keys, std::identity(), erase); !status.ok()) return status;
  return erased;
}

template <fabric::Endpoint E>
Status modify_all_once(SessionCore<E>& core, std::span<const Location> locations,
                       std::span<const std::string_view> keys, ElementsBody body,
                       const ModifyAllOptions& options) {
  HeldKeys<E> held(core, locations);
  const locks::Mode mode = options.reads_only ? locks::Mode::kRead : locks::Mode::kWrite;
  if (auto status = held.acquire(mode); !status.ok()) return status;
  std::vector<ElementDraft> drafts(keys.size());
  if (auto status = held.draft(keys, options.unchanged_since, drafts); !status.ok()) return status;
  if (!body(drafts)) return {Code::kMismatch, "the transaction's body declined to commit"};
  if (!options.reads_only) return held.write(keys, drafts);
  KW_CHECK(std::none_of(drafts.begin(), drafts.end(), [](const auto& d) { return d.changed(); }));
  return {};
}

template <fabric::Endpoint E>
Status Session<E>::modify_all(std::span<const std::string_view> keys, ElementsBody body,
                              const ModifyAllOptions& options) {
  KW_CHECK(options.unchanged_since.size() <= keys.size());
  if (auto status = check_named_once(keys); !status.ok()) return status;
  auto placed = place_all(*core_, keys, std::identity());
  if (!placed.ok()) return placed.status();
  return core_->room.with_room(
      *placed, [&] { return modify_all_once(*core_, *placed, keys, body, options); });
}

}  // namespace keyway::store
