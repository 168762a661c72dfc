// The semantics of the operations on a key, wherever its element is: in a volume, in a transaction,
// or on a server without such a command.
//
// *What.* Each is a mutator's decision on what it is shown (types.h). `Old` is a type with an
// expiry.
// *Thread safety.* Functions of their arguments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "keyway/kvstore/types/types.h"
#include "keyway/locks/base/parts.h"
#include "keyway/locks/base/status.h"

namespace keyway::store {

/// The sentences of the next two.
Status refuse_key(std::uint64_t bytes);
Status refuse_value(std::uint64_t bytes);
/// kInvalidArgument with a sentence.
inline Status check_key(std::string_view key) {
  return !key.empty() && key.size() <= kMaxKeyBytes ? Status() : refuse_key(key.size());
}
inline Status check_value(std::uint64_t bytes) {
  return bytes <= kMaxValueBytes ? Status() : refuse_value(bytes);
}
/// For a transaction, which names each key once.
Status check_named_once(std::span<const std::string_view> keys);

template <class Old>
std::uint64_t expiry_of(const Old* old) {
  return old != nullptr ? old->expires_at_ms : kNoExpiry;
}

/// kOk if `when` allows the write.
inline Code check_presence(PutIf when, bool there) {
  if (when == PutIf::kAbsent && there) return Code::kExists;
  if (when == PutIf::kPresent && !there) return Code::kNotFound;
  return Code::kOk;
}

template <class Old>
Decision decide_put(const Old* old, std::string_view value, const PutOptions& options) {
  const Code code = check_presence(options.when, old != nullptr);
  if (code != Code::kOk) return Decision::fail(code);
  const bool keep = options.keep_expiry && old != nullptr;
  return Decision::write(value, keep ? old->expires_at_ms : options.expires_at_ms);
}

inline Decision decide_compare_and_set(const ElementPart* old, std::string_view expected,
                                       std::string_view value) {
  if (old == nullptr) return Decision::fail(Code::kNotFound);
  if (old->bytes != expected) return Decision::fail(Code::kMismatch);
  return Decision::write(value, old->expires_at_ms);
}

template <class Old>
Decision decide_erase(const Old* old) {
  return old == nullptr ? Decision::fail(Code::kNotFound) : Decision::erase();
}

inline Decision decide_append(const ElementPart* old, std::string_view suffix) {
  return Decision::overwrite(old != nullptr ? old->value_bytes : 0, suffix, expiry_of(old));
}

inline Decision decide_set_range(const ElementPart* old, std::uint64_t offset,
                                 std::string_view bytes, PutIf when) {
  const Code code = check_presence(when, old != nullptr);
  if (code != Code::kOk) return Decision::fail(code);
  return Decision::overwrite(offset, bytes, expiry_of(old));
}

/// The length of a value of this many bytes after Decision::overwrite().
inline std::uint64_t overwritten_bytes(std::uint64_t value_bytes, const Decision& decision) {
  return std::max(value_bytes, decision.offset + decision.value.size());
}
/// Whether Decision::overwrite() is possible on a value of this many bytes.
Status check_overwrite(std::uint64_t value_bytes, const Decision& decision);
/// Decision::overwrite() of a value that is a string, in these parts.
void overwrite(std::string& value, const Decision& decision, const Parts& parts = {});

}  // namespace keyway::store
