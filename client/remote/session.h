// Session: the store's operations as requests to a server, Keyway's or Redis'.
//
// *What.* Each operation is one request, or several sent at once, if the server has a command that
// does it in one step: these are declared here. The others are those of KeyOperations. If the
// caller decides in between (modify, transact), the keys are watched and the step is repeated when
// another client was faster (WATCH, MULTI, EXEC).
// *Thread safety.* One session's.
// *Invariants.*
//   S1  An operation that is atomic on the store's other fabrics is one command here, or one EXEC.
//   S2  A step that is made again has changed nothing before.
//   S3  A write that may or may not have taken effect is never reported as done or as not done, and
//       never sent twice (Exchange).
// *Source.* The commands of Redis 7.0; `SET ... IFEQ` of Keyway and Valkey.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keyway/client/remote/exchange.h"
#include "keyway/kvstore/key_operations.h"
#include "keyway/kvstore/types/types.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/function_ref.h"

namespace keyway::remote {

class Session : public store::KeyOperations<Session> {
 public:
  /// The servers outlive it.
  explicit Session(const Servers& servers) : exchange_(servers) {}

  // --- one key: session_read.cc, session_write.cc
  Status get(std::string_view key, std::string& out);
  Status get_range(std::string_view key, std::uint64_t offset, std::uint64_t length,
                   std::string& out);
  Result<store::ElementInfo> info(std::string_view key);
  Status put(std::string_view key, std::string_view value, const store::PutOptions& options);
  Status compare_and_set(std::string_view key, std::string_view expected, std::string_view value);
  Status erase(std::string_view key);
  Result<std::int64_t> increment(std::string_view key, std::int64_t delta);
  Result<std::uint64_t> append(std::string_view key, std::string_view suffix);
  Result<std::uint64_t> set_range(std::string_view key, std::uint64_t offset,
                                  std::string_view bytes, store::PutIf when);
  Status set_expiry(std::string_view key, std::uint64_t expires_at_ms);
  Status expire_after(std::string_view key, std::chrono::milliseconds span);

  // --- several keys: session_multi.cc, session_watch.cc
  void get_many(std::span<const std::string_view> keys, std::span<std::string> out,
                std::span<Code> codes);
  std::uint64_t prefetch(std::span<const std::string_view>) { return 0; }
  std::uint64_t read_ahead(std::span<const std::string_view>) { return 0; }
  Status read_all(std::span<const std::string_view> keys, store::ElementsReader reader);
  Status get_all(std::span<const std::string_view> keys,
                 std::vector<std::optional<std::string>>& out);
  Status put_all(std::span<const std::pair<std::string_view, std::string_view>> pairs,
                 const store::PutOptions& options);
  Result<std::uint64_t> erase_all(std::span<const std::string_view> keys);
  Status modify_all(std::span<const std::string_view> keys, store::ElementsBody body,
                    const store::ModifyAllOptions& options);

  // --- the whole: session_scan.cc
  Result<std::uint64_t> scan(std::uint64_t cursor, std::uint64_t limit,
                             const store::ElementSink& sink);
  Result<std::uint64_t> scan_rank(std::uint32_t rank, std::uint64_t cursor, std::uint64_t limit,
                                  const store::ElementSink& sink);
  Result<std::uint64_t> scan_keys(std::uint64_t cursor, std::uint64_t limit,
                                  const store::KeySink& sink);
  Result<std::uint64_t> scan_keys_rank(std::uint32_t rank, std::uint64_t cursor,
                                       std::uint64_t limit, const store::KeySink& sink);
  Status clear();
  Result<std::uint64_t> size();

  // --- functions that need the store's memory: kUnsupported
  Result<std::uint64_t> scan_from(std::string_view, std::uint64_t, const store::ElementSink&);
  Result<std::uint64_t> scan_keys_from(std::string_view, std::uint64_t, const store::KeySink&);
  Result<std::uint64_t> sweep_expired(std::uint32_t);
  Result<store::KeyVersion> version_of(std::string_view);
  Status exclusively(FunctionRef<void()>);
  Result<store::SweepPart> sweep_part(std::uint32_t, std::uint64_t, std::uint64_t);
  Status clear_rank(std::uint32_t);
  Result<std::uint64_t> size_of(std::uint32_t);
  Result<store::VolumeReport> report(std::uint32_t);
  Status switch_kind(std::uint32_t, std::uint64_t, std::string_view);
  store::StripeReport stripe_report(std::uint32_t, std::uint64_t) { return {}; }
  std::vector<store::LockKindReport> lock_kinds(std::uint32_t) { return {}; }
  std::uint64_t leased_bytes(std::uint32_t) const { return 0; }
  store::VolumeUsage usage(std::uint32_t) { return {}; }
  std::uint64_t now_ms(std::string_view) const { return wall_ms(); }
  store::VolumeCounts counts(std::uint32_t) { return {}; }
  store::StripePlace stripe_of(std::string_view) const { return {}; }
  std::uint64_t stored_bytes(std::string_view, const store::ElementInfo&) const { return 0; }

 private:
  friend store::KeyOperations<Session>;
  using Operations = store::KeyOperations<Session>;
  using KeyValueView = std::pair<std::string_view, std::string_view>;
  /// The result of a body on watched keys: whether to write them as they are now, and the
  /// operation's return code.
  struct Outcome {
    bool writes = false;
    Code code = Code::kOk;
    std::vector<bool> leaves = {};  // for each, whether it stays unchanged
  };
  using Elements = std::vector<std::optional<store::Element>>;
  using Step = FunctionRef<Outcome(std::span<std::optional<store::Element>> elements)>;

  // The primitives of KeyOperations, besides read_all() and modify_all().
  Status read_key(std::string_view key, store::RangeOf range_of, store::PartReader use);
  Status mutate_key(std::string_view key, store::ValueRange range, store::PartMutator mutate);

  template <class... More>
  Result<wire::ReplyView> ask(Effect effect, std::string_view command, std::string_view key,
                              More... more);
  template <class... More>
  Result<std::int64_t> ask_integer(Effect effect, std::string_view command, std::string_view key,
                                   More... more);
  Result<bool> set_if_equal(std::string_view key, std::string_view expected, std::string_view value,
                            Code& code);

  Status in_one_step(std::string_view key, Effect effect, std::size_t requests, Exchange::Adder add,
                     FunctionRef<void(wire::ReplyView replies)> take);
  Status watched(std::span<const std::string_view> keys, Step step);
  Result<wire::Connection*> watch(std::span<const std::string_view> keys, Elements& elements);
  Result<bool> commit(wire::Connection& connection, std::span<const std::string_view> keys,
                      const Elements& elements, const Outcome& outcome);
  void get_window(std::span<const std::string_view> keys, std::span<std::string> out,
                  std::span<Code> codes);
  void get_again(std::span<const std::string_view> keys, std::span<std::string> out,
                 std::span<Code> codes);
  Status put_in_one_step(std::span<const KeyValueView> pairs, const store::PutOptions& options);
  Status put_watched(std::span<const KeyValueView> pairs, const store::PutOptions& options);

  // Shows the keys of one SCAN, and returns how many it has shown.
  using Page = FunctionRef<Result<std::uint64_t>(std::span<const std::string> keys)>;
  Result<std::uint64_t> scan_pages(std::uint64_t cursor, std::uint64_t limit, Page show);
  Result<std::uint64_t> scan_page(std::uint32_t server, std::uint64_t cursor, std::uint64_t limit,
                                  std::vector<std::string>& keys);
  Status values_of(std::span<const std::string> keys);

  Exchange exchange_;
  bool knows_ifeq_ = true;                                      // until a server says otherwise
  std::vector<std::string_view> words_;                         // words of a request, used again
  std::vector<std::pair<std::string, std::string>> scanned_{};  // a page that is shown
};

}  // namespace keyway::remote

namespace keyway::store {

extern template class KeyOperations<remote::Session>;

}  // namespace keyway::store
