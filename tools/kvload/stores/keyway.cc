// Our own store: embedded (local:), one-sided over MPI (mpi:), or over a socket (redis://,
// rediss://, unix:), on any server with Redis' commands on strings.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "keyway/client/client.h"
#include "keyway/client/wire/uri.h"
#include "keyway/workloads/record.h"
#include "stores/registry.h"
#include "tools/kvload/engine.h"

namespace keyway::kvload {
namespace {

class KeywaySession {
 public:
  /// `whole_bytes`: the size of a record on a server; 0 elsewhere.
  KeywaySession(Session session, std::uint64_t whole_bytes)
      : session_(std::move(session)), whole_bytes_(whole_bytes) {}

  Code get(std::string_view key, std::string& out) { return noted(session_.get(key, out)); }
  Code get_range(std::string_view key, std::size_t offset, std::size_t bytes, std::string& out) {
    return noted(session_.get_range(key, offset, bytes, out));
  }
  Code put(std::string_view key, std::string_view value) { return noted(session_.put(key, value)); }
  Code update(std::string_view key, std::string_view value) {
    return noted(session_.update(key, value));
  }
  Code set_range(std::string_view key, std::size_t offset, std::string_view bytes) {
    // A server's SETRANGE does not check whether the record exists: its length shows it.
    const bool asks = whole_bytes_ == 0;
    const auto length = session_.set_range(key, offset, bytes,
                                           asks ? store::PutIf::kPresent : store::PutIf::kAlways);
    if (!length.ok()) return noted(length.status());
    return *length < whole_bytes_ ? Code::kNotFound : Code::kOk;
  }
  template <class Sink>
  Code scan(std::string_view key, std::size_t count, Sink&& sink) {
    const auto shown = session_.scan_from(key, count, std::ref(sink));
    return shown.ok() ? Code::kOk : noted(shown.status());
  }
  void get_many(std::span<const std::string_view> keys, std::span<std::string> out,
                std::span<Code> codes) {
    session_.get_many(keys, out, codes);
  }
  const std::string& trouble() const { return trouble_; }
  RemoteWork remote_work() { return session_.inspector().remote_work(); }

 private:
  /// Keeps the sentence of the first failure that has one.
  Code noted(const Status& status) {
    if (!status.ok() && trouble_.empty() && status.message() != code_name(status.code())) {
      trouble_ = status.message();
    }
    return status.code();
  }

  Session session_;
  std::uint64_t whole_bytes_;
  std::string trouble_;
};

/// Rejects options that only a server decides.
Status check_server_options(const Options& options) {
  if (!options.memory_bytes && options.lock_policy.empty() && options.path.empty() &&
      !options.locality) {
    return {};
  }
  return {Code::kInvalidArgument,
          "--memory, --lock-policy, --path and --locality are for stores that kvload opens itself, "
          "local: and mpi: give the first three to the server"};
}

/// The URI, with the path that the command line gives.
std::string uri_of(const Options& options) {
  if (options.path.empty()) return options.store;
  const char joint = options.store.find('?') == std::string::npos ? '?' : '&';
  return fmt::format("{}{}path={}", options.store, joint, options.path);
}

std::string password_of_environment() {
  const char* password = std::getenv("KVLOAD_PASSWORD");
  return password == nullptr ? "" : password;
}

// Stripes per rank in the JSON report.
constexpr std::size_t kMaxStripes = 64;

struct NumberedReport {
  std::uint64_t stripe = 0;
  StripeReport report;
};

/// The stripes that were visited, those with the most samples first.
std::vector<NumberedReport> visited(Session& session, std::uint32_t rank, std::uint64_t stripes) {
  std::vector<NumberedReport> found;
  for (std::uint64_t stripe = 0; stripe < stripes; ++stripe) {
    StripeReport report = session.inspector().stripe_report(rank, stripe);
    if (report.samples + report.switches > 0) found.push_back({stripe, std::move(report)});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.report.samples > b.report.samples;
  });
  found.resize(std::min(found.size(), kMaxStripes));
  return found;
}

/// For people, of the stripe that was visited most; one line of JSON of each.
std::string text_of(std::uint32_t rank, const NumberedReport& of) {
  return fmt::format("[LOCKS], stripe {} of rank {}, {} after {} switches: {}", of.stripe, rank,
                     of.report.kind, of.report.switches, of.report.why);
}
std::string json_of(std::uint32_t rank, const NumberedReport& of) {
  return nlohmann::ordered_json{{"rank", rank},
                                {"stripe", of.stripe},
                                {"kind", of.report.kind},
                                {"switches", of.report.switches},
                                {"samples", of.report.samples},
                                {"reads", of.report.reads},
                                {"local", of.report.local},
                                {"others", of.report.contenders},
                                {"why", of.report.why}}
      .dump();
}

class KeywayStore {
 public:
  using Session = KeywaySession;

  KeywayStore(Store store, std::uint64_t whole_bytes)
      : store_(std::move(store)), whole_bytes_(whole_bytes) {}

  static StoreTraits traits(const Job& job) {
    const std::string_view uri = job.options.store;
    StoreTraits traits{.name = uri.substr(0, uri.find(':') + 1)};
    traits.way = uri.starts_with("mpi:") ? "one-sided" : "in process";
    if (!wire::is_server_uri(uri)) return traits;
    traits.way = "sockets";
    traits.in_process = false;
    traits.scan_refusal =
        "a server's SCAN goes by cursors, not from a key on: use local:, mpi: or rocksdb:PATH for "
        "workloads with scans";
    return traits;
  }
  static Result<std::unique_ptr<KeywayStore>> open(const Job& job) {
    const workloads::RecordLayout layout(job.spec);
    StoreOptions options;
    options.element_bytes = job.spec.keys.typical_bytes() + layout.record_bytes();
    options.sessions = std::max(options.sessions, job.spec.threads + 8);
    if (!job.options.lock_policy.empty()) options.lock = job.options.lock_policy;
    if (job.options.locality) {
      options.expect_local = static_cast<std::uint32_t>(100 * *job.options.locality);
    }
    const bool server = wire::is_server_uri(job.options.store);
    if (Status status = check_server_options(job.options); server && !status.ok()) return status;
    const std::string uri = uri_of(job.options);
    const auto asked = parse_store_uri(uri, options);
    if (!asked.ok()) return asked.status();
    if (server) options.password = password_of_environment();
    options.memory_bytes =
        job.options.memory_bytes.value_or(memory_needed(job, asked->options.ranks));
    auto store = Store::open(uri, options);
    if (!store.ok()) return store.status();
    return std::make_unique<KeywayStore>(std::move(*store), server ? layout.record_bytes() : 0);
  }

  std::uint32_t rank() const { return store_.process(); }
  std::uint32_t ranks() const { return store_.processes(); }
  void barrier() { store_.barrier(); }
  std::vector<std::string> gather(const std::string& bytes) { return store_.gather(bytes); }
  /// Rank 0's bytes on every rank; nothing if they cannot be had. Collective. They travel through
  /// the store itself, so only while it has room.
  std::optional<std::string> broadcast(std::string bytes);
  void ask_all_to_end() { store_.ask_all_to_end(); }
  bool asked_to_end() const { return store_.asked_to_end(); }

  /// The locks of the stripes of this process's ranks, with lock=auto: text, and JSON of stripes.
  std::vector<std::string> lock_report();

  std::uint32_t owners() const { return store_.ranks(); }
  std::uint32_t owner_of(std::string_view key) const { return store_.owner_of(key); }
  /// The home rank of the sessions of `thread`: its process, or for local: the ranks in turn.
  std::uint32_t home_of(std::uint32_t thread) const {
    return ranks() > 1 ? rank() : thread % owners();
  }
  Result<KeywaySession> session(std::uint32_t thread) {
    auto session = store_.session_at(home_of(thread));
    if (!session.ok()) return session.status();
    return KeywaySession(std::move(*session), whole_bytes_);
  }

 private:
  Store store_;
  std::uint64_t whole_bytes_;  // size of a record on a server, else 0
};

std::vector<std::string> KeywayStore::lock_report() {
  if (store_.options().lock != "auto") return {};
  auto session = store_.session();
  if (!session.ok()) return {};
  std::vector<std::string> lines;
  const std::uint32_t first = ranks() > 1 ? rank() : 0;
  const std::uint32_t end = ranks() > 1 ? rank() + 1 : owners();
  for (std::uint32_t of = first; of < end; ++of) {
    std::uint64_t stripes = 0;
    for (const LockKindReport& kind : session->inspector().lock_kinds(of)) {
      lines.push_back(fmt::format("[LOCKS], {}, rank {}: {} stripes, {} switches", kind.kind, of,
                                  kind.stripes, kind.switches));
      stripes += kind.stripes;
    }
    const std::vector<NumberedReport> reports = visited(*session, of, stripes);
    if (!reports.empty()) lines.push_back(text_of(of, reports.front()));
    for (const NumberedReport& report : reports) lines.push_back(json_of(of, report));
  }
  return lines;
}

std::optional<std::string> KeywayStore::broadcast(std::string bytes) {
  if (ranks() == 1) return bytes;
  constexpr std::string_view kKey = "kvload:broadcast";
  auto session = store_.session();
  if (rank() == 0 && session.ok()) {
    // The mark keeps an empty text apart from none.
    static_cast<void>(session->put(kKey, "=" + bytes).ok());  // if not, no rank finds it
  }
  barrier();
  std::string text;
  const bool had = session.ok() && session->get(kKey, text).ok();
  barrier();
  if (rank() == 0 && had) static_cast<void>(session->erase(kKey).ok());
  if (!had) return std::nullopt;
  return text.substr(1);
}

int run_on_keyway(Job& job) { return run_job<KeywayStore>(job); }

}  // namespace

std::span<const StoreKind> keyway_stores() {
  static constexpr StoreKind kKinds[] = {
      {"local", "local:", "Keyway in this process (local:?ranks=N for N volumes)", run_on_keyway},
      {"mpi", "mpi:", "Keyway over all processes of mpirun.mpich, one-sided", run_on_keyway, true},
      {"redis", "redis://H:P", "a server at host H, port P: keywayd, or any that speaks RESP",
       run_on_keyway},
      {"rediss", "rediss://H:P", "the same over TLS (?tls_ca=FILE)", run_on_keyway},
      {"unix", "unix:/PATH", "the same over a Unix socket", run_on_keyway},
  };
  return kKinds;
}

}  // namespace keyway::kvload
