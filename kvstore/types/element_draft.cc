#include <string>
#include <utility>
#include <vector>

#include "keyway/kvstore/types/decisions.h"

namespace keyway::store {

void ElementDraft::overwrite(const Decision& decision, bool counts, const Parts& parts) {
  if (!counts) {  // the value comes first, so a lack of memory leaves the draft unchanged
    std::string value;
    store::overwrite(value, decision, parts);
    return write(std::move(value), decision.expires_at_ms);
  }
  store::overwrite(element_->value, decision, parts);
  element_->expires_at_ms = decision.expires_at_ms;
  changed_ = true;
}

bool decide_on_values(std::span<ElementDraft> drafts, const TransactionBody& body) {
  std::vector<std::optional<std::string>> values(drafts.size());
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    if (drafts[i].there()) values[i] = drafts[i]->value;
  }
  if (!body(values)) return false;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    ElementDraft& draft = drafts[i];
    if (!values[i]) {
      draft.erase();
    } else if (!draft.there() || draft->value != *values[i]) {
      draft.write(std::move(*values[i]), draft.there() ? draft->expires_at_ms : kNoExpiry);
    }
  }
  return true;
}

}  // namespace keyway::store
