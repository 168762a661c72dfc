// The account of every rank's volume at rest (volumes.h), through the client library.
#pragma once

#include <fmt/core.h>
#include <catch2/catch.hpp>

#include <optional>
#include <span>
#include <string>

#include "keyway/client/client.h"
#include "tests/store/volumes.h"

namespace keyway::test {

/// The URI of the server with all stores, or nothing: stores in this process.
inline std::string& elsewhere() {
  static std::string uri;
  return uri;
}

/// Walks every rank with `walker`, while no session works. `sessions` are the open ones, the walker
/// among them.
inline void check_heap(Store& store, Session& walker, std::span<Session* const> sessions) {
  if (!elsewhere().empty()) return;  // the server's heap is its own business
  std::uint64_t elements = 0;
  for (std::uint32_t rank = 0; rank < store.ranks(); ++rank) {
    const auto report = walker.inspector().report(rank);
    INFO(report.status().message());
    REQUIRE(report.ok());
    std::uint64_t leased = 0;
    for (Session* session : sessions) leased += session->inspector().leased_bytes(rank);
    CAPTURE(rank);
    check_volume(*report, walker.inspector().usage(rank), leased);
    elements += report->elements;
  }
  CHECK(*walker.size() == elements);
}
inline void check_heap(Store& store, Session& only) {
  Session* const one[] = {&only};
  check_heap(store, only, one);
}

/// An empty store; a store on a server keeps its own shape.
inline Store open_local(std::string_view uri) {
  auto store = Store::open(elsewhere().empty() ? uri : elsewhere());
  INFO(uri << ": " << store.status().message());
  REQUIRE(store.ok());
  if (!elsewhere().empty()) REQUIRE(store->session()->clear().ok());
  return std::move(*store);
}
inline Session session_of(Store& store) {
  auto session = store.session();
  INFO(session.status().message());
  REQUIRE(session.ok());
  return std::move(*session);
}

/// "key 17"
inline std::string named(std::string_view what, std::uint64_t number) {
  return fmt::format("{}{}", what, number);
}

/// Bytes that depend on their place, so that a mixed-up value shows.
inline std::string pattern(std::size_t bytes, std::uint64_t seed) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) {
    text[i] = static_cast<char>((seed * 131 + i * 7 + i / 251) & 0xff);
  }
  return text;
}

}  // namespace keyway::test
