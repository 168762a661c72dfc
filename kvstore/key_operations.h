// KeyOperations<Keys>: the operations on keys, said once for all that keep keys.
//
// *What.* Keys is the store's session, a transaction, or a client over a socket. It derives from
// this class and has the primitives, from which all operations here are made:
//
//   read_key(key, range_of, use)     calls use(part), the ElementPart that range_of(length of the
//                                    value) names; kNotFound
//   mutate_key(key, range, mutate)   shows mutate() the ElementPart of this range, or null, and
//                                    makes what its Decision says
//   read_all(keys, reader), modify_all(keys, body, options)
//                                    the same for several keys in one step
//
// Keys that can do an operation at less cost than by the primitives declare it themselves: a server
// has a command for most, and a session has edit_key(), with which edits go to the key's owner. The
// bodies are in key_operations_impl.h, for the file that instantiates them.
// *Thread safety.* As Keys.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/kvstore/types/types.h"
#include "keyway/locks/base/status.h"

namespace keyway::store {

template <class Keys>
class KeyOperations {
 public:
  Status get(std::string_view key, std::string& out);
  [[gnu::hot]] Status read(std::string_view key, Reader reader);
  Status read_part(std::string_view key, RangeOf range_of, PartReader reader);
  /// Bytes [offset, offset + length) of the value, cut at its end.
  Status get_range(std::string_view key, std::uint64_t offset, std::uint64_t length,
                   std::string& out);

  [[gnu::hot]] Status put(std::string_view key, std::string_view value,
                          const PutOptions& options = {});
  Status compare_and_set(std::string_view key, std::string_view expected, std::string_view value);
  Status erase(std::string_view key);
  Result<std::int64_t> increment(std::string_view key, std::int64_t delta);
  Result<std::uint64_t> append(std::string_view key, std::string_view suffix);
  Result<std::uint64_t> set_range(std::string_view key, std::uint64_t offset,
                                  std::string_view bytes, PutIf when = PutIf::kAlways);
  Status modify(std::string_view key, Mutator mutate);
  Status modify_part(std::string_view key, ValueRange range, PartMutator mutate);

  Status get_all(std::span<const std::string_view> keys,
                 std::vector<std::optional<std::string>>& out);
  Status transact(std::span<const std::string_view> keys, const TransactionBody& body);

 protected:
  /// Makes an edit (edits.h) on a key.
  template <class Edit>
  Status edit_key(std::string_view key, Edit& edit);

 private:
  Keys& keys() { return static_cast<Keys&>(*this); }
};

}  // namespace keyway::store
