// The baseline rocksdb:PATH: a RocksDB database with its default options, write-ahead log included.
// RocksDB has no atomic read-modify-write here, so updates lock a mutex of the key's stripe.
#include <fmt/core.h>
#include <rocksdb/db.h>

#include <array>
#include <functional>
#include <memory>
#include <span>

#include "stores/registry.h"
#include "tools/kvload/engine.h"

#include "keyway/locks/base/mutex.h"

namespace keyway::kvload {
namespace {

constexpr std::string_view kScheme = "rocksdb:";
using Stripes = std::array<Mutex, 1024>;

rocksdb::Slice slice_of(std::string_view text) { return {text.data(), text.size()}; }

Code code_of(const rocksdb::Status& status) {
  if (status.ok()) return Code::kOk;
  if (status.IsNotFound()) return Code::kNotFound;
  if (status.IsCorruption()) return Code::kCorruption;
  if (status.IsNoSpace()) return Code::kOutOfSpace;
  return Code::kUnavailable;
}

class RocksdbSession {
 public:
  RocksdbSession(rocksdb::DB& db, Stripes& stripes) : db_(&db), stripes_(&stripes) {}

  Code get(std::string_view key, std::string& out) {
    return look_up(key, [&out](const rocksdb::Slice& value) {
      out.assign(value.data(), value.size());
      return Code::kOk;
    });
  }
  Code get_range(std::string_view key, std::size_t offset, std::size_t bytes, std::string& out) {
    return look_up(key, [&](const rocksdb::Slice& value) {
      if (offset > value.size()) return Code::kInvalidArgument;
      out.assign(value.data() + offset, std::min(bytes, value.size() - offset));
      return Code::kOk;
    });
  }
  Code put(std::string_view key, std::string_view value) {
    return code_of(db_->Put(rocksdb::WriteOptions(), slice_of(key), slice_of(value)));
  }
  Code update(std::string_view key, std::string_view value) {
    const MutexLock held(stripe_of(key));
    const Code code = look_up(key, [](const rocksdb::Slice&) { return Code::kOk; });
    return code == Code::kOk ? put(key, value) : code;
  }
  Code set_range(std::string_view key, std::size_t offset, std::string_view bytes) {
    const MutexLock held(stripe_of(key));
    const Code code = get(key, scratch_);
    if (code != Code::kOk) return code;
    if (scratch_.size() < offset + bytes.size()) scratch_.resize(offset + bytes.size());
    scratch_.replace(offset, bytes.size(), bytes);
    return put(key, scratch_);
  }
  std::string trouble() const { return {}; }
  template <class Sink>
  Code scan(std::string_view key, std::size_t count, Sink&& sink) {
    const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(rocksdb::ReadOptions()));
    std::size_t seen = 0;
    for (at->Seek(slice_of(key)); seen < count && at->Valid(); at->Next(), ++seen) {
      sink(at->key().ToStringView(), at->value().ToStringView());
    }
    return code_of(at->status());
  }
  void get_many(std::span<const std::string_view> keys, std::span<std::string> out,
                std::span<Code> codes) {
    slices_.clear();
    for (const std::string_view key : keys) slices_.push_back(slice_of(key));
    values_.resize(keys.size());
    statuses_.resize(keys.size());
    db_->MultiGet(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), keys.size(), slices_.data(),
                  values_.data(), statuses_.data());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      codes[i] = code_of(statuses_[i]);
      if (codes[i] == Code::kOk) out[i].assign(values_[i].data(), values_[i].size());
      values_[i].Reset();
    }
  }

 private:
  template <class Use>
  Code look_up(std::string_view key, Use&& use) {
    value_.Reset();
    const auto status =
        db_->Get(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), slice_of(key), &value_);
    return status.ok() ? use(value_) : code_of(status);
  }
  Mutex& stripe_of(std::string_view key) {
    return (*stripes_)[std::hash<std::string_view>()(key) % stripes_->size()];
  }

  rocksdb::DB* db_;
  Stripes* stripes_;
  rocksdb::PinnableSlice value_;
  std::string scratch_;
  std::vector<rocksdb::Slice> slices_;
  std::vector<rocksdb::PinnableSlice> values_;
  std::vector<rocksdb::Status> statuses_;
};

class RocksdbStore : public OneProcess {
 public:
  using Session = RocksdbSession;

  static StoreTraits traits(const Job&) {
    return {.name = kScheme, .way = "in process", .scans_in_key_order = true};
  }
  static Result<std::unique_ptr<RocksdbStore>> open(const Job& job) {
    const std::string path = job.options.store.substr(kScheme.size());
    if (path.empty()) {
      return Status(Code::kInvalidArgument,
                    "rocksdb: needs a folder for its database: write --store rocksdb:PATH");
    }
    rocksdb::Options options;
    options.create_if_missing = true;
    rocksdb::DB* db = nullptr;
    const auto status = rocksdb::DB::Open(options, path, &db);
    if (!status.ok()) {
      return Status(Code::kUnavailable,
                    fmt::format("cannot open a database at '{}' ({}): give a folder that can be "
                                "written and that no other process has open",
                                path, status.ToString()));
    }
    return std::make_unique<RocksdbStore>(db);
  }

  explicit RocksdbStore(rocksdb::DB* db) : db_(db) {}
  Result<Session> session(std::uint32_t) { return Session(*db_, stripes_); }

 private:
  std::unique_ptr<rocksdb::DB> db_;
  Stripes stripes_;
};

int run_on_rocksdb(Job& job) { return run_job<RocksdbStore>(job); }

}  // namespace

std::span<const StoreKind> rocksdb_stores() {
  static constexpr StoreKind kKinds[] = {
      {"rocksdb", "rocksdb:PATH", "a RocksDB database at PATH, a baseline", run_on_rocksdb},
  };
  return kKinds;
}

}  // namespace keyway::kvload
