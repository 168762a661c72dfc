// Elements beside those of a history: they come and go, so that the chains of buckets grow and
// shrink, and their one owner knows the right state of each.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "keyway/locks/base/rng.h"
#include "keyway/locks/base/status.h"

namespace keyway::test {

template <class S>
class Neighbours {
 public:
  Neighbours(S& session, std::uint32_t agent)
      : session_(session), prefix_(fmt::format("neighbour {} ", agent)) {}

  /// Writes, erases or reads one of them. Returns the error, or nothing. `may_give_up`: an
  /// operation may time out, and then has done nothing, or be in doubt, and then nobody knows the
  /// state of its key any more.
  std::optional<std::string> act(Rng& rng, bool may_give_up) {
    const std::string key = prefix_ + std::to_string(rng.below(kKeys));
    if (in_doubt_.contains(key)) return std::nullopt;
    const auto known = model_.find(key);
    switch (rng.below(4)) {
      case 0: {
        const Status status = session_.erase(key);
        if (gave_up(key, status, may_give_up)) return std::nullopt;
        if (status.ok() != (known != model_.end())) return said("erase", key, status);
        if (known != model_.end()) model_.erase(known);
        return std::nullopt;
      }
      case 1: {
        std::string value;
        const Status status = session_.get(key, value);
        if (gave_up(key, status, may_give_up)) return std::nullopt;
        if (status.ok() != (known != model_.end())) return said("get", key, status);
        if (status.ok() && value != known->second) return said("get: another value", key, status);
        return std::nullopt;
      }
      default: {
        constexpr std::array<std::size_t, 4> kSizes{2, 30, 300, 3};
        std::string value(kSizes[rng.below(kSizes.size())], static_cast<char>('a' + rng.below(26)));
        const Status status = session_.put(key, value, {});
        if (gave_up(key, status, may_give_up)) return std::nullopt;
        if (!status.ok()) return said("put", key, status);
        model_[key] = std::move(value);
        return std::nullopt;
      }
    }
  }

  // A scan by the owner: the elements that it shows, and those that it omits.
  void begin_scan() { shown_.clear(); }
  std::optional<std::string> shown(std::string_view key, std::string_view value) {
    if (!key.starts_with(prefix_) || in_doubt_.contains(std::string(key))) return std::nullopt;
    const auto known = model_.find(std::string(key));
    if (known == model_.end()) return fmt::format("a scan shows {}, which is not there", key);
    if (known->second != value) return fmt::format("a scan shows another value of {}", key);
    shown_.insert(known->first);
    return std::nullopt;
  }
  std::optional<std::string> missed() const {
    for (const auto& [key, value] : model_) {
      if (!shown_.contains(key)) return fmt::format("a scan misses {}", key);
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint64_t kKeys = 16;

  bool gave_up(const std::string& key, const Status& status, bool may) {
    if (!may) return false;
    if (status.code() == Code::kInDoubt) {
      model_.erase(key);
      return in_doubt_.insert(key).second;
    }
    return status.code() == Code::kTimeout;
  }
  static std::string said(std::string_view what, std::string_view key, const Status& status) {
    return fmt::format("{} of {}: {}", what, key, status.ok() ? "ok" : status.message());
  }

  S& session_;
  std::string prefix_;
  std::map<std::string, std::string> model_;
  std::set<std::string> shown_;
  std::set<std::string> in_doubt_;
};

}  // namespace keyway::test
