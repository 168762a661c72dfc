// Edits: the operations that change one key, as data. An edit can be carried out where it is asked
// for, or travel to the key's owner.
//
// *What.* Each has its arguments, says which part of the old value it wants to see, and decides on
// what it is shown. Some have a result, a number. EditArguments is any of them, in one form.
// *Thread safety.* Values. Their views live as long as the caller's.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "keyway/kvstore/types/decisions.h"
#include "keyway/kvstore/types/types.h"
#include "keyway/locks/base/text_values.h"

namespace keyway::store {

enum class EditKind : std::uint8_t {
  kPut = 1,
  kErase,
  kIncrement,
  kAppend,
  kSetRange,
  kCompareAndSet,
  kRead = 64,  // no edit: travels like one
};

/// The arguments of an edit of any kind; those that a kind has not are empty.
struct EditArguments {
  EditKind kind = EditKind::kPut;
  PutIf when = PutIf::kAlways;
  bool keep_expiry = false;
  std::uint64_t number = 0;   // expiry, delta or offset
  std::string_view bytes;     // value, suffix or part
  std::string_view expected;  // value of kCompareAndSet
};

struct PutEdit {
  static constexpr ValueRange kShown = ValueRange::none();
  std::string_view value;
  PutOptions options;
  std::uint64_t result = 0;

  Decision decide(const ElementPart* old) const { return decide_put(old, value, options); }
  EditArguments arguments() const {
    return {.kind = EditKind::kPut,
            .when = options.when,
            .keep_expiry = options.keep_expiry,
            .number = options.expires_at_ms,
            .bytes = value};
  }
  static PutEdit of(const EditArguments& a) {
    return {.value = a.bytes,
            .options = {.when = a.when, .expires_at_ms = a.number, .keep_expiry = a.keep_expiry}};
  }
};

struct EraseEdit {
  static constexpr ValueRange kShown = ValueRange::none();
  std::uint64_t result = 0;

  Decision decide(const ElementPart* old) const { return decide_erase(old); }
  EditArguments arguments() const { return {.kind = EditKind::kErase}; }
  static EraseEdit of(const EditArguments&) { return {}; }
};

/// `result`: the sum, as a signed number.
struct IncrementEdit {
  static constexpr ValueRange kShown = ValueRange::whole();
  std::int64_t delta = 0;
  std::uint64_t result = 0;
  std::array<char, 24> digits{};

  Decision decide(const ElementPart* old) {
    std::int64_t before = 0;
    if (old != nullptr) {
      if (old->bytes.size() > digits.size()) return Decision::fail(Code::kNotANumber);
      const auto number = whole_number<std::int64_t>(old->bytes);
      // As Redis: "007" and "-0" are texts.
      if (!number || written(*number) != old->bytes) return Decision::fail(Code::kNotANumber);
      before = *number;
    }
    std::int64_t sum = 0;
    if (__builtin_add_overflow(before, delta, &sum)) return Decision::fail(Code::kOverflow);
    result = static_cast<std::uint64_t>(sum);
    return Decision::write(written(sum), expiry_of(old));
  }
  std::string_view written(std::int64_t number) {
    const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return {digits.data(), end};
  }
  EditArguments arguments() const {
    return {.kind = EditKind::kIncrement, .number = static_cast<std::uint64_t>(delta)};
  }
  static IncrementEdit of(const EditArguments& a) {
    return {.delta = static_cast<std::int64_t>(a.number)};
  }
};

/// `result`: the length of the value.
struct AppendEdit {
  static constexpr ValueRange kShown = ValueRange::none();
  std::string_view suffix;
  std::uint64_t result = 0;

  Decision decide(const ElementPart* old) {
    const Decision decision = decide_append(old, suffix);
    result = decision.offset + suffix.size();
    return decision;
  }
  EditArguments arguments() const { return {.kind = EditKind::kAppend, .bytes = suffix}; }
  static AppendEdit of(const EditArguments& a) { return {.suffix = a.bytes}; }
};

/// `result`: the length of the value.
struct SetRangeEdit {
  static constexpr ValueRange kShown = ValueRange::none();
  std::uint64_t offset = 0;
  std::string_view bytes;
  PutIf when = PutIf::kAlways;
  std::uint64_t result = 0;

  Decision decide(const ElementPart* old) {
    const Decision decision = decide_set_range(old, offset, bytes, when);
    result = overwritten_bytes(old != nullptr ? old->value_bytes : 0, decision);
    return decision;
  }
  EditArguments arguments() const {
    return {.kind = EditKind::kSetRange, .when = when, .number = offset, .bytes = bytes};
  }
  static SetRangeEdit of(const EditArguments& a) {
    return {.offset = a.number, .bytes = a.bytes, .when = a.when};
  }
};

struct CompareAndSetEdit {
  static constexpr ValueRange kShown = ValueRange::whole();
  std::string_view expected;
  std::string_view value;
  std::uint64_t result = 0;

  Decision decide(const ElementPart* old) const {
    return decide_compare_and_set(old, expected, value);
  }
  EditArguments arguments() const {
    return {.kind = EditKind::kCompareAndSet, .bytes = value, .expected = expected};
  }
  static CompareAndSetEdit of(const EditArguments& a) {
    return {.expected = a.expected, .value = a.bytes};
  }
};

/// Calls use(edit) with the edit of these arguments; false if there is no such kind.
template <class Use>
bool with_edit(const EditArguments& arguments, Use&& use) {
  const auto as = [&]<class Edit>(Edit edit) {
    use(edit);
    return true;
  };
  switch (arguments.kind) {
    case EditKind::kPut: return as(PutEdit::of(arguments));
    case EditKind::kErase: return as(EraseEdit::of(arguments));
    case EditKind::kIncrement: return as(IncrementEdit::of(arguments));
    case EditKind::kAppend: return as(AppendEdit::of(arguments));
    case EditKind::kSetRange: return as(SetRangeEdit::of(arguments));
    case EditKind::kCompareAndSet: return as(CompareAndSetEdit::of(arguments));
    case EditKind::kRead: return false;
  }
  return false;
}

}  // namespace keyway::store
