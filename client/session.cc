// Session: each call goes to the store's session of the same name.

#include <limits>

#include "keyway/client/session_impl.h"

namespace keyway {

Session::Session(std::unique_ptr<SessionImpl> impl) : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<std::string> Session::get(std::string_view key) {
  std::string value;
  if (Status status = get(key, value); !status.ok()) return status;
  return value;
}

Status Session::get(std::string_view key, std::string& out) {
  return impl_->with([&](auto& s) { return s.get(key, out); });
}

Status Session::read(std::string_view key, Reader reader) {
  return impl_->with([&](auto& s) { return s.read(key, reader); });
}

Status Session::read_part(std::string_view key, RangeOf range_of, PartReader reader) {
  return impl_->with([&](auto& s) { return s.read_part(key, range_of, reader); });
}

Status Session::get_range(std::string_view key, std::uint64_t offset, std::uint64_t length,
                          std::string& out) {
  return impl_->with([&](auto& s) { return s.get_range(key, offset, length, out); });
}

Result<ElementInfo> Session::info(std::string_view key) {
  return impl_->with([&](auto& s) { return s.info(key); });
}

Status Session::put(std::string_view key, std::string_view value, const PutOptions& options) {
  return impl_->with([&](auto& s) { return s.put(key, value, options); });
}

Status Session::insert(std::string_view key, std::string_view value) {
  return put(key, value, {.when = PutIf::kAbsent});
}

Status Session::update(std::string_view key, std::string_view value) {
  return put(key, value, {.when = PutIf::kPresent, .keep_expiry = true});
}

Status Session::compare_and_set(std::string_view key, std::string_view expected,
                                std::string_view value) {
  return impl_->with([&](auto& s) { return s.compare_and_set(key, expected, value); });
}

Status Session::erase(std::string_view key) {
  return impl_->with([&](auto& s) { return s.erase(key); });
}

Result<std::int64_t> Session::increment(std::string_view key, std::int64_t delta) {
  return impl_->with([&](auto& s) { return s.increment(key, delta); });
}

Result<std::uint64_t> Session::append(std::string_view key, std::string_view suffix) {
  return impl_->with([&](auto& s) { return s.append(key, suffix); });
}

Result<std::uint64_t> Session::set_range(std::string_view key, std::uint64_t offset,
                                         std::string_view bytes, PutIf when) {
  return impl_->with([&](auto& s) { return s.set_range(key, offset, bytes, when); });
}

Status Session::expire_at(std::string_view key, std::uint64_t unix_ms) {
  if (unix_ms == store::kNoExpiry) unix_ms = 1;  // long past, and not "never"
  return impl_->with([&](auto& s) { return s.set_expiry(key, unix_ms); });
}

Status Session::expire_after(std::string_view key, std::chrono::milliseconds span) {
  return impl_->with([&](auto& s) {
    // A server's clock counts, and may not be this one's.
    if constexpr (requires { s.expire_after(key, span); }) return s.expire_after(key, span);
    std::int64_t at = 0;
    if (__builtin_add_overflow(static_cast<std::int64_t>(s.now_ms(key)), span.count(), &at)) {
      at = std::numeric_limits<std::int64_t>::max();  // only a span beyond all time overflows
    }
    return expire_at(key, at > 0 ? static_cast<std::uint64_t>(at) : 1);
  });
}

Status Session::persist(std::string_view key) {
  return impl_->with([&](auto& s) { return s.set_expiry(key, store::kNoExpiry); });
}

Status Session::modify(std::string_view key, Mutator mutate) {
  return impl_->with([&](auto& s) { return s.modify(key, mutate); });
}

Status Session::modify_part(std::string_view key, ValueRange range, PartMutator mutate) {
  return impl_->with([&](auto& s) { return s.modify_part(key, range, mutate); });
}

void Session::get_many(std::span<const std::string_view> keys, std::span<std::string> out,
                       std::span<Code> codes) {
  impl_->with([&](auto& s) { s.get_many(keys, out, codes); });
}

std::uint64_t Session::prefetch(std::span<const std::string_view> keys) {
  return impl_->with([&](auto& s) { return s.prefetch(keys); });
}

std::uint64_t Session::read_ahead(std::span<const std::string_view> keys) {
  return impl_->with([&](auto& s) { return s.read_ahead(keys); });
}

Status Session::read_all(std::span<const std::string_view> keys, ElementsReader reader) {
  return impl_->with([&](auto& s) { return s.read_all(keys, reader); });
}

Result<std::vector<std::optional<std::string>>> Session::get_all(
    std::span<const std::string_view> keys) {
  std::vector<std::optional<std::string>> values;
  Status status = impl_->with([&](auto& s) { return s.get_all(keys, values); });
  if (!status.ok()) return status;
  return values;
}

Status Session::put_all(std::span<const KeyValue> pairs, const PutOptions& options) {
  return impl_->with([&](auto& s) { return s.put_all(pairs, options); });
}

Result<std::uint64_t> Session::erase_all(std::span<const std::string_view> keys) {
  return impl_->with([&](auto& s) { return s.erase_all(keys); });
}

Status Session::transact(std::span<const std::string_view> keys, const TransactionBody& body) {
  return impl_->with([&](auto& s) { return s.transact(keys, body); });
}

Result<KeyVersion> Session::version_of(std::string_view key) {
  return impl_->with([&](auto& s) { return s.version_of(key); });
}

Status Session::modify_all(std::span<const std::string_view> keys, ElementsBody body,
                           const ModifyAllOptions& options) {
  return impl_->with([&](auto& s) { return s.modify_all(keys, body, options); });
}

Status Session::exclusively(FunctionRef<void()> body) {
  return impl_->with([&](auto& s) { return s.exclusively(body); });
}

Result<std::uint64_t> Session::scan(std::uint64_t cursor, std::uint64_t limit,
                                    const ElementSink& sink) {
  return impl_->with([&](auto& s) { return s.scan(cursor, limit, sink); });
}

Result<std::uint64_t> Session::scan_rank(std::uint32_t rank, std::uint64_t cursor,
                                         std::uint64_t limit, const ElementSink& sink) {
  return impl_->with([&](auto& s) { return s.scan_rank(rank, cursor, limit, sink); });
}

Result<std::uint64_t> Session::scan_from(std::string_view key, std::uint64_t limit,
                                         const ElementSink& sink) {
  return impl_->with([&](auto& s) { return s.scan_from(key, limit, sink); });
}

Result<std::uint64_t> Session::scan_keys(std::uint64_t cursor, std::uint64_t limit,
                                         const KeySink& sink) {
  return impl_->with([&](auto& s) { return s.scan_keys(cursor, limit, sink); });
}

Result<std::uint64_t> Session::scan_keys_rank(std::uint32_t rank, std::uint64_t cursor,
                                              std::uint64_t limit, const KeySink& sink) {
  return impl_->with([&](auto& s) { return s.scan_keys_rank(rank, cursor, limit, sink); });
}

Result<std::uint64_t> Session::scan_keys_from(std::string_view key, std::uint64_t limit,
                                              const KeySink& sink) {
  return impl_->with([&](auto& s) { return s.scan_keys_from(key, limit, sink); });
}

Result<std::uint64_t> Session::size() {
  return impl_->with([&](auto& s) { return s.size(); });
}

Result<std::uint64_t> Session::size_of(std::uint32_t rank) {
  return impl_->with([&](auto& s) { return s.size_of(rank); });
}

Status Session::clear() {
  return impl_->with([&](auto& s) { return s.clear(); });
}

Status Session::clear_rank(std::uint32_t rank) {
  return impl_->with([&](auto& s) { return s.clear_rank(rank); });
}

std::uint64_t Session::now_ms(std::string_view key) {
  return impl_->with([&](auto& s) { return s.now_ms(key); });
}

Inspector Session::inspector() { return Inspector(*impl_); }

}  // namespace keyway
