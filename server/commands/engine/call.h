// Call: one request being executed, as its handler sees it; and the errors that all commands share.
//
// *Thread safety.* One connection's.
// *Source.* Redis 7.0, server.c (createSharedObjects, processCommand), networking.c.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/locks/fabric/time_slice.h"
#include "keyway/server/commands/engine/command_session.h"
#include "keyway/server/commands/engine/execute.h"

namespace keyway::server {

struct Command;

inline constexpr std::string_view kSyntaxError = "ERR syntax error";
inline constexpr std::string_view kNoInteger = "ERR value is not an integer or out of range";
inline constexpr std::string_view kNoFloat = "ERR value is not a valid float";
inline constexpr std::string_view kTooLong =
    "ERR string exceeds maximum allowed size (proto-max-bulk-len)";
inline constexpr std::string_view kOutOfMemory =
    "OOM command not allowed when used memory > 'maxmemory'.";
/// The word of Redis Cluster for what will do when it is asked again: here for a lock that was not
/// had in time.
inline constexpr std::string_view kTryAgain = "TRYAGAIN";
/// Ours, for a write that may have taken effect: another rank did not answer in time.
inline constexpr std::string_view kInDoubt = "INDOUBT";
/// Redis' proto-max-bulk-len, and the store's longest value.
inline constexpr std::int64_t kMaxBytes = store::kMaxValueBytes;

struct Call {
  Client& client;
  CommandSession& session;
  Service& service;
  const Command& command;
  std::span<const std::string_view> words;
  resp::ReplyWriter& out;

  std::size_t count() const { return words.size(); }
  std::string_view word(std::size_t i) const { return words[i]; }
  std::string_view key() const { return words[1]; }

  /// For a client of the cluster, which asks every rank: the one rank that SCAN, KEYS, DBSIZE and
  /// FLUSHALL cover. Nothing: the whole store.
  std::optional<std::uint32_t> only_rank() const {
    if (!client.of_cluster || !service.cluster.enabled) return std::nullopt;
    return service.cluster.self;
  }

  /// Whether it is one of a transaction's commands: then it never waits.
  bool in_transaction() const { return client.transaction && client.transaction->is_open(); }

  void ok() const { out.simple("OK"); }
  /// Writes the bytes of a value; a large one yields to others meanwhile.
  void value(std::string_view bytes) const {
    if (bytes.size() <= fabric::kSliceBytes) return out.bulk(bytes);
    out.bulk_in_parts(bytes, fabric::kSliceBytes, [] { fabric::this_fiber::yield_if_due(); });
  }
  void error(std::string_view sentence) const { out.error(sentence); }
  /// Counts keys that were to be read, as there or not.
  void looked_up(bool there, std::uint64_t keys = 1) const {
    WorkerStatistics* counts = counts_of(client);
    if (counts != nullptr) (there ? counts->hits : counts->misses).add(keys);
  }
  /// "wrong number of arguments for ..."
  void wrong_arity() const;
  /// "invalid expire time in ..."
  void invalid_expiry() const;
  /// Replies with a failure of the store.
  void failed(const Status& status) const;
};

/// Runs the command of a call, and counts it: its time, an error, the keys it visits, and, if it is
/// slow, how its time was spent. Commands that run others use this.
[[gnu::hot]] void call_command(const Call& call);
/// Counts the error that was answered at a mark, if it is one.
void count_error(Client& client, const resp::ReplyWriter& out, std::size_t mark);
/// Removes the reply that was written from a mark on, if CLIENT REPLY turned replies off.
void apply_reply_mode(Client& client, resp::ReplyWriter& out, std::size_t mark);
/// Counts a request that was refused before it ran.
void count_rejected(Client& client, const Command& command);

/// Whether a key may be in the store at all. Redis has no bounds but those of any string.
inline bool is_storable(std::string_view key) { return TransactionKeys::is_storable(key); }

/// Whether the store says that nothing is there: also of a key that it could not hold.
inline bool is_absent(const Status& status) {
  return status == Code::kNotFound || status == Code::kInvalidArgument;
}

/// The values of keys at one instant; nothing for a key that is not there, or cannot be.
Result<std::vector<std::optional<std::string>>> values_of(CommandSession& session,
                                                          std::span<const std::string_view> keys);

/// Replies with a failure of the store.
void reply_failed(resp::ReplyWriter& out, const Status& status);
/// "wrong number of arguments for 'name' command"
std::string wrong_arity(std::string_view name);

}  // namespace keyway::server
