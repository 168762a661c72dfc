// The baseline dht: a hash table of fixed buckets in an MPI window, without locks.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "keyway/workloads/record.h"
#include "stores/dht_table.h"
#include "stores/registry.h"
#include "tools/kvload/engine.h"

namespace keyway::kvload {
namespace {

class DhtSession {
 public:
  explicit DhtSession(const DhtTable& table) : access_(table) {}

  Code get(std::string_view key, std::string& out) { return access_.get(key, out); }
  Code get_range(std::string_view key, std::size_t offset, std::size_t bytes, std::string& out) {
    const Code code = access_.get(key, out);
    if (code != Code::kOk) return code;
    if (offset > out.size()) return Code::kInvalidArgument;
    out = out.substr(offset, bytes);
    return code;
  }
  Code put(std::string_view key, std::string_view value) { return access_.put(key, value); }
  /// As a write of the table's design, which does not ask whether the record is there.
  Code update(std::string_view key, std::string_view value) { return access_.put(key, value); }
  Code set_range(std::string_view key, std::size_t offset, std::string_view bytes) {
    return access_.put_range(key, offset, bytes);
  }
  template <class Sink>
  Code scan(std::string_view, std::size_t, Sink&&) {
    return Code::kUnsupported;
  }
  void get_many(std::span<const std::string_view> keys, std::span<std::string> out,
                std::span<Code> codes) {
    access_.get_many(keys, out, codes);
  }
  std::string trouble() const { return {}; }

 private:
  DhtAccess access_;
};

class DhtStore {
 public:
  using Session = DhtSession;

  static StoreTraits traits(const Job&) {
    return {.name = "dht:",
            .way = "one-sided",
            .forgets = true,
            .scan_refusal =
                "dht: has no order to scan in: use local:, mpi: or rocksdb:PATH for "
                "workloads with scans"};
  }

  static Result<std::unique_ptr<DhtStore>> open(const Job& job) {
    auto mpi = std::make_unique<MpiLife>();
    if (Status status = mpi->status(); !status.ok()) return status;
    if (job.options.store != "dht:") {
      return Status(Code::kInvalidArgument,
                    "dht: takes nothing after the colon: write --store dht:");
    }
    auto table = DhtTable::open(shape_of(job));
    if (!table.ok()) return table.status();
    return std::make_unique<DhtStore>(std::move(mpi), std::move(*table));
  }

  DhtStore(std::unique_ptr<MpiLife> mpi, std::unique_ptr<DhtTable> table)
      : mpi_(std::move(mpi)), table_(std::move(table)) {}

  std::uint32_t rank() const { return table_->rank(); }
  std::uint32_t ranks() const { return table_->ranks(); }
  void barrier() { table_->barrier(); }
  std::vector<std::string> gather(const std::string& bytes) { return table_->gather(bytes); }
  std::optional<std::string> broadcast(std::string bytes) {
    return table_->broadcast(std::move(bytes));
  }
  void ask_all_to_end() { table_->raise_flag(); }
  bool asked_to_end() const { return table_->flag_raised(); }
  std::uint32_t owners() const { return ranks(); }
  std::uint32_t owner_of(std::string_view key) const { return table_->owner_of(key); }
  std::uint32_t home_of(std::uint32_t) const { return rank(); }
  Result<DhtSession> session(std::uint32_t) { return DhtSession(*table_); }

 private:
  static DhtShape shape_of(const Job& job) {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    DhtShape shape{.max_key_bytes = job.spec.keys.max_bytes(),
                   .value_bytes = workloads::RecordLayout(job.spec).record_bytes()};
    const auto wanted = static_cast<std::uint64_t>(records_needed(job)) *
                        DhtShape::kBucketsPerRecord / static_cast<std::uint64_t>(ranks);
    const std::uint64_t memory = job.options.memory_bytes.value_or(wanted * shape.bucket_bytes());
    shape.buckets = std::max<std::uint64_t>(1, memory / shape.bucket_bytes());
    return shape;
  }

  std::unique_ptr<MpiLife> mpi_;  // ends after the table
  std::unique_ptr<DhtTable> table_;
};

int run_on_dht(Job& job) { return run_job<DhtStore>(job); }

}  // namespace

std::span<const StoreKind> dht_stores() {
  static constexpr StoreKind kKinds[] = {
      {"dht", "dht:", "a table without locks over all processes of mpirun, a baseline", run_on_dht,
       true},
  };
  return kKinds;
}

}  // namespace keyway::kvload
