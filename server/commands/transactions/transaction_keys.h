// TransactionKeys: the keys of a transaction while its commands run.
//
// *What.* Session::modify_all() has locked them and shows their elements as drafts; the operations
// on these are those of the store (KeyOperations).
// *Thread safety.* One transaction's.
// *Invariants.* X1 and X2 of command_session.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/client/client.h"
#include "keyway/kvstore/key_operations.h"

namespace keyway::server {

class TransactionKeys : public store::KeyOperations<TransactionKeys> {
 public:
  /// The drafts of these keys, in their order, as `session` has shown them. All outlive this.
  TransactionKeys(std::span<const std::string_view> keys, std::span<ElementDraft> drafts,
                  Session& session);

  /// Whether a key may be in the store at all. Redis has no bounds but those of any string.
  static bool is_storable(std::string_view key) {
    return !key.empty() && key.size() <= store::kMaxKeyBytes;
  }

  Result<ElementInfo> info(std::string_view key);
  Status read_all(std::span<const std::string_view> keys, ElementsReader reader);
  Status put_all(std::span<const KeyValue> pairs, const PutOptions& options);
  Result<std::uint64_t> erase_all(std::span<const std::string_view> keys);
  /// Marks have been compared as the transaction began.
  Status modify_all(std::span<const std::string_view> keys, ElementsBody body,
                    const store::ModifyAllOptions& options);
  std::uint64_t now_ms() const { return session_.now_ms(places_.front().key); }

 private:
  friend store::KeyOperations<TransactionKeys>;
  struct Place {
    std::string_view key;
    ElementDraft* draft;
  };
  // The primitives of KeyOperations, besides read_all() and modify_all().
  Status read_key(std::string_view key, RangeOf range_of, PartReader use);
  Status mutate_key(std::string_view key, ValueRange range, PartMutator mutate);

  /// kUnsupported where the transaction has not locked the key: a command has named it in no place
  /// where the table looks for keys.
  Result<ElementDraft*> draft_of(std::string_view key);
  bool is_live(const ElementDraft& draft) const;
  static Status carry_out(const Decision& decision, ElementDraft& draft, bool live);

  std::vector<Place> places_;  // in the order of their keys
  Session& session_;           // the session of this operation, with the time of X1
};

}  // namespace keyway::server

namespace keyway::store {

extern template class KeyOperations<server::TransactionKeys>;

}  // namespace keyway::store
