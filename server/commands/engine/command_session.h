// CommandSession: the store as a command finds it, outside of a transaction or inside of one.
//
// *What.* Outside, each call is that of the session of the same name, after one branch. Inside of a
// transaction all its keys are locked already: their elements are drafts (TransactionKeys), each
// call reads and changes these, and nothing of it is in the store before the transaction's end.
// *Thread safety.* As Session.
// *Invariants.*
//   X1  Between the first and the last command of a transaction no key of it changes but by these
//       commands, nor expires: all of them see one time.
//   X2  Inside, a call answers with the Status that the session's would have, and does what that
//       would have done; but room is looked for at the end, for all of them at once.
// *Source.* Ours. The client library's calls: client.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/client/client.h"
#include "keyway/server/commands/transactions/transaction_keys.h"

namespace keyway::server {

class CommandSession {
 public:
  /// `value`: see value(). `inside`: the keys of the transaction in which the commands run; null
  /// outside.
  CommandSession(Session& session, std::string& value, TransactionKeys* inside = nullptr)
      : session_(session), value_(value), inside_(inside) {}

  Status get(std::string_view key, std::string& out) {
    return outside(key) ? session_.get(key, out) : inside_->get(key, out);
  }
  Status read(std::string_view key, Reader reader) {
    return outside(key) ? session_.read(key, reader) : inside_->read(key, reader);
  }
  Status read_part(std::string_view key, RangeOf range_of, PartReader reader) {
    return outside(key) ? session_.read_part(key, range_of, reader)
                        : inside_->read_part(key, range_of, reader);
  }
  Status get_range(std::string_view key, std::uint64_t offset, std::uint64_t length,
                   std::string& out) {
    return outside(key) ? session_.get_range(key, offset, length, out)
                        : inside_->get_range(key, offset, length, out);
  }
  Result<ElementInfo> info(std::string_view key) {
    return outside(key) ? session_.info(key) : inside_->info(key);
  }
  Status put(std::string_view key, std::string_view value, const PutOptions& options = {}) {
    return outside(key) ? session_.put(key, value, options) : inside_->put(key, value, options);
  }
  Status insert(std::string_view key, std::string_view value) {
    return put(key, value, {.when = PutIf::kAbsent});
  }
  Status erase(std::string_view key) {
    return outside(key) ? session_.erase(key) : inside_->erase(key);
  }
  Result<std::int64_t> increment(std::string_view key, std::int64_t delta) {
    return outside(key) ? session_.increment(key, delta) : inside_->increment(key, delta);
  }
  Result<std::uint64_t> append(std::string_view key, std::string_view suffix) {
    return outside(key) ? session_.append(key, suffix) : inside_->append(key, suffix);
  }
  Result<std::uint64_t> set_range(std::string_view key, std::uint64_t offset,
                                  std::string_view bytes) {
    return outside(key) ? session_.set_range(key, offset, bytes)
                        : inside_->set_range(key, offset, bytes);
  }
  Status modify(std::string_view key, Mutator mutate) {
    return outside(key) ? session_.modify(key, mutate) : inside_->modify(key, mutate);
  }
  Status modify_part(std::string_view key, ValueRange range, PartMutator mutate) {
    return outside(key) ? session_.modify_part(key, range, mutate)
                        : inside_->modify_part(key, range, mutate);
  }

  Result<std::vector<std::optional<std::string>>> get_all(std::span<const std::string_view> keys) {
    if (inside_ == nullptr) return session_.get_all(keys);
    std::vector<std::optional<std::string>> values;
    if (Status status = inside_->get_all(keys, values); !status.ok()) return status;
    return values;
  }
  Status read_all(std::span<const std::string_view> keys, ElementsReader reader) {
    return inside_ == nullptr ? session_.read_all(keys, reader) : inside_->read_all(keys, reader);
  }
  Status put_all(std::span<const KeyValue> pairs, const PutOptions& options = {}) {
    return inside_ == nullptr ? session_.put_all(pairs, options) : inside_->put_all(pairs, options);
  }
  Result<std::uint64_t> erase_all(std::span<const std::string_view> keys) {
    return inside_ == nullptr ? session_.erase_all(keys) : inside_->erase_all(keys);
  }
  /// The time that a command on this key counts from: X1 inside; outside, one for each command.
  std::uint64_t now_ms(std::string_view key) {
    if (!outside(key)) return inside_->now_ms();
    if (now_ms_ == 0) now_ms_ = session_.now_ms(key);
    return now_ms_;
  }
  Status modify_all(std::span<const std::string_view> keys, ElementsBody body) {
    return inside_ == nullptr ? session_.modify_all(keys, body)
                              : inside_->modify_all(keys, body, {});
  }

  /// For what is about the whole store, or about no key: a transaction with such a command has no
  /// drafts, but all locks of the store, and this session is alone in it.
  Session& whole() { return session_; }
  /// For a value that a command reads or builds: used again, so that reads do not allocate.
  std::string& value() { return value_; }

 private:
  /// The session refuses a key that cannot be in the store, without reading it.
  bool outside(std::string_view key) const {
    return inside_ == nullptr || !TransactionKeys::is_storable(key);
  }

  Session& session_;
  std::string& value_;
  TransactionKeys* inside_;
  std::uint64_t now_ms_ = 0;  // 0: not read yet
};

}  // namespace keyway::server
