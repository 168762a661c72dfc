// TransactionKeys: the keys of a transaction while its commands run.
//
// *What.* Session::modify_all() has locked them and shows their elements as drafts; each operation
// here is the store's of the same name, on these.
// *Thread safety.* One transaction's.
// *Invariants.* X1 and X2 of command_session.h.
// *Source.* kvstore/session_write.h and session_multi.h, whose rules these are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/client/client.h"
#include "keyway/kvstore/layout/element.h"

namespace keyway::server {

class TransactionKeys {
 public:
  /// The drafts of these keys, in their order, as `session` has shown them. All outlive this.
  TransactionKeys(std::span<const std::string_view> keys, std::span<ElementDraft> drafts,
                  Session& session);

  /// Whether a key may be in the store at all. Redis has no bounds but those of any string.
  static bool is_storable(std::string_view key) {
    return !key.empty() && key.size() <= store::kMaxKeyBytes;
  }

  Status get(std::string_view key, std::string& out);
  Status read(std::string_view key, Reader reader);
  Status read_part(std::string_view key, RangeOf range_of, PartReader reader);
  Status get_range(std::string_view key, std::uint64_t offset, std::uint64_t length,
                   std::string& out);
  Result<ElementInfo> info(std::string_view key);
  Status put(std::string_view key, std::string_view value, const PutOptions& options);
  Status erase(std::string_view key);
  Result<std::uint64_t> append(std::string_view key, std::string_view suffix);
  Result<std::uint64_t> set_range(std::string_view key, std::uint64_t offset,
                                  std::string_view bytes);
  Status modify(std::string_view key, Mutator mutate);
  Status modify_part(std::string_view key, ValueRange range, PartMutator mutate);
  Result<std::vector<std::optional<std::string>>> get_all(std::span<const std::string_view> keys);
  Status read_all(std::span<const std::string_view> keys, ElementsReader reader);
  Status put_all(std::span<const KeyValue> pairs, const PutOptions& options);
  Result<std::uint64_t> erase_all(std::span<const std::string_view> keys);
  Status modify_all(std::span<const std::string_view> keys, ElementsBody body);
  std::uint64_t now_ms() const { return session_.now_ms(places_.front().key); }

 private:
  struct Place {
    std::string_view key;
    ElementDraft* draft;
  };
  /// kUnsupported where the transaction has not locked the key: a command has named it in no place
  /// where the table looks for keys.
  Result<ElementDraft*> draft_of(std::string_view key);
  bool is_live(const ElementDraft& draft) const;
  static Status carry_out(const Decision& decision, ElementDraft& draft, bool live);

  std::vector<Place> places_;  // in the order of their keys
  Session& session_;           // whose operation this is: it tells the time of X1
};

}  // namespace keyway::server
