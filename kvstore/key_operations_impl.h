// The bodies of KeyOperations<Keys>.
#pragma once

#include "keyway/kvstore/key_operations.h"
#include "keyway/kvstore/types/decisions.h"
#include "keyway/kvstore/types/edits.h"
#include "keyway/locks/fabric/time_slice.h"

namespace keyway::store {

template <class Keys>
Status KeyOperations<Keys>::get(std::string_view key, std::string& out) {
  return keys().read_key(
      key, whole_value, [&](const ElementPart& part) { fabric::assign_in_parts(out, part.bytes); });
}

template <class Keys>
Status KeyOperations<Keys>::read(std::string_view key, Reader reader) {
  return keys().read_key(key, whole_value, [&](const ElementPart& part) {
    reader({part.bytes, part.expires_at_ms});
  });
}

template <class Keys>
Status KeyOperations<Keys>::read_part(std::string_view key, RangeOf range_of, PartReader reader) {
  return keys().read_key(key, range_of, reader);
}

template <class Keys>
Status KeyOperations<Keys>::get_range(std::string_view key, std::uint64_t offset,
                                      std::uint64_t length, std::string& out) {
  const auto range_of = [&](std::uint64_t) { return ValueRange{offset, length}; };
  return keys().read_key(
      key, range_of, [&](const ElementPart& part) { fabric::assign_in_parts(out, part.bytes); });
}

template <class Keys>
Status KeyOperations<Keys>::put(std::string_view key, std::string_view value,
                                const PutOptions& options) {
  PutEdit edit{.value = value, .options = options};
  return keys().edit_key(key, edit);
}

template <class Keys>
Status KeyOperations<Keys>::compare_and_set(std::string_view key, std::string_view expected,
                                            std::string_view value) {
  CompareAndSetEdit edit{.expected = expected, .value = value};
  return keys().edit_key(key, edit);
}

template <class Keys>
Status KeyOperations<Keys>::erase(std::string_view key) {
  EraseEdit edit;
  return keys().edit_key(key, edit);
}

template <class Keys>
Result<std::int64_t> KeyOperations<Keys>::increment(std::string_view key, std::int64_t delta) {
  IncrementEdit edit{.delta = delta};
  if (Status status = keys().edit_key(key, edit); !status.ok()) return status;
  return static_cast<std::int64_t>(edit.result);
}

template <class Keys>
Result<std::uint64_t> KeyOperations<Keys>::append(std::string_view key, std::string_view suffix) {
  AppendEdit edit{.suffix = suffix};
  if (Status status = keys().edit_key(key, edit); !status.ok()) return status;
  return edit.result;
}

template <class Keys>
Result<std::uint64_t> KeyOperations<Keys>::set_range(std::string_view key, std::uint64_t offset,
                                                     std::string_view bytes, PutIf when) {
  if (offset > kMaxValueBytes) return check_value(offset);
  if (Status status = check_value(offset + bytes.size()); !status.ok()) return status;
  SetRangeEdit edit{.offset = offset, .bytes = bytes, .when = when};
  if (Status status = keys().edit_key(key, edit); !status.ok()) return status;
  return edit.result;
}

template <class Keys>
template <class Edit>
Status KeyOperations<Keys>::edit_key(std::string_view key, Edit& edit) {
  return keys().mutate_key(key, Edit::kShown,
                           [&](const ElementPart* old) { return edit.decide(old); });
}

template <class Keys>
Status KeyOperations<Keys>::modify(std::string_view key, Mutator mutate) {
  return keys().mutate_key(key, ValueRange::whole(), [&](const ElementPart* old) -> Decision {
    if (old == nullptr) return mutate(nullptr);
    const ElementState state{old->bytes, old->expires_at_ms};
    return mutate(&state);
  });
}

template <class Keys>
Status KeyOperations<Keys>::modify_part(std::string_view key, ValueRange range,
                                        PartMutator mutate) {
  return keys().mutate_key(key, range, mutate);
}

template <class Keys>
Status KeyOperations<Keys>::get_all(std::span<const std::string_view> keys,
                                    std::vector<std::optional<std::string>>& out) {
  out.assign(keys.size(), std::nullopt);
  return this->keys().read_all(keys, [&](std::size_t i, const ElementState* element) {
    if (element != nullptr) out[i].emplace(fabric::copy_in_parts(element->value));
  });
}

template <class Keys>
Status KeyOperations<Keys>::transact(std::span<const std::string_view> keys,
                                     const TransactionBody& body) {
  const auto decide = [&](std::span<ElementDraft> drafts) {
    return decide_on_values(drafts, body);
  };
  return this->keys().modify_all(keys, decide, {});
}

}  // namespace keyway::store
