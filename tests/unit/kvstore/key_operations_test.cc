// KeyOperations on keys that are a map: every operation comes from the primitives alone.
#include "keyway/kvstore/key_operations.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/kvstore/key_operations_impl.h"

using namespace keyway;
using namespace keyway::store;

namespace {

class MapKeys : public KeyOperations<MapKeys> {
 public:
  template <class Range, class Use>
  Status read_key(std::string_view key, Range&& range_of, Use&& use) {
    const auto at = elements.find(std::string(key));
    if (at == elements.end()) return Status(Code::kNotFound);
    use(part_of(at->second, range_of(at->second.value.size())));
    return {};
  }
  template <class Mutate>
  Status mutate_key(std::string_view key, ValueRange range, Mutate&& mutate) {
    const auto at = elements.find(std::string(key));
    const bool there = at != elements.end();
    const ElementPart old = there ? part_of(at->second, range) : ElementPart();
    const Decision decision = mutate(there ? &old : nullptr);
    if (decision.action == Decision::Action::kErase) {
      elements.erase(at);
      return Status(decision.code);
    }
    ElementDraft draft = there ? ElementDraft(at->second) : ElementDraft();
    if (decision.action == Decision::Action::kWrite) {
      draft.write(std::string(decision.value), decision.expires_at_ms);
    } else if (decision.action == Decision::Action::kOverwrite) {
      draft.overwrite(decision, there);
    }
    if (draft.changed()) elements[std::string(key)] = *draft;
    return Status(decision.code);
  }
  Status read_all(std::span<const std::string_view> keys, ElementsReader reader) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Status status =
          read(keys[i], [&](const ElementState& element) { reader(i, &element); });
      if (!status.ok()) reader(i, nullptr);
    }
    return {};
  }
  Status modify_all(std::span<const std::string_view> keys, ElementsBody body,
                    const ModifyAllOptions&) {
    std::vector<ElementDraft> drafts;
    for (const std::string_view key : keys) {
      const auto at = elements.find(std::string(key));
      drafts.push_back(at != elements.end() ? ElementDraft(at->second) : ElementDraft());
    }
    if (!body(drafts)) return Status(Code::kMismatch);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!drafts[i].changed()) continue;
      elements.erase(std::string(keys[i]));
      if (drafts[i].there()) elements[std::string(keys[i])] = *drafts[i];
    }
    return {};
  }

  std::map<std::string, Element> elements;

 private:
  static ElementPart part_of(const Element& element, ValueRange range) {
    range = range.cut(element.value.size());
    return {std::string_view(element.value).substr(range.offset, range.length),
            element.value.size(), element.expires_at_ms};
  }
};

constexpr std::uint64_t kExpiry = 77;

std::string value_of(MapKeys& keys, std::string_view key) {
  std::string value;
  REQUIRE(keys.get(key, value).ok());
  return value;
}

}  // namespace

TEST_CASE("key operations: reads show the value, or a part of it") {
  MapKeys keys;
  std::string value = "as it was";
  CHECK(keys.get("k", value) == Code::kNotFound);
  CHECK(value == "as it was");
  keys.elements["k"] = {"0123456789", kExpiry};
  CHECK(value_of(keys, "k") == "0123456789");
  REQUIRE(keys.get_range("k", 8, 5, value).ok());
  CHECK(value == "89");
  REQUIRE(keys.get_range("k", 20, 5, value).ok());
  CHECK(value.empty());
  std::uint64_t expires = 0;
  REQUIRE(
      keys.read("k", [&](const ElementState& element) { expires = element.expires_at_ms; }).ok());
  CHECK(expires == kExpiry);
}

TEST_CASE("key operations: a put does as its options say") {
  MapKeys keys;
  CHECK(keys.put("k", "v", {.when = PutIf::kPresent}) == Code::kNotFound);
  REQUIRE(keys.put("k", "v", {.when = PutIf::kAbsent, .expires_at_ms = kExpiry}).ok());
  CHECK(keys.put("k", "w", {.when = PutIf::kAbsent}) == Code::kExists);
  REQUIRE(keys.put("k", "w", {.keep_expiry = true}).ok());
  CHECK(keys.elements["k"].expires_at_ms == kExpiry);
  REQUIRE(keys.put("k", "x").ok());
  CHECK(keys.elements["k"].expires_at_ms == kNoExpiry);
  REQUIRE(keys.erase("k").ok());
  CHECK(keys.erase("k") == Code::kNotFound);
}

TEST_CASE("key operations: what depends on the old value keeps the expiry") {
  MapKeys keys;
  CHECK(keys.compare_and_set("k", "v", "w") == Code::kNotFound);
  keys.elements["k"] = {"41", kExpiry};
  CHECK(keys.compare_and_set("k", "v", "w") == Code::kMismatch);
  CHECK(*keys.increment("k", 1) == 42);
  REQUIRE(keys.compare_and_set("k", "42", "ab").ok());
  CHECK(keys.increment("k", 1).code() == Code::kNotANumber);
  CHECK(*keys.append("k", "cd") == 4);
  CHECK(*keys.set_range("k", 6, "gh") == 8);
  CHECK(value_of(keys, "k") == std::string("abcd\0\0gh", 8));
  CHECK(keys.elements["k"].expires_at_ms == kExpiry);
  CHECK(keys.set_range("absent", 0, "x", PutIf::kPresent).code() == Code::kNotFound);
  CHECK(keys.set_range("k", kMaxValueBytes, "x").code() == Code::kInvalidArgument);
  CHECK(*keys.increment("new", -9) == -9);
}

TEST_CASE("key operations: several keys in one step") {
  MapKeys keys;
  keys.elements["a"] = {"1", kExpiry};
  keys.elements["b"] = {"2", kNoExpiry};
  const std::string_view names[] = {"a", "absent", "b"};
  std::vector<std::optional<std::string>> values;
  REQUIRE(keys.get_all(names, values).ok());
  CHECK(values == std::vector<std::optional<std::string>>{"1", std::nullopt, "2"});

  const auto swap = [](std::span<std::optional<std::string>> found) {
    std::swap(found[0], found[1]);
    return true;
  };
  REQUIRE(keys.transact(names, swap).ok());
  CHECK(value_of(keys, "absent") == "1");
  CHECK(!keys.elements.contains("a"));
  CHECK(keys.transact(names, [](auto) { return false; }) == Code::kMismatch);
}

TEST_CASE("key operations: an overwrite is the same in parts of any length") {
  static std::size_t pauses = 0;
  for (const std::size_t before : {0, 1, 10, 100}) {
    for (const std::size_t offset : {0, 5, 10, 150}) {
      const std::string old(before, 'o');
      const std::string bytes = "0123456789abcdefghijklmnopqrstuvwxyz";
      const Decision decision = Decision::overwrite(offset, bytes, kNoExpiry);
      std::string whole = old;
      overwrite(whole, decision);
      for (const std::size_t part : {1, 7, 36, 1000}) {
        std::string value = old;
        pauses = 0;
        overwrite(value, decision, {part, [] { ++pauses; }});
        CHECK(value == whole);
        CHECK(pauses >= (bytes.size() - 1) / part);
      }
      std::string expected = old + std::string(offset - std::min(offset, before), '\0');
      expected.replace(offset, bytes.size(), bytes);
      CHECK(whole == expected);
    }
  }
}
