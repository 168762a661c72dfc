// OptimisticReader<E>: several keys at once. Included by session_impl.h.
#pragma once

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <optional>
#include <span>
#include <string_view>

#include "keyway/kvstore/volume/optimistic_reader.h"

namespace keyway::store {

template <fabric::Endpoint E>
template <class Judge>
void OptimisticReader<E>::fetch_several(Deadline until, Judge&& judge_one, bool idle) {
  std::sort(several_.begin(), several_.end(),
            [](const Several& a, const Several& b) { return a.from.word() < b.from.word(); });
  // The same bytes are read once: of a key that is named twice, or of keys of one line.
  std::size_t total = 0;
  const Several* last = nullptr;
  for (Several& key : several_) {
    const bool same = last != nullptr && last->from == key.from && last->bytes == key.bytes;
    key.at = same ? last->at : total;
    if (!same) total += key.bytes;
    last = &key;
  }
  fetched_.resize(total);
  const auto bytes_of = [&](const Several& key) {
    return std::span(fetched_).subspan(key.at, key.bytes);
  };
  asked_.clear();
  const std::size_t late_before = late_.size();
  try {
    using Key = typename std::vector<Several>::iterator;
    const auto end_of_rank = [&](Key key) {
      return std::find_if(key, several_.end(), [rank = key->from.rank()](const Several& each) {
        return each.from.rank() != rank;
      });
    };
    const auto post = [&](Key key, Key last) {
      parts_.clear();
      for (auto each = key; each != last; ++each) {
        if (each != key && each->at == std::prev(each)->at) continue;
        parts_.push_back({each->from.offset(), each->bytes});
      }
      fabric::post_gather(ep_, key->from.rank(), parts_, std::span(fetched_).subspan(key->at));
    };
    for (auto key = several_.begin(), last = key; key != several_.end(); key = last) {
      last = end_of_rank(key);
      asked_.push_back(permit_.begin(key->from.rank()));
      post(key, last);
    }
    auto key = several_.begin();
    for (const auto& asked : asked_) {
      const auto last = end_of_rank(key);
      std::optional<bool> permitted = permit_.end(asked, until, idle);
      const auto is_block = [](const Several& each) { return !each.is_line(); };
      if (permitted && !*permitted && permit_.has(asked.rank) && std::any_of(key, last, is_block)) {
        // RP3. Lines need no permit, but share the message.
        const auto again = permit_.begin(asked.rank);
        post(key, last);
        permitted = permit_.end(again, until, idle);
      }
      if (!permitted) be_late(asked.rank);
      for (; key != last; ++key) {
        if (permitted) judge_one(*key, bytes_of(*key), *permitted);
      }
    }
  } catch (...) {  // no memory
    late_.resize(late_before);
    for (const Several& key : several_) {
      const std::uint32_t rank = key.from.rank();
      if (late_.size() == late_before || late_.back() != rank) be_late(rank);
    }
    give_up();
    throw;
  }
  if (late_.size() > late_before) give_up();
}

template <fabric::Endpoint E>
template <class Wanted, class Accept>
void OptimisticReader<E>::collect(std::span<const Location> locations,
                                  std::span<const std::string_view> keys, Wanted&& wanted,
                                  std::size_t least, Deadline until, Accept&& accept) {
  late_.clear();
  if (addresses_ == nullptr) return;
  const std::uint64_t begun = ep_.now_ns();
  several_.clear();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!wanted(i)) continue;
    const Location& location = locations[i];
    if (!is_free(location.rank, Deadline::now())) continue;
    if (const auto known = addresses_->find(location.hash)) {
      several_.push_back(block_of(i, location.rank, *known));
    } else if (cold_rests_ > 0) {
      --cold_rests_;
    } else {
      several_.push_back({i, geometry_.bucket(location.rank, location.bucket), kBucketBytes});
    }
  }
  if (several_.size() < least) return;
  behind_lines_.clear();
  const auto refuse_cold = [&] { cold_rests_ = kColdRest; };
  const auto lines_and_known = [&](const Several& key, std::span<const std::byte> bytes,
                                   bool permitted) {
    const Location& location = locations[key.of];
    if (key.is_line()) {
      std::memcpy(line_.words.data(), bytes.data(), bytes.size());
      const EntryWord entry = line_.first_with_tag(tag_of(location.hash));
      if (!may_be_block(geometry_, entry)) return refuse_cold();
      const ElementPlace place{entry, static_cast<std::uint32_t>(line_.version())};
      return behind_lines_.push_back(block_of(key.of, location.rank, place));
    }
    if (!permitted) return;
    const Verdict verdict = judge_known(key, bytes, location.hash, keys[key.of]);
    if (verdict != Verdict::kAccepted) return;
    ++counts_.warm;
    accept(key, bytes);
  };
  fetch_several(until, lines_and_known);
  if (behind_lines_.empty()) return;
  several_.swap(behind_lines_);
  // If a rank has used up the time, the others are not to be late as well.
  const Deadline rest = late_.empty() ? until : Deadline::within(kGrace);
  fetch_several(rest, [&](const Several& key, std::span<const std::byte> bytes, bool permitted) {
    if (!permitted) return;
    const auto not_newer = [&](std::uint32_t stamp) {
      return !stamp_is_newer(stamp, key.known.stamp);
    };
    const bool accepted = judge(bytes, keys[key.of], not_newer) == Verdict::kAccepted &&
                          ep_.now_ns() - begun < kColdNs;  // OR2
    if (!accepted) return refuse_cold();
    addresses_->learn(locations[key.of].hash, {key.known.entry, element_.stamp});
    ++counts_.cold;
    accept(key, bytes);
  });
}

template <fabric::Endpoint E>
template <class Wanted, class Has>
void OptimisticReader<E>::read_ahead(std::span<const Location> locations,
                                     std::span<const std::string_view> keys, Wanted&& wanted,
                                     Has&& has) {
  forget_ahead();
  late_.clear();
  if (addresses_ == nullptr) return;
  several_.clear();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!wanted(i) || !is_free(locations[i].rank, Deadline::now())) continue;
    const auto known = addresses_->find(locations[i].hash);
    if (known) several_.push_back(block_of(i, locations[i].rank, *known));
  }
  if (several_.size() < 2) return;  // read() is as good for one
  const auto keep = [&](const Several& block, std::span<const std::byte> bytes, bool permitted) {
    if (!permitted) return;
    const std::uint64_t hash = locations[block.of].hash;
    const Verdict verdict = judge_known(block, bytes, hash, keys[block.of]);
    if (verdict == Verdict::kTorn) return;
    Ahead& ahead = ahead_.emplace_back();
    ahead = {.hash = hash, .key = keys[block.of], .begin = ahead_values_.size()};
    if (verdict == Verdict::kRefused) return;
    ahead_values_.append(element_.value);
    ahead.bytes = element_.value.size();
    ahead.accepted = true;
    ++counts_.warm;
    has(block.of);
  };
  try {
    fetch_several(deadline_ahead_.started(ep_.now_ns()), keep);
  } catch (...) {  // the caller may not keep the keys
    forget_ahead();
    throw;
  }
}

template <fabric::Endpoint E>
bool OptimisticReader<E>::begin_together(std::span<const Location> locations,
                                         std::span<const std::string_view> keys, Deadline until) {
  const auto is_remote = [&](std::size_t i) { return !ep_.is_local(locations[i].rank); };
  std::size_t remote = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) remote += is_remote(i);
  taken_.clear();
  values_.clear();
  together_begun_ns_ = ep_.now_ns();
  const auto take = [&](const Several& key, std::span<const std::byte> block) {
    Taken& taken = taken_.emplace_back();
    taken = {.of = key.of, .from = key.from, .known = key.known, .begin = values_.size()};
    taken.bytes = element_.value.size();
    std::memcpy(taken.header.data(), block.data(), taken.header.size());
    values_.append(element_.value);
  };
  collect(locations, keys, is_remote, remote, until, take);
  std::sort(taken_.begin(), taken_.end(),
            [](const Taken& a, const Taken& b) { return a.of < b.of; });
  return taken_.size() == remote && late_.empty();
}

template <fabric::Endpoint E>
bool OptimisticReader<E>::end_together(Deadline until) {
  several_.clear();
  for (std::size_t n = 0; n < taken_.size(); ++n) {
    several_.push_back({n, taken_[n].from, ElementFormat::kProvenBytes, taken_[n].known});
  }
  std::size_t same = 0;
  const auto compare = [&](const Several& again, std::span<const std::byte> header,
                           bool permitted) {
    const auto& before = taken_[again.of].header;
    same += permitted && std::memcmp(before.data(), header.data(), before.size()) == 0;
  };
  fetch_several(until, compare, /*idle=*/false);
  return same == taken_.size() && ep_.now_ns() - together_begun_ns_ < kTogetherNs;
}

}  // namespace keyway::store
