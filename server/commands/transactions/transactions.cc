// MULTI, EXEC, DISCARD, WATCH, UNWATCH.

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/time_slice.h"
#include "keyway/server/commands/engine/command.h"

namespace keyway::server {
namespace {

using Queue = std::span<const Transaction::Queued>;

/// How EXEC locks what its commands use.
struct Plan {
  std::vector<std::string_view> keys;       // each once, those that are watched first
  std::vector<store::KeyVersion> versions;  // for these
  bool whole = false;                       // the whole store
  bool reads_only = true;
};

Plan plan_of(const Transaction& transaction, Queue queue) {
  Plan plan;
  for (const auto& [key, version] : transaction.watched()) {
    plan.keys.push_back(key);
    plan.versions.push_back(version);
  }
  const std::size_t watched = plan.keys.size();  // which are in order
  for (const Transaction::Queued& queued : queue) {
    plan.whole = plan.whole || (queued.command->flags & kWholeStore) != 0;
    plan.reads_only = plan.reads_only && (queued.command->flags & kWrite) == 0;
    for_each_key(*queued.command, queued.words, [&](std::string_view key) {
      if (is_storable(key) && !transaction.watches(key)) plan.keys.push_back(key);
      return true;
    });
  }
  const auto others = plan.keys.begin() + static_cast<std::ptrdiff_t>(watched);
  std::sort(others, plan.keys.end());
  plan.keys.erase(std::unique(others, plan.keys.end()), plan.keys.end());
  return plan;
}

/// The state that commands change besides the store: saved, so that they can run once more from the
/// beginning, and restored unless they complete.
class RollbackGuard {
 public:
  explicit RollbackGuard(const Call& exec)
      : exec_(exec),
        written_(exec.out.mark()),
        name_(exec.client.name),
        version_(exec.client.version),
        authenticated_(exec.client.authenticated) {}
  RollbackGuard(const RollbackGuard&) = delete;
  RollbackGuard& operator=(const RollbackGuard&) = delete;
  ~RollbackGuard() {
    if (ended_) return;
    restore_rest();
    exec_.client.name.swap(name_);  // which allocates nothing
  }

  void end() { ended_ = true; }
  void restore() {
    restore_rest();
    exec_.client.name = name_;
  }

 private:
  void restore_rest() {
    exec_.out.back_to(written_);
    exec_.out.set_version(version_);
    exec_.client.version = version_;
    exec_.client.authenticated = authenticated_;
  }

  const Call& exec_;
  std::size_t written_;
  std::string name_;
  resp::Version version_;
  bool authenticated_;
  bool ended_ = false;
};

/// Pauses statistics for commands that run once more, which have been counted.
class StatsPause {
 public:
  StatsPause(Client& client, bool once_more) : client_(client) { client.uncounted = once_more; }
  StatsPause(const StatsPause&) = delete;
  StatsPause& operator=(const StatsPause&) = delete;
  ~StatsPause() { client_.uncounted = false; }

 private:
  Client& client_;
};

void run_all(const Call& exec, CommandSession& session, Queue queue) {
  exec.out.array(queue.size());
  for (const Transaction::Queued& queued : queue) {
    fabric::this_fiber::yield_if_due();
    call_command({exec.client, session, exec.service, *queued.command, queued.words, exec.out});
  }
}

/// One step for all other clients: the keys, on any ranks, are locked in the order of their
/// stripes. All that the commands change is written, or nothing.
Status run_on_keys(const Call& exec, const Plan& plan, Queue queue) {
  Session& store = exec.session.whole();
  if (plan.keys.empty()) {
    CommandSession outside(store, exec.session.value());
    run_all(exec, outside, queue);
    return {};
  }
  RollbackGuard rollback(exec);
  bool ran = false;
  const auto body = [&](std::span<ElementDraft> drafts) {
    rollback.restore();  // it may be the second time, after a sweep for room
    TransactionKeys keys(plan.keys, drafts, store);
    CommandSession inside(store, exec.session.value(), &keys);
    const StatsPause pause(exec.client, std::exchange(ran, true));
    run_all(exec, inside, queue);
    return true;
  };
  const Status status = store.modify_all(
      plan.keys, body, {.unchanged_since = plan.versions, .reads_only = plan.reads_only});
  if (status.ok()) rollback.end();
  return status;
}

/// Commands that read the whole store run on it one by one, exclusively. Room cannot be leased for
/// all of them in advance: a command that finds none fails, and the effects of those before it
/// stay.
Status run_exclusively(const Call& exec, const Plan& plan, Queue queue) {
  Session& store = exec.session.whole();
  Status changed;
  const Status status = store.exclusively([&] {
    for (std::size_t i = 0; i < plan.versions.size() && changed.ok(); ++i) {
      const auto version = store.version_of(plan.keys[i]);
      if (!version.ok()) {
        changed = version.status();
      } else if (*version != plan.versions[i]) {
        changed = Status(Code::kMismatch);
      }
    }
    if (!changed.ok()) return;
    CommandSession outside(store, exec.session.value());
    run_all(exec, outside, queue);
  });
  return status.ok() ? changed : status;
}

// The number of queue locks that a session holds at once.
constexpr std::string_view kTooManyStripes =
    "it uses the whole store and so locks every stripe, which is more than --store-options "
    "locks_per_session allows with this --lock-policy";

void abort_of(const Call& call, std::string_view reason) {
  call.error(fmt::format("EXECABORT Transaction discarded because of: {}", reason));
}

/// Whatever the result of EXEC, the connection has no transaction afterwards.
struct ResetTransactionOnExit {
  Client& client;
  ~ResetTransactionOnExit() { client.transaction.reset(); }
};

Transaction& transaction_of(Client& client) {
  if (!client.transaction) client.transaction = std::make_unique<Transaction>();
  return *client.transaction;
}

void run_multi(const Call& call) {
  if (call.in_transaction()) return call.error("ERR MULTI calls can not be nested");
  transaction_of(call.client).open();
  call.ok();
}

void run_discard(const Call& call) {
  if (!call.in_transaction()) return call.error("ERR DISCARD without MULTI");
  call.client.transaction.reset();
  call.ok();
}

/// The commands find the transaction still open, so they never wait.
void run_exec(const Call& call) {
  if (!call.in_transaction()) return call.error("ERR EXEC without MULTI");
  const ResetTransactionOnExit reset{call.client};
  Transaction& transaction = *call.client.transaction;
  if (transaction.is_aborted()) {
    return call.error("EXECABORT Transaction discarded because of previous errors.");
  }
  transaction.begin(call.command);
  const Queue queue = transaction.queued();
  const Plan plan = plan_of(transaction, queue);
  const Status status =
      plan.whole ? run_exclusively(call, plan, queue) : run_on_keys(call, plan, queue);
  if (status == Code::kMismatch) return call.out.null_array();
  if (status == Code::kOutOfSpace) return abort_of(call, kOutOfMemory);
  if (status == Code::kTimeout) {
    return abort_of(call, fmt::format("{} {}", kTryAgain, status.message()));
  }
  if (plan.whole && status == Code::kUnavailable) return abort_of(call, kTooManyStripes);
  if (!status.ok()) abort_of(call, status.message());
}

/// A key that cannot be in the store never changes.
void run_watch(const Call& call) {
  if (call.in_transaction()) return call.error("ERR WATCH inside MULTI is not allowed");
  Transaction& transaction = transaction_of(call.client);
  for (const std::string_view key : call.words.subspan(1)) {
    if (!is_storable(key) || transaction.watches(key)) continue;
    const auto version = call.session.whole().version_of(key);
    if (!version.ok()) return call.failed(version.status());
    if (!transaction.watch(key, *version, call.service.transaction_bytes)) {
      return call.error(
          fmt::format("ERR the watched keys take more than {} bytes (--transaction-size)",
                      call.service.transaction_bytes));
    }
  }
  call.ok();
}

/// As a transaction's command it does nothing: EXEC ends all watching.
void run_unwatch(const Call& call) {
  if (!call.in_transaction()) call.client.transaction.reset();
  call.ok();
}

constexpr std::uint32_t kOfMulti = kOfClient | kFast | kAllowBusy;

}  // namespace

CommandRows commands_of_transactions_transactions() {
  static constexpr auto kRows = checked({
      {.name = "multi",
       .arity = 1,
       .group = Group::kTransactions,
       .flags = kOfMulti | kUnqueued,
       .run = run_multi,
       .summary = "Begins a transaction: the server queues commands until EXEC."},
      {.name = "exec",
       .arity = 1,
       .group = Group::kTransactions,
       .flags = kOfClient | kSkipSlowLog | kUnqueued | kRunsQueue,
       .run = run_exec,
       .summary = "Executes the commands since MULTI atomically, or none if a watched key "
                  "changed."},
      {.name = "discard",
       .arity = 1,
       .group = Group::kTransactions,
       .flags = kOfMulti | kUnqueued,
       .run = run_discard,
       .summary = "Ends the transaction and discards the commands since MULTI."},
      {.name = "watch",
       .arity = -2,
       .group = Group::kTransactions,
       .flags = kOfMulti | kUnqueued,
       .run = run_watch,
       .keys = {1, -1, 1, "RO"},
       .arguments = "key [key ...]",
       .summary = "Makes the next EXEC do nothing if one of these keys changes before it."},
      {.name = "unwatch",
       .arity = 1,
       .group = Group::kTransactions,
       .flags = kOfMulti,
       .run = run_unwatch,
       .summary = "Forgets all watched keys."},
  });
  return kRows;
}

}  // namespace keyway::server
