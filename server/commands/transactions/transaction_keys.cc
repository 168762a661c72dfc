#include "keyway/server/commands/transactions/transaction_keys.h"

#include <algorithm>

#include "keyway/kvstore/key_operations_impl.h"
#include "keyway/kvstore/types/decisions.h"
#include "keyway/locks/base/check.h"
#include "keyway/locks/fabric/time_slice.h"

namespace keyway::server {
TransactionKeys::TransactionKeys(std::span<const std::string_view> keys,
                                 std::span<ElementDraft> drafts, Session& session)
    : session_(session) {
  KW_CHECK(keys.size() == drafts.size());
  places_.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) places_.push_back({keys[i], &drafts[i]});
  std::sort(places_.begin(), places_.end(),
            [](const Place& a, const Place& b) { return a.key < b.key; });
}

Result<ElementDraft*> TransactionKeys::draft_of(std::string_view key) {
  const auto at = std::lower_bound(
      places_.begin(), places_.end(), key,
      [](const Place& place, std::string_view wanted) { return place.key < wanted; });
  if (at != places_.end() && at->key == key) return at->draft;
  return Status(Code::kUnsupported, "a transaction cannot use this key");
}

namespace {

/// The part of an element that this range of its value names.
ElementPart part_of(const Element& element, ValueRange range) {
  const std::string_view value = element.value;
  range = range.cut(value.size());
  return {value.substr(range.offset, range.length), value.size(), element.expires_at_ms};
}

ElementDraft copy_of(const Element& element) {
  return ElementDraft({fabric::copy_in_parts(element.value), element.expires_at_ms});
}

}  // namespace

/// As Redis has it: X1.
bool TransactionKeys::is_live(const ElementDraft& draft) const {
  return draft.there() &&
         (draft->expires_at_ms == store::kNoExpiry || draft->expires_at_ms > now_ms());
}

Status TransactionKeys::read_key(std::string_view key, RangeOf range_of, PartReader use) {
  const auto draft = draft_of(key);
  if (!draft.ok()) return draft.status();
  if (!is_live(**draft)) return Status(Code::kNotFound);
  use(part_of(***draft, range_of((**draft)->value.size())));
  return {};
}

Result<ElementInfo> TransactionKeys::info(std::string_view key) {
  ElementInfo info;
  const Status status = read(key, [&](const ElementState& element) {
    info = {element.value.size(), element.expires_at_ms, now_ms()};
  });
  if (!status.ok()) return status;
  return info;
}

Status TransactionKeys::mutate_key(std::string_view key, ValueRange range, PartMutator mutate) {
  const auto found = draft_of(key);
  if (!found.ok()) return found.status();
  ElementDraft& draft = **found;
  const bool live = is_live(draft);
  const ElementPart old = live ? part_of(*draft, range) : ElementPart();
  return carry_out(mutate(live ? &old : nullptr), draft, live);
}

/// Carries out a decision on a draft, as the store's session does on an element.
Status TransactionKeys::carry_out(const Decision& decision, ElementDraft& draft, bool live) {
  switch (decision.action) {
    case Decision::Action::kWrite:
      if (Status status = store::check_value(decision.value.size()); !status.ok()) return status;
      draft.write(fabric::copy_in_parts(decision.value), decision.expires_at_ms);
      return {};
    case Decision::Action::kOverwrite: {
      Status status = store::check_overwrite(live ? draft->value.size() : 0, decision);
      if (!status.ok()) return status;
      draft.overwrite(decision, live, fabric::kSlices);
      return {};
    }
    case Decision::Action::kErase: draft.erase(); break;
    case Decision::Action::kNothing: break;
  }
  return Status(decision.code);
}

Status TransactionKeys::read_all(std::span<const std::string_view> keys, ElementsReader reader) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Status status = read(keys[i], [&](const ElementState& element) { reader(i, &element); });
    if (status == Code::kNotFound) {
      reader(i, nullptr);
    } else if (!status.ok()) {
      return status;
    }
  }
  return {};
}

/// All keys are looked at before one is written.
Status TransactionKeys::put_all(std::span<const KeyValue> pairs, const PutOptions& options) {
  for (const auto& [key, value] : pairs) {
    if (Status status = store::check_key(key); !status.ok()) return status;
    const auto draft = draft_of(key);
    if (!draft.ok()) return draft.status();
    const Code code = store::check_presence(options.when, is_live(**draft));
    if (code != Code::kOk) return Status(code);
  }
  const PutOptions written{.expires_at_ms = options.expires_at_ms,
                           .keep_expiry = options.keep_expiry};
  for (const auto& [key, value] : pairs) {
    if (Status status = put(key, value, written); !status.ok()) return status;
  }
  return {};
}

Result<std::uint64_t> TransactionKeys::erase_all(std::span<const std::string_view> keys) {
  std::uint64_t erased = 0;
  for (const std::string_view key : keys) {
    const Status status = erase(key);
    if (!status.ok() && status.code() != Code::kNotFound) return status;
    erased += status.ok() ? 1 : 0;
  }
  return erased;
}

Status TransactionKeys::modify_all(std::span<const std::string_view> keys, ElementsBody body,
                                   const store::ModifyAllOptions& options) {
  KW_CHECK(options.unchanged_since.empty());
  std::vector<ElementDraft*> shared;
  std::vector<ElementDraft> drafts;
  for (const std::string_view key : keys) {
    const auto draft = draft_of(key);
    if (!draft.ok()) return draft.status();
    shared.push_back(*draft);
    drafts.push_back(is_live(**draft) ? copy_of(***draft) : ElementDraft());
  }
  if (!body(drafts)) return {Code::kMismatch, "the command's body declined to commit"};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!drafts[i].changed()) continue;
    if (!drafts[i].there()) {
      shared[i]->erase();
    } else {
      if (Status status = store::check_value(drafts[i]->value.size()); !status.ok()) return status;
      shared[i]->write(fabric::copy_in_parts(drafts[i]->value), drafts[i]->expires_at_ms);
    }
  }
  return {};
}

}  // namespace keyway::server

namespace keyway::store {

template class KeyOperations<server::TransactionKeys>;

}  // namespace keyway::store
