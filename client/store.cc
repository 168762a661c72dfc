#include <fmt/core.h>

#include <variant>

#include "keyway/client/session_impl.h"
#include "keyway/client/store_impl.h"
#include "keyway/kvstore/layout/hash_secret.h"

namespace keyway {

using client::Plan;

std::string client::fingerprint(const StoreOptions& o) {
  return fmt::format(
      "memory={} element_bytes={} buckets={} stripes={} sessions={} "
      "locks_per_session={} lock={} expect_reads={} expect_local={} lock_costs={} hash_secret={} "
      "path={} addresses={}",
      o.memory_bytes, o.element_bytes, o.buckets, o.stripes, o.sessions, o.locks_per_session,
      o.lock, o.expect_reads, o.expect_local, o.lock_costs, o.hash_secret, static_cast<int>(o.path),
      o.address_bytes != 0);
}

Result<store::HashSecret> client::hash_secret_of(const StoreOptions& options) {
  if (options.hash_secret.empty()) return store::draw_hash_secret();
  const auto given = store::parse_hash_secret(options.hash_secret);
  if (given) return *given;
  return Status(Code::kInvalidArgument, "hash_secret must be 32 hexadecimal digits");
}

Result<std::unique_ptr<Plan>> Plan::make(StoreOptions options, std::uint32_t ranks,
                                         std::uint32_t nodes, const store::HashSecret& secret) {
  const client::Job job{.nodes = nodes,
                        .edits_travel = nodes > 1 && options.address_bytes != 0 &&
                                        client::call_slots_of(options, ranks) != 0};
  if (options.lock == client::kDefaultLock) options.lock = client::default_lock(job);
  auto policy = client::lock_policy(options, job);
  if (!policy.ok()) return policy.status();
  if (options.locks_per_session == 0) {
    options.locks_per_session =
        policy->queued ? client::room_for_locks(options, ranks) : locks::kDefaultNodesPerAgent;
  }
  if (options.timeout.count() <= 0) {
    return Status(Code::kInvalidArgument, "timeout must be at least 1ms");
  }
  if (options.patience.count() <= 0) {
    return Status(Code::kInvalidArgument, "patience must be at least 1ms");
  }
  constexpr std::uint64_t kMaxAddressBytes = 1ULL << 40;
  if (options.address_bytes > kMaxAddressBytes) {
    return Status(Code::kInvalidArgument, "addresses must be at most 1024GiB");
  }
  auto shape = client::geometry_options(options, *policy, ranks, nodes == 1 && !options.force_rma);
  shape.hash_secret = secret;
  auto geometry = store::Geometry::plan(shape);
  if (!geometry.ok()) return geometry.status();
  return std::make_unique<Plan>(Plan{*geometry, std::move(*policy), std::move(options)});
}

std::string Plan::describe() const {
  std::string text = fmt::format("{} buckets, {} stripes, {} heap; lock {}", geometry.buckets(),
                                 geometry.stripes(), geometry.heap_bytes(), options.lock);
  if (!policy.automatic) return text;
  return text + fmt::format(", first {}; costs {} in ns: {}", policy.why,
                            policy.measured ? "measured" : "given",
                            locks::describe(policy.choice.costs));
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(std::string_view uri, StoreOptions options) {
  auto backend = client::BuiltBackends::open(uri, parse_store_uri(uri, std::move(options)));
  if (!backend.ok()) return backend.status();
  return client::StoreMaker::make(std::move(*backend));
}

Status Store::decline(std::string_view uri, Status why) {
  KW_CHECK(!why.ok());
  return client::BuiltBackends::open(uri, std::move(why)).status();
}

Result<Session> Store::session() {
  if (processes() > 1) return session_at(process());
  // relaxed: only the spread over the ranks matters, and nothing is published with it.
  return session_at(impl_->next_rank.fetch_add(1, std::memory_order_relaxed) % ranks());
}

Result<Session> Store::session_at(std::uint32_t rank) {
  return std::visit(
      [&](auto& backend) -> Result<Session> {
        auto session = backend.session(rank);
        if (!session.ok()) return session.status();
        return Session(std::make_unique<SessionImpl>(SessionImpl{std::move(*session)}));
      },
      impl_->backend);
}

std::uint32_t Store::ranks() const {
  return std::visit([](const auto& b) { return b.fabric->ranks(); }, impl_->backend);
}

std::uint32_t Store::owner_of(std::string_view key) const {
  return std::visit([&](const auto& b) { return b.owner_of(key); }, impl_->backend);
}

std::uint32_t Store::process() const {
  return std::visit([](const auto& b) { return b.process(); }, impl_->backend);
}

std::uint32_t Store::processes() const {
  return std::visit([](const auto& b) { return b.processes(); }, impl_->backend);
}

void Store::barrier() {
  std::visit([](auto& b) { b.barrier(); }, impl_->backend);
}

std::vector<std::string> Store::gather(std::string_view bytes) {
  return std::visit([&](auto& b) { return b.gather(bytes); }, impl_->backend);
}

std::vector<std::string> Store::gather_everywhere(std::string_view bytes) {
  return std::visit([&](auto& b) { return b.gather_everywhere(bytes); }, impl_->backend);
}

void Store::ask_all_to_end() {
  // relaxed, here and below: a flag that comes alone.
  impl_->asked_to_end.store(true, std::memory_order_relaxed);
  std::visit([](auto& b) { b.notify_all(); }, impl_->backend);
}

bool Store::asked_to_end() const {
  return impl_->asked_to_end.load(std::memory_order_relaxed) ||
         std::visit([](const auto& b) { return b.notified(); }, impl_->backend);
}

RankWaits Store::rank_waits(std::uint32_t rank) const {
  return std::visit([&](const auto& b) { return b.rank_waits(rank); }, impl_->backend);
}

std::string Store::describe() const {
  return std::visit([](const auto& b) { return b.describe(); }, impl_->backend);
}

const StoreOptions& Store::options() const {
  return std::visit([](const auto& b) -> const StoreOptions& { return b.options(); },
                    impl_->backend);
}

}  // namespace keyway
