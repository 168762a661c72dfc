#include "keyway/workloads/key_chooser.h"

#include <algorithm>
#include <cmath>

#include "keyway/locks/base/check.h"
#include "keyway/workloads/key_name.h"
#include "keyway/workloads/zipfian.h"

namespace keyway::workloads {
namespace {

/// YCSB: uniform, sequential and hotspot stay within the records that were loaded.
class Uniform final : public KeyChooser {
 public:
  explicit Uniform(std::uint64_t loaded) : loaded_(loaded) {}
  std::uint64_t next(Rng& rng, std::uint64_t) override { return rng.below(loaded_); }

 private:
  std::uint64_t loaded_;
};

class Sequential final : public KeyChooser {
 public:
  Sequential(std::uint64_t loaded, ChooserShared& shared) : loaded_(loaded), shared_(shared) {}
  std::uint64_t next(Rng&, std::uint64_t) override {
    // Relaxed: only the number matters.
    return shared_.sequence.fetch_add(1, std::memory_order_relaxed) % loaded_;
  }

 private:
  std::uint64_t loaded_;
  ChooserShared& shared_;
};

class Hotspot final : public KeyChooser {
 public:
  Hotspot(std::uint64_t loaded, double data_fraction, double operation_fraction)
      : hot_(static_cast<std::uint64_t>(static_cast<double>(loaded) * data_fraction)),
        cold_(loaded - std::min(hot_, loaded)),
        operation_fraction_(operation_fraction) {}
  std::uint64_t next(Rng& rng, std::uint64_t) override {
    const bool go_hot = rng.unit() < operation_fraction_;
    // A set that rounds to nothing cannot be drawn from.
    if (cold_ == 0 || (go_hot && hot_ > 0)) return rng.below(hot_);
    return hot_ + rng.below(cold_);
  }

 private:
  std::uint64_t hot_;
  std::uint64_t cold_;
  double operation_fraction_;
};

/// Draws from 10^10 items and folds them onto the records by a hash: flatter than a Zipf over the
/// records themselves, and popularity is scattered.
class ScrambledZipfian final : public KeyChooser {
 public:
  static constexpr std::uint64_t kItems = 10'000'000'000ULL + 1;  // YCSB: 0 to 10^10 inclusive
  static constexpr double kZetan = 26.46902820178302;             // for 10^10 items at 0.99

  ScrambledZipfian(std::uint64_t key_space, double theta)
      : key_space_(key_space),
        zipfian_(theta == 0.99 ? Zipfian(kItems, theta, kZetan) : Zipfian(kItems, theta)) {}
  std::uint64_t next(Rng& rng, std::uint64_t records) override {
    for (;;) {
      const std::uint64_t record = fnvhash64(zipfian_.next(rng)) % key_space_;
      if (record < records) return record;
    }
  }

 private:
  std::uint64_t key_space_;
  Zipfian zipfian_;
};

class RankedZipfian final : public KeyChooser {
 public:
  RankedZipfian(std::uint64_t loaded, double theta) : zipfian_(loaded, theta) {}
  std::uint64_t next(Rng& rng, std::uint64_t) override { return zipfian_.next(rng); }

 private:
  Zipfian zipfian_;
};

/// The record that came last is the most popular.
class Latest final : public KeyChooser {
 public:
  Latest(std::uint64_t loaded, double theta) : zipfian_(loaded, theta) {}
  std::uint64_t next(Rng& rng, std::uint64_t records) override {
    return records - 1 - zipfian_.next(rng, records);
  }

 private:
  Zipfian zipfian_;
};

/// The distance from the record that came last is exponential.
class Exponential final : public KeyChooser {
 public:
  Exponential(double percentile, double range) : gamma_(-std::log(1 - percentile / 100) / range) {}
  std::uint64_t next(Rng& rng, std::uint64_t records) override {
    for (;;) {
      const double distance = -std::log(1 - rng.unit()) / gamma_;
      if (distance < static_cast<double>(records)) {
        return records - 1 - static_cast<std::uint64_t>(distance);
      }
    }
  }

 private:
  double gamma_;
};

}  // namespace

std::unique_ptr<KeyChooser> make_key_chooser(const Spec& spec, std::uint64_t expected_operations,
                                             ChooserShared& shared) {
  const std::uint64_t loaded = spec.insert_count;
  KW_CHECK(loaded > 0);
  switch (spec.distribution) {
    case Distribution::kUniform: return std::make_unique<Uniform>(loaded);
    case Distribution::kSequential: return std::make_unique<Sequential>(loaded, shared);
    case Distribution::kHotspot:
      return std::make_unique<Hotspot>(loaded, spec.hotspot_data_fraction,
                                       spec.hotspot_operation_fraction);
    case Distribution::kRankedZipfian:
      return std::make_unique<RankedZipfian>(loaded, spec.zipfian_constant);
    case Distribution::kLatest: return std::make_unique<Latest>(loaded, spec.zipfian_constant);
    case Distribution::kExponential:
      return std::make_unique<Exponential>(spec.exponential_percentile,
                                           static_cast<double>(loaded) * spec.exponential_fraction);
    case Distribution::kZipfian: break;
  }
  // YCSB: twice the inserts to expect, and its range is inclusive at both ends.
  const double inserts =
      spec.share(OpKind::kInsert) * 2.0 *
      static_cast<double>(expected_operations == 0 ? loaded : expected_operations);
  return std::make_unique<ScrambledZipfian>(loaded + static_cast<std::uint64_t>(inserts) + 1,
                                            spec.zipfian_constant);
}

}  // namespace keyway::workloads
