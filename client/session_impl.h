// SessionImpl: a session on whichever fabric. Internal.
#pragma once

#include "keyway/client/any_backend.h"

namespace keyway {

struct SessionImpl {
  client::AnySession session;

  /// Calls use(session): a switch on the variant's index.
  template <class Use>
  decltype(auto) with(Use&& use) {
    return std::visit([&](auto& held) -> decltype(auto) { return use(*held); }, session);
  }
};

}  // namespace keyway
