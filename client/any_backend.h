// AnyBackend: one of the back-ends of this build, and the one that opens a URI. Internal.
#pragma once

#include <fmt/core.h>

#include <memory>
#include <optional>
#include <string_view>
#include <variant>

#include "keyway/client/backends.h"

namespace keyway::client {

template <class... Backends>
struct OneOf {
  using Store = std::variant<Backends...>;
  using Session = std::variant<std::unique_ptr<typename Backends::Session>...>;

  static Result<Store> open(std::string_view uri, const Result<ParsedUri>& parsed) {
    std::optional<Result<Store>> opened;
    (try_open<Backends>(opened, uri, parsed) || ...);
    if (opened) return std::move(*opened);
    if (!parsed.ok()) return parsed.status();
    return Status(Code::kUnsupported,
                  fmt::format("this build of Keyway has no back-end for {}:; configure with "
                              "KEYWAY_MPI=mpich or openmpi for mpi:",
                              parsed->scheme));
  }

 private:
  template <class Backend>
  static bool try_open(std::optional<Result<Store>>& opened, std::string_view uri,
                       const Result<ParsedUri>& parsed) {
    if (!Backend::serves(uri)) return false;
    auto backend = Backend::open(uri, parsed);
    if (backend.ok()) {
      opened.emplace(Store(std::move(*backend)));
    } else {
      opened.emplace(backend.status());
    }
    return true;
  }
};

using BuiltBackends = Backends<OneOf>;
using AnyBackend = BuiltBackends::Store;
using AnySession = BuiltBackends::Session;

}  // namespace keyway::client
