// Writes of several keys, and of one, on ranks of which two are remote, that find no memory.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "far_store.h"

namespace keyway::test {

/// Each rank has an element in line, one in a block, one in a run, and an absent one. The other
/// ranks' elements come first, so that a write that is half done there shows.
template <class Store>
typename Store::Contents before_writes(const Store& store) {
  typename Store::Contents made;
  for (const std::uint32_t rank : {1u, 2u, 0u}) {
    made.emplace_back(store.key(rank, "i"), "inline");
    made.emplace_back(store.key(rank, "block"), std::string(200, 'b'));
    made.emplace_back(store.key(rank, "run"), std::string(40'000, 'r'));
    made.emplace_back(store.key(rank, "absent"), std::nullopt);
  }
  return made;
}
/// Each of them in a place of another kind.
template <class Contents>
Contents after_writes(const Contents& before) {
  const std::string values[] = {std::string(150, 'B'), std::string(70'000, 'R'), "short",
                                std::string(3000, 'N')};
  Contents made;
  for (std::size_t i = 0; i < before.size(); ++i) {
    made.emplace_back(before[i].first, values[i % std::size(values)]);
  }
  return made;
}
template <class Contents>
std::vector<std::pair<std::string_view, std::string_view>> pairs_of(const Contents& contents) {
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  for (const auto& [key, value] : contents) pairs.emplace_back(key, *value);
  return pairs;
}
template <class Contents>
std::vector<std::string_view> keys_of(const Contents& contents) {
  std::vector<std::string_view> keys;
  for (const auto& each : contents) keys.push_back(each.first);
  return keys;
}
template <class Contents>
Contents erased(Contents contents) {
  for (auto& each : contents) each.second.reset();
  return contents;
}

/// K3: `operate` does all that makes `after` of `before`, or nothing; and the accounts add up.
/// Returns how many allocations have failed.
template <class Store, class Operate>
long count_failures(Store& store, const typename Store::Contents& before,
                    const typename Store::Contents& after, Operate&& operate) {
  store.set(before);
  store.check();
  const auto judge = [&](const std::optional<Status>& status, bool failed) {
    const bool done = status && status->ok();
    CHECK((failed || done));
    CHECK(store.contents(before) == (done ? after : before));
    store.check();
    store.set(before);
  };
  return store.try_each(operate, judge);
}
/// The same of one that allocates.
template <class Store, class Operate>
void check_write(Store& store, const typename Store::Contents& before,
                 const typename Store::Contents& after, Operate&& operate) {
  CHECK(count_failures(store, before, after, operate) > 0);
}

template <class Store>
void check_put_all(Store& store) {
  const auto before = before_writes(store);
  const auto after = after_writes(before);
  const auto pairs = pairs_of(after);
  check_write(store, before, after, [&](auto& session) { return session.put_all(pairs, {}); });
  check_write(store, before, after,
              [&](auto& session) { return session.put_all(pairs, {.keep_expiry = true}); });
}

/// A written element is read again if its key is named again.
template <class Store>
void check_put_all_twice(Store& store) {
  const auto before = before_writes(store);
  auto after = before;
  after[1].second = std::string(30'000, '2');
  const std::string first(90'000, '1');
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  pairs.emplace_back(after[1].first, first);
  pairs.emplace_back(after[1].first, *after[1].second);
  check_write(store, before, after, [&](auto& session) { return session.put_all(pairs, {}); });
}

/// The same of a long key without an element: only the writes can make room for reading its head.
template <class Store>
void check_put_all_of_a_long_key(Store& store) {
  const std::string key = store.key(1, std::string(store::kMaxKeyBytes - 10, 'k'));
  const typename Store::Contents before = {{key, std::nullopt}};
  const typename Store::Contents after = {{key, std::string(200, '2')}};
  const std::string first(100, '1');
  const std::vector<std::pair<std::string_view, std::string_view>> pairs = {
      {key, first}, {key, *after[0].second}};
  check_write(store, before, after, [&](auto& session) { return session.put_all(pairs, {}); });
  store.set(before);
}

template <class Store>
void check_put_all_present(Store& store) {
  const auto before = before_writes(store);
  auto present = before;
  std::erase_if(present, [](const auto& each) { return !each.second; });
  auto after = present;
  for (auto& each : after) each.second = std::string(500, 'p');
  const auto pairs = pairs_of(after);
  check_write(store, present, after, [&](auto& session) {
    return session.put_all(pairs, {.when = store::PutIf::kPresent});
  });
}

template <class Store>
void check_erase_all(Store& store) {
  const auto before = before_writes(store);
  const auto keys = keys_of(before);
  check_write(store, before, erased(before),
              [&](auto& session) { return session.erase_all(keys).status(); });
}

/// Erases a key, and then a long key that shares its tag with a run. The session reads more bytes
/// of the run, to compare the keys, than the long key's own element has.
template <class Store>
void check_erase_all_of_a_twin(Store& store) {
  const std::string long_key = store.key(1, std::string(store::kMaxKeyBytes - 10, 'k'));
  const std::string run = store.twin(long_key);
  const std::string other = store.key(1, "other");
  const typename Store::Contents before = {{other, std::string(200, 'o')},
                                           {run, std::string(20'000, 'r')}};
  auto after = before;
  after[0].second.reset();
  const std::vector<std::string_view> keys = {other, long_key};
  check_write(store, before, after,
              [&](auto& session) { return session.erase_all(keys).status(); });
  store.set(erased(before));
}

/// Writes and erases in one step.
template <class Store>
void check_transact(Store& store) {
  const auto before = before_writes(store);
  auto after = after_writes(before);
  for (std::size_t i = 1; i < after.size(); i += 4) after[i].second.reset();
  const auto keys = keys_of(before);
  const store::TransactionBody body = [&](auto values) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = after[i].second;
    return true;
  };
  check_write(store, before, after, [&](auto& session) { return session.transact(keys, body); });
}

/// Writes of one key: each kind of element on a remote rank becomes one of each other kind.
template <class Store>
void check_puts(Store& store) {
  const auto all = before_writes(store);
  long failures = 0;  // a short value in a line needs no memory
  for (std::size_t i = 0; i < 4; ++i) {
    for (const std::size_t bytes : {3u, 300u, 50'000u}) {
      CAPTURE(all[i].first, bytes);
      const std::string value(bytes, 'v');
      const typename Store::Contents before = {all[i]};
      const typename Store::Contents after = {{all[i].first, value}};
      failures += count_failures(store, before, after, [&](auto& session) {
        return session.put(all[i].first, value, {});
      });
    }
  }
  CHECK(failures > 0);
}

}  // namespace keyway::test
