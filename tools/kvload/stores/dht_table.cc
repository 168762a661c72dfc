#include "stores/dht_table.h"

#include <fmt/core.h>

#include <cstring>
#include <exception>
#include <span>

#include "keyway/kvstore/layout/key_hash.h"
#include "keyway/locks/base/rng.h"
#include "keyway/locks/fabric/mpi/mpi_last_barrier.h"

namespace keyway::kvload {
namespace {

// A bucket: the checksum of the rest, the length of the key, the key, the value. Zeros if empty.
constexpr std::uint64_t kChecksumBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kLengthBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kKeyAt = kChecksumBytes + kLengthBytes;
// MPICH 4.0.2 places the parts of a host's ranks one after another. Behind a part with an odd
// number of words, other ranks look for the next one 8 bytes too low.
constexpr std::uint64_t kPartAlign = 64;

// A bucket that looks torn may be in the middle of a write: it is read again as often.
constexpr int kTornReads = 3;

// Keys of a benchmark come from nobody who would attack the table.
constexpr store::HashSecret kPlaceSecret{.low = 1, .high = 2};
constexpr store::HashSecret kChecksumSecret{.low = 3, .high = 4};

std::uint64_t word_at(const std::string& bytes, std::uint64_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

void set_word(std::string& bytes, std::uint64_t at, std::uint64_t word) {
  std::memcpy(bytes.data() + at, &word, sizeof word);
}

std::uint64_t checksum_of(const std::string& bucket) {
  return store::hash_key(kChecksumSecret, std::string_view(bucket).substr(kChecksumBytes));
}

std::uint32_t owner_of_hash(std::uint64_t hash, std::uint32_t ranks) {
  return static_cast<std::uint32_t>((hash >> 32) * ranks >> 32);
}

}  // namespace

MpiLife::MpiLife() { MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &thread_level_); }

Status MpiLife::status() const {
  if (thread_level_ >= MPI_THREAD_MULTIPLE) return {};
  return {Code::kUnsupported, "dht: needs an MPI with MPI_THREAD_MULTIPLE"};
}

MpiLife::~MpiLife() {
  if (std::uncaught_exceptions() > 0) MPI_Abort(MPI_COMM_WORLD, 1);
  fabric::finalise_mpi();
}

std::uint64_t DhtShape::bucket_bytes() const {
  constexpr std::uint64_t kAlign = 8;
  return (kKeyAt + max_key_bytes + value_bytes + kAlign - 1) / kAlign * kAlign;
}

DhtTable::DhtTable(const DhtShape& shape) : shape_(shape) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  rank_ = static_cast<std::uint32_t>(rank);
  ranks_ = static_cast<std::uint32_t>(ranks);
}

Result<std::unique_ptr<DhtTable>> DhtTable::open(const DhtShape& shape) {
  auto table = std::make_unique<DhtTable>(shape);
  const std::uint64_t used = shape.buckets * shape.bucket_bytes() + sizeof(std::uint64_t);
  const auto bytes = static_cast<MPI_Aint>((used + kPartAlign - 1) / kPartAlign * kPartAlign);
  void* base = nullptr;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code =
      MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &table->window_);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  int failed = code == MPI_SUCCESS ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (failed != 0) {
    if (code != MPI_SUCCESS) table->window_ = MPI_WIN_NULL;
    return Status(Code::kOutOfSpace,
                  fmt::format("dht: a rank has no memory for its {} buckets of {} bytes: give less "
                              "with --memory, or load fewer records",
                              shape.buckets, shape.bucket_bytes()));
  }
  std::memset(base, 0, static_cast<std::size_t>(bytes));
  MPI_Win_lock_all(MPI_MODE_NOCHECK, table->window_);
  MPI_Win_sync(table->window_);
  table->barrier();
  return table;
}

DhtTable::~DhtTable() {
  if (window_ == MPI_WIN_NULL || std::uncaught_exceptions() > 0) return;
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

std::uint32_t DhtTable::owner_of(std::string_view key) const {
  return owner_of_hash(store::hash_key(kPlaceSecret, key), ranks_);
}

DhtTable::Place DhtTable::place_of(std::string_view key) const {
  std::uint64_t hash = store::hash_key(kPlaceSecret, key);
  Place place{.rank = owner_of_hash(hash, ranks_), .offsets = {}};
  for (MPI_Aint& offset : place.offsets) {
    offset = static_cast<MPI_Aint>(splitmix64(hash) % shape_.buckets * shape_.bucket_bytes());
  }
  return place;
}

void DhtTable::start_get(std::uint32_t rank, MPI_Aint offset, std::string& bucket) const {
  const int bytes = static_cast<int>(bucket.size());
  MPI_Get(bucket.data(), bytes, MPI_BYTE, static_cast<int>(rank), offset, bytes, MPI_BYTE, window_);
}

void DhtTable::start_put(std::uint32_t rank, MPI_Aint offset, const std::string& bucket) const {
  const int bytes = static_cast<int>(bucket.size());
  MPI_Put(bucket.data(), bytes, MPI_BYTE, static_cast<int>(rank), offset, bytes, MPI_BYTE, window_);
}

std::vector<std::string> DhtTable::gather(const std::string& bytes) const {
  const int mine = static_cast<int>(bytes.size());
  std::vector<int> sizes(rank_ == 0 ? ranks_ : 0);
  MPI_Gather(&mine, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<int> starts;
  int total = 0;
  for (const int size : sizes) {
    starts.push_back(total);
    total += size;
  }
  std::string all(static_cast<std::size_t>(total), '\0');
  MPI_Gatherv(bytes.data(), mine, MPI_BYTE, all.data(), sizes.data(), starts.data(), MPI_BYTE, 0,
              MPI_COMM_WORLD);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    parts.push_back(
        all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(sizes[i])));
  }
  return parts;
}

std::string DhtTable::broadcast(std::string bytes) const {
  std::uint64_t size = bytes.size();
  MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  bytes.resize(size);
  MPI_Bcast(bytes.data(), static_cast<int>(size), MPI_BYTE, 0, MPI_COMM_WORLD);
  return bytes;
}

MPI_Aint DhtTable::flag_offset() const {
  return static_cast<MPI_Aint>(shape_.buckets * shape_.bucket_bytes());
}

void DhtTable::raise_flag() const {
  const std::uint64_t raised = 1;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    MPI_Accumulate(&raised, 1, MPI_UINT64_T, static_cast<int>(rank), flag_offset(), 1, MPI_UINT64_T,
                   MPI_REPLACE, window_);
  }
  flush_all();
}

bool DhtTable::flag_raised() const {
  std::uint64_t flag = 0;
  const std::uint64_t nothing = 0;
  MPI_Fetch_and_op(&nothing, &flag, MPI_UINT64_T, static_cast<int>(rank_), flag_offset(), MPI_NO_OP,
                   window_);
  flush(rank_);
  return flag != 0;
}

DhtAccess::DhtAccess(const DhtTable& table)
    : table_(table), bucket_(table.shape().bucket_bytes(), '\0') {}

DhtAccess::Found DhtAccess::judge(const std::string& bucket, std::string_view key) const {
  const std::uint64_t checksum = word_at(bucket, 0);
  const std::uint64_t key_bytes = word_at(bucket, kChecksumBytes);
  if (checksum == 0 && key_bytes == 0) return Found::kEmpty;
  if (checksum != checksum_of(bucket)) return Found::kTorn;
  return std::string_view(bucket).substr(kKeyAt, key_bytes) == key ? Found::kRecord : Found::kOther;
}

DhtAccess::Found DhtAccess::fetch(const DhtTable::Place& place, std::uint32_t probe,
                                  std::string_view key) {
  Found found = Found::kTorn;
  for (int read = 0; read < kTornReads && found == Found::kTorn; ++read) {
    table_.start_get(place.rank, place.offsets[probe], bucket_);
    table_.flush(place.rank);
    found = judge(bucket_, key);
  }
  return found;
}

std::string_view DhtAccess::value_of(const std::string& bucket) const {
  return std::string_view(bucket).substr(kKeyAt + table_.shape().max_key_bytes,
                                         table_.shape().value_bytes);
}

/// The probe at which the record is; its bucket is then in bucket_.
std::optional<std::uint32_t> DhtAccess::find(const DhtTable::Place& place, std::string_view key) {
  for (std::uint32_t probe = 0; probe < DhtTable::kProbes; ++probe) {
    const Found found = fetch(place, probe, key);
    if (found == Found::kRecord) return probe;
    if (found == Found::kEmpty) break;  // a writer would have taken it
  }
  return std::nullopt;
}

Code DhtAccess::get(std::string_view key, std::string& out) {
  if (!find(table_.place_of(key), key)) return Code::kNotFound;
  out.assign(value_of(bucket_));
  return Code::kOk;
}

Code DhtAccess::write(const DhtTable::Place& place, std::uint32_t probe, std::string_view key,
                      std::string_view value) {
  bucket_.assign(bucket_.size(), '\0');
  set_word(bucket_, kChecksumBytes, key.size());
  bucket_.replace(kKeyAt, key.size(), key);
  bucket_.replace(kKeyAt + table_.shape().max_key_bytes, value.size(), value);
  set_word(bucket_, 0, checksum_of(bucket_));
  table_.start_put(place.rank, place.offsets[probe], bucket_);
  table_.flush(place.rank);
  return Code::kOk;
}

Code DhtAccess::put(std::string_view key, std::string_view value) {
  const DhtTable::Place place = table_.place_of(key);
  std::uint32_t probe = 0;
  // The last bucket is taken from another key.
  while (probe + 1 < DhtTable::kProbes && fetch(place, probe, key) == Found::kOther) ++probe;
  return write(place, probe, key, value);
}

Code DhtAccess::put_range(std::string_view key, std::size_t offset, std::string_view bytes) {
  const DhtTable::Place place = table_.place_of(key);
  const auto probe = find(place, key);
  if (!probe) return Code::kNotFound;
  if (offset + bytes.size() > table_.shape().value_bytes) return Code::kInvalidArgument;
  value_.assign(value_of(bucket_));
  value_.replace(offset, bytes.size(), bytes);
  return write(place, *probe, key, value_);
}

void DhtAccess::get_many(std::span<const std::string_view> keys, std::span<std::string> out,
                         std::span<Code> codes) {
  while (buckets_.size() < keys.size()) buckets_.emplace_back(bucket_.size(), '\0');
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const DhtTable::Place place = table_.place_of(keys[i]);
    table_.start_get(place.rank, place.offsets[0], buckets_[i]);
  }
  table_.flush_all();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Found found = judge(buckets_[i], keys[i]);
    if (found == Found::kRecord) {
      out[i].assign(value_of(buckets_[i]));
      codes[i] = Code::kOk;
    } else {
      codes[i] = found == Found::kEmpty ? Code::kNotFound : get(keys[i], out[i]);
    }
  }
}

}  // namespace keyway::kvload
