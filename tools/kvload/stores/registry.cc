#include "stores/registry.h"

#include "keyway/kvload/built_stores.h"

namespace keyway::kvload {

std::vector<StoreKind> store_kinds() {
  std::vector<StoreKind> all;
  for (const auto& stores : kBuiltStores) {
    for (const StoreKind& kind : stores()) all.push_back(kind);
  }
  return all;
}

std::optional<StoreKind> find_store(std::string_view uri) {
  const std::size_t colon = uri.find(':');
  for (const StoreKind& kind : store_kinds()) {
    if (colon != std::string_view::npos && uri.substr(0, colon) == kind.scheme) return kind;
  }
  return std::nullopt;
}

}  // namespace keyway::kvload
