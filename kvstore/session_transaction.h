// Session<E>: transactions of several keys, and the marks by which one knows that keys have not
// changed since. Included by session_impl.h.
//
// A body decides on copies of the elements, and what it leaves changed is written once room for all
// of it is leased: all or nothing.
#pragma once

#include <algorithm>
#include <functional>

#include "keyway/kvstore/session.h"
#include "keyway/kvstore/session_read.h"  // assign_in_parts()
#include "keyway/locks/fabric/time_slice.h"

namespace keyway::store {

/// Of a key that locate() has looked for; the stripe is locked.
template <fabric::Endpoint E>
template <class Access>
KeyMark Session<E>::mark_of(Access access, const Location& location, const Found& found) {
  const fabric::Address counters = geometry_.stripe_counters(location.rank, location.stripe);
  return {.turns = ep_.load(access, counters + kTurnsOffset),
          .line_version = static_cast<std::uint32_t>(chain_.front().bucket.version()),
          .element_version = found.head.version,
          .there = found.live()};
}

/// An element that is past is removed first: no sweep then changes the mark of a key that nobody
/// has touched.
template <fabric::Endpoint E>
Result<KeyMark> Session<E>::mark(std::string_view key) {
  if (auto status = check_key(key); !status.ok()) return status;
  bool past = false;
  auto mark = mark_once(key, past);
  if (!mark.ok() || !past) return mark;
  const auto only_look = [](const ElementPart*) { return Decision(); };
  if (auto status = mutate_key(key, ValueRange::none(), only_look); !status.ok()) return status;
  return mark_once(key, past);
}

/// `past`: whether the key has an element whose time has come.
template <fabric::Endpoint E>
Result<KeyMark> Session<E>::mark_once(std::string_view key, bool& past) {
  const Location location = place(key);
  return with_access(location.rank, [&](auto access) -> Result<KeyMark> {
    auto grant = lock_place(location, locks::Mode::kRead);
    if (!grant.ok()) return grant.status();
    Found found;
    KeyMark mark;
    Code code = Code::kOk;
    {
      const Hold held(*this, location.rank, location.stripe, *grant);
      code = locate(access, location, key, found, line_of(*grant));
      mark = mark_of(access, location, found);
    }
    if (until_look_ == 0) weigh(location.rank, location.stripe);
    give_back_buffers();
    if (code != Code::kOk) return Status(code);
    past = found.expired;
    return mark;
  });
}

template <fabric::Endpoint E>
Status Session<E>::transact(std::span<const std::string_view> keys, const TransactionBody& body) {
  const auto decide = [&](std::span<ElementDraft> drafts) {
    return decide_on_values(drafts, body);
  };
  return modify_all(keys, decide, {});
}

template <fabric::Endpoint E>
Status Session<E>::modify_all(std::span<const std::string_view> keys, ElementsBody body,
                              const ModifyAllOptions& options) {
  KW_CHECK(options.unchanged_since.size() <= keys.size());
  if (auto status = check_named_once(keys); !status.ok()) return status;
  auto placed = place_all(keys, std::identity());
  if (!placed.ok()) return placed.status();
  return with_room(*placed, [&] { return modify_all_once(*placed, keys, body, options); });
}

template <fabric::Endpoint E>
Status Session<E>::modify_all_once(std::span<const Location> locations,
                                   std::span<const std::string_view> keys, ElementsBody body,
                                   const ModifyAllOptions& options) {
  StripeSet stripes(*this, locations);
  const locks::Mode mode = options.reads_only ? locks::Mode::kRead : locks::Mode::kWrite;
  if (auto status = stripes.acquire(mode); !status.ok()) return status;
  std::vector<ElementDraft> drafts(keys.size());
  if (auto status = draft_all(locations, keys, options.unchanged_since, drafts); !status.ok()) {
    return status;
  }
  if (!body(drafts)) return {Code::kMismatch, "the transaction's body declined to commit"};
  if (!options.reads_only) return write_drafts(locations, keys, drafts);
  KW_CHECK(std::none_of(drafts.begin(), drafts.end(), [](const auto& d) { return d.changed(); }));
  return {};
}

/// Copies the elements; kMismatch where a key's mark is another one than was given.
template <fabric::Endpoint E>
Status Session<E>::draft_all(std::span<const Location> locations,
                             std::span<const std::string_view> keys, std::span<const KeyMark> marks,
                             std::span<ElementDraft> drafts) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    fabric::this_fiber::give_turn_if_due(i);
    const Code code = with_access(locations[i].rank, [&](auto access) {
      Found found;
      const Code located = locate(access, locations[i], keys[i], found);
      if (located != Code::kOk) return located;
      if (i < marks.size() && mark_of(access, locations[i], found) != marks[i]) {
        return Code::kMismatch;
      }
      if (!found.live()) return Code::kOk;
      ElementPart part;
      const Code shown = show(access, locations[i].rank, found, ValueRange::whole(), part);
      if (shown == Code::kOk) {
        std::string value;
        assign_in_parts(value, part.bytes);
        drafts[i] = ElementDraft({std::move(value), part.expires_at_ms});
      }
      return shown;
    });
    if (code == Code::kMismatch) return {code, "a key has changed since it was looked at"};
    if (code != Code::kOk) return Status(code);
  }
  return {};
}

/// Writes and erases what the drafts say, all or nothing (K3).
template <fabric::Endpoint E>
Status Session<E>::write_drafts(std::span<const Location> locations,
                                std::span<const std::string_view> keys,
                                std::span<const ElementDraft> drafts) {
  std::vector<Location> places;
  std::vector<std::size_t> changed;
  std::vector<PlannedWrite> writes;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const ElementDraft& draft = drafts[i];
    if (!draft.changed()) continue;
    places.push_back(locations[i]);
    changed.push_back(i);
    if (!draft.there()) continue;
    const std::uint64_t bytes = draft->value.size();
    if (auto status = check_value(bytes); !status.ok()) return status;
    writes.push_back({locations[i], keys[i], bytes, draft->expires_at_ms != kNoExpiry});
  }
  if (auto status = reserve_writes(writes); !status.ok()) return status;
  const auto key_of = [&](std::size_t i) { return keys[i]; };
  return mutate_all(places, changed, key_of, [&](std::size_t n, const ElementPart* old) {
    const ElementDraft& draft = drafts[changed[n]];
    if (draft.there()) return Decision::write(draft->value, draft->expires_at_ms);
    return old != nullptr ? Decision::erase() : Decision();
  });
}

}  // namespace keyway::store
