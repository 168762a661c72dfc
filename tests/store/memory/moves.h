// A write that finds room only where elements of a remote rank are moved, and no memory on the way.
#pragma once

#include <map>
#include <string>

#include "far_store.h"

namespace keyway::test {

/// Elements that fill the heap of rank 1, except for those that are erased: a few in each chunk.
template <class Store>
std::map<std::string, std::string> leave_holes(Store& store) {
  std::map<std::string, std::string> kept;
  for (std::uint64_t i = 0;; ++i) {
    const std::string key = store.key(1, fmt::format("small {}", i));
    const std::string value = fmt::format("{:2700}", i);
    const Status status = store.walker().put(key, value, {});
    if (status == Code::kOutOfSpace) break;
    REQUIRE(status.ok());
    kept[key] = value;
  }
  std::uint64_t number = 0;
  std::erase_if(kept, [&](const auto& each) {
    return number++ % 6 != 0 && store.walker().erase(each.first).ok();
  });
  return kept;
}

/// K3, H5: the write is done or not done, no element changes by a move, and no block is lost.
template <class Store, class Make>
void check_move_without_memory(Make&& make) {
  std::uint64_t moved = 0;
  bool failed = true;
  for (long number = 0; failed; ++number) {
    CAPTURE(number);
    REQUIRE(number < Store::kMaxAllocations);
    Store store(make, {.memory_bytes = 1 << 20, .buckets = 64});
    const auto kept = leave_holes(store);
    std::map<std::string, std::string> news;  // more than free chunks have room for
    for (int i = 0; i < 90; ++i) {
      news[store.key(1, fmt::format("large {}", i))] =
          std::string(5000, static_cast<char>('a' + i % 26));
    }
    {
      const auto session = store.session();
      const auto put = [&](auto& writer) {
        Status status;
        for (auto at = news.begin(); at != news.end() && status.ok(); ++at) {
          status = writer.put(at->first, at->second, {});
        }
        return status;
      };
      const auto status = store.attempt(*session, put, number);
      failed = FailingMemory::failed();
      CHECK((failed || (status && status->ok())));
      moved += session->moved();
    }
    store.check();
    std::string value;
    for (const auto& [key, expected] : kept) {
      REQUIRE(store.walker().get(key, value).ok());
      REQUIRE(value == expected);
    }
    for (const auto& [key, expected] : news) {
      const Status read = store.walker().get(key, value);
      REQUIRE((read.ok() ? value == expected : failed && read == Code::kNotFound));
    }
  }
  CHECK(moved > 0);
}

}  // namespace keyway::test
