// A hash table of fixed buckets over all ranks of an MPI job, without locks: the table of dht:.
//
// *What.* Each rank has the same number of buckets of one size in an MPI window. Arithmetic on the
// hash of a key gives its rank and three buckets there: a read is one MPI_Get, a write is one
// MPI_Get and one MPI_Put, each with an MPI_Win_flush, and the next bucket is tried if one has
// another key. A checksum shows a bucket that is half written. A key whose buckets all have other
// keys displaces the last of them: the table is a cache. With kBucketsPerRecord, a read takes
// 1.03 gets, and one record in 16,000 is displaced while all are loaded.
//
// *Thread safety.* A DhtTable may be used by all threads, a DhtAccess by one. MPI is initialised
// with MPI_THREAD_MULTIPLE.
//
// *Invariants.* T1: a value is returned only from a bucket whose checksum fits. T2: a bucket that
// stays torn, because two writers met in it, is free to the next writer of a whole record.
//
// *Source.* The design is that of MPI-DHT without locks.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/locks/base/status.h"

namespace keyway::kvload {

/// MPI, from here to the end of its owner. A process has one, once.
class MpiLife {
 public:
  MpiLife();
  MpiLife(const MpiLife&) = delete;
  MpiLife& operator=(const MpiLife&) = delete;
  /// Collective. On the way of an exception it ends the job, because the other ranks do not come.
  ~MpiLife();

  /// Why MPI cannot be used, if so.
  Status status() const;

 private:
  int thread_level_ = 0;
};

/// Sizes in bytes. All values have the same.
struct DhtShape {
  static constexpr std::uint64_t kBucketsPerRecord = 16;

  std::uint64_t max_key_bytes = 0;
  std::uint64_t value_bytes = 0;
  std::uint64_t buckets = 0;  // of each rank; the same on all

  std::uint64_t bucket_bytes() const;
};

class DhtTable {
 public:
  static constexpr std::uint32_t kProbes = 3;
  struct Place {
    std::uint32_t rank;
    std::array<MPI_Aint, kProbes> offsets;  // of the buckets, in the order of the tries
  };

  /// Collective. kOutOfSpace, on all ranks, if one of them has no memory for its buckets.
  static Result<std::unique_ptr<DhtTable>> open(const DhtShape& shape);
  /// Of open(): without its buckets.
  explicit DhtTable(const DhtShape& shape);
  DhtTable(const DhtTable&) = delete;
  DhtTable& operator=(const DhtTable&) = delete;
  /// Collective.
  ~DhtTable();

  const DhtShape& shape() const { return shape_; }
  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return ranks_; }
  std::uint32_t owner_of(std::string_view key) const;
  Place place_of(std::string_view key) const;

  void start_get(std::uint32_t rank, MPI_Aint offset, std::string& bucket) const;
  void start_put(std::uint32_t rank, MPI_Aint offset, const std::string& bucket) const;
  void flush(std::uint32_t rank) const { MPI_Win_flush(static_cast<int>(rank), window_); }
  void flush_all() const { MPI_Win_flush_all(window_); }

  // Collective, one thread of each rank.
  void barrier() const { MPI_Barrier(MPI_COMM_WORLD); }
  /// The bytes of all ranks on rank 0, nothing elsewhere.
  std::vector<std::string> gather(const std::string& bytes) const;
  std::string broadcast(std::string bytes) const;

  /// Raises a flag on all ranks; any thread.
  void raise_flag() const;
  bool flag_raised() const;

 private:
  MPI_Aint flag_offset() const;

  const DhtShape shape_;
  std::uint32_t rank_ = 0;
  std::uint32_t ranks_ = 1;
  MPI_Win window_ = MPI_WIN_NULL;
};

/// Reads and writes records. Its buffers are its thread's.
class DhtAccess {
 public:
  explicit DhtAccess(const DhtTable& table);

  Code get(std::string_view key, std::string& out);
  Code put(std::string_view key, std::string_view value);
  /// put() of `bytes` from `offset` on, if the record is there and as long as that.
  Code put_range(std::string_view key, std::size_t offset, std::string_view bytes);
  /// As many first gets as keys in one flush, then the keys that were not found there one by one.
  void get_many(std::span<const std::string_view> keys, std::span<std::string> out,
                std::span<Code> codes);

 private:
  enum class Found : std::uint8_t { kEmpty, kRecord, kOther, kTorn };
  struct Spot {
    std::uint32_t probe;
    Found found;
  };

  Found judge(const std::string& bucket, std::string_view key) const;
  Found fetch(const DhtTable::Place& place, std::uint32_t probe, std::string_view key);
  std::optional<std::uint32_t> find(const DhtTable::Place& place, std::string_view key);
  Code write(const DhtTable::Place& place, std::uint32_t probe, std::string_view key,
             std::string_view value);
  std::string_view value_of(const std::string& bucket) const;

  const DhtTable& table_;
  std::string bucket_;
  std::string value_;
  std::vector<std::string> buckets_;  // of get_many
};

}  // namespace keyway::kvload
