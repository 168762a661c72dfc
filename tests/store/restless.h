// A session that changes the lock kinds of stripes at random, between its own operations.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/session.h"
#include "keyway/locks/base/rng.h"

namespace keyway::test {

/// The operations of the workloads, each after an occasional switch. S is the store's session.
template <class S>
class Restless {
 public:
  Restless(std::unique_ptr<S> session, const store::Geometry& geometry, std::uint64_t seed)
      : session_(std::move(session)), geometry_(geometry), rng_(seed) {}

  Status get(std::string_view key, std::string& out) { return stirred().get(key, out); }
  Status put(std::string_view key, std::string_view value, const store::PutOptions& options) {
    return stirred().put(key, value, options);
  }
  Status erase(std::string_view key) { return stirred().erase(key); }
  Status set_expiry(std::string_view key, std::uint64_t unix_ms) {
    return stirred().set_expiry(key, unix_ms);
  }
  Status compare_and_set(std::string_view key, std::string_view expected, std::string_view value) {
    return stirred().compare_and_set(key, expected, value);
  }
  Result<std::int64_t> increment(std::string_view key, std::int64_t delta) {
    return stirred().increment(key, delta);
  }
  Status modify(std::string_view key, store::Mutator mutate) {
    return stirred().modify(key, mutate);
  }
  template <class... Arguments>
  auto get_all(std::span<const std::string_view> keys, Arguments&&... arguments)
      -> decltype(std::declval<S&>().get_all(keys, std::forward<Arguments>(arguments)...)) {
    return stirred().get_all(keys, std::forward<Arguments>(arguments)...);
  }
  void get_many(std::span<const std::string_view> keys, std::span<std::string> out,
                std::span<Code> codes) {
    stirred().get_many(keys, out, codes);
  }
  std::uint64_t read_ahead(std::span<const std::string_view> keys) {
    return stirred().read_ahead(keys);
  }
  Status put_all(std::span<const std::pair<std::string_view, std::string_view>> pairs,
                 const store::PutOptions& options) {
    return stirred().put_all(pairs, options);
  }
  Result<std::uint64_t> erase_all(std::span<const std::string_view> keys) {
    return stirred().erase_all(keys);
  }
  Status exclusively(FunctionRef<void()> body) { return stirred().exclusively(body); }
  Result<std::uint64_t> sweep_expired(std::uint32_t rank) { return stirred().sweep_expired(rank); }
  Result<std::uint64_t> scan(std::uint64_t cursor, std::uint64_t limit,
                             const store::ElementSink& sink) {
    return stirred().scan(cursor, limit, sink);
  }
  Status clear() { return stirred().clear(); }
  Status transact(std::span<const std::string_view> keys, const store::TransactionBody& body) {
    return stirred().transact(keys, body);
  }

 private:
  S& stirred() {
    if (rng_.below(3) == 0) {
      const auto rank = static_cast<std::uint32_t>(rng_.below(session_->endpoint().ranks()));
      const std::uint64_t stripe = rng_.below(geometry_.stripes());
      const auto target = static_cast<locks::KindIndex>(rng_.below(geometry_.lock_kinds()));
      const Status status = session_->switch_kind(rank, stripe, target);
      KW_CHECK_MSG(status.ok(), "switch_kind", status.message());
    }
    return *session_;
  }

  std::unique_ptr<S> session_;
  const store::Geometry& geometry_;
  Rng rng_;
};

}  // namespace keyway::test
