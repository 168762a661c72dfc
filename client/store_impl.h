// Store::Impl: an open store on whichever fabric. Internal.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "keyway/client/any_backend.h"

namespace keyway {

struct Store::Impl {
  explicit Impl(client::AnyBackend opened) : backend(std::move(opened)) {}

  client::AnyBackend backend;
  std::atomic<std::uint32_t> next_rank{0};
  std::atomic<bool> asked_to_end{false};  // by this process
};

namespace client {

/// Makes a Store of a backend, however that was opened.
struct StoreMaker {
  static Store make(AnyBackend backend) {
    return Store(std::make_unique<Store::Impl>(std::move(backend)));
  }
};

}  // namespace client
}  // namespace keyway
